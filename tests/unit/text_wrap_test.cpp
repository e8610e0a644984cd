#include <gtest/gtest.h>

#include <cerrno>

#include "text/catalogue.h"
#include "text/error_reason.h"
#include "text/utf8.h"
#include "text/wrap.h"

namespace vramscope {
namespace {

using Lines = std::vector<std::string>;

TEST(WrapTest, BreaksAtSpacesAndLosesNothingElse) {
  EXPECT_EQ(wrap_lines("one two three four", 9), (Lines{"one two", "three", "four"}));
  EXPECT_EQ(wrap_lines("eleven full", 11), (Lines{"eleven full"}));
  EXPECT_EQ(wrap_lines("", 20), (Lines{""}));
}

TEST(WrapTest, BreaksAWordThatIsLongerThanALine) {
  EXPECT_EQ(wrap_lines("/very/long/path.py", 10), (Lines{"/very/long", "/path.py"}));
}

TEST(WrapTest, BreaksChineseBetweenCharactersButNotBeforePunctuation) {
  EXPECT_EQ(wrap_lines("显存每步增加且不回落", 8), (Lines{"显存每步", "增加且不", "回落"}));
  EXPECT_EQ(wrap_lines("显存每步，增加", 8), (Lines{"显存每", "步，增加"}));
}

TEST(WrapTest, IndentsAndHangs) {
  EXPECT_EQ(wrap("one two three", 11, 2, 2), "  one two\n    three\n");
}

TEST(WrapTest, ColoursTakeNoRoom) {
  EXPECT_EQ(wrap_lines("\033[1mone two\033[0m three", 9), (Lines{"\033[1mone two\033[0m", "three"}));
}

TEST(WrapTest, NoLineIsWiderThanAsked) {
  const std::string text = "a 显存 bb，longer-than-the-line cc 每步增加 d";
  for (std::size_t columns = 8; columns < 40; ++columns) {
    for (const std::string& line : wrap_lines(text, columns)) EXPECT_LE(display_width(line), columns);
  }
}

TEST(ErrorReasonTest, IsInTheChosenLanguage) {
  ASSERT_TRUE(set_language("zh"));
  EXPECT_EQ(error_reason(ENOENT), "没有这个文件或目录");
  EXPECT_EQ(error_reason(71), "错误号 71");
  ASSERT_TRUE(set_language("en"));
  EXPECT_EQ(error_reason(EACCES), "Permission denied");
  EXPECT_EQ(error_reason(71), "error number 71");
}

}  // namespace
}  // namespace vramscope
