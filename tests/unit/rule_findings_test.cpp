// The sentences, the pages and the order of findings.
#include <gtest/gtest.h>

#include "report/findings.h"
#include "text/catalogue.h"

namespace vramscope {
namespace {

TEST(Sentence, FillsPlacesWithUnits) {
  const Arguments arguments = {{"size", {std::int64_t{1536}, Unit::bytes}},
                               {"share", {0.396, Unit::share}},
                               {"name", {std::string("cuda:0"), Unit::none}}};
  EXPECT_EQ(sentence("{name}: {size}, {share}", arguments, Wording::english), "cuda:0: 1.50 KiB, 39.6 %");
}

TEST(Sentence, BracesInArgumentsStay) {
  EXPECT_EQ(sentence("{name}", {{"name", {std::string("f{x}(%s)"), Unit::none}}}, Wording::english), "f{x}(%s)");
}

TEST(Sentence, AnUnknownPlaceIsShownAsWritten) {
  EXPECT_EQ(sentence("{what}", {}, Wording::english), "{what}");
}

TEST(Rules, EachHasAnIdAndSaysWhyItCouldNotLook) {
  Case empty;
  empty.sources.emplace_back();
  const Verdicts verdicts = diagnose(empty);
  EXPECT_TRUE(verdicts.findings.empty());
  EXPECT_EQ(verdicts.skipped.size(), rules().size());
  for (const Skipped& skipped : verdicts.skipped) {
    EXPECT_FALSE(skipped.rule.empty());
    EXPECT_EQ(sentence(skipped.why, skipped.arguments, Wording::english).find('{'), std::string::npos);
  }
}

TEST(FindingsJson, HasTheSameWordsInEveryLanguage) {
  Case empty;
  empty.sources.emplace_back();
  const Verdicts verdicts = diagnose(empty);
  const std::string english = findings_json(empty, verdicts);
  ASSERT_TRUE(set_language("zh"));
  const std::string chinese = findings_json(empty, verdicts);
  set_language("en");
  EXPECT_EQ(english, chinese);
}

}  // namespace
}  // namespace vramscope
