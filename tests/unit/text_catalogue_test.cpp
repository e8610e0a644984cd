#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "text/catalogue.h"
#include "text/embedded_catalogues.h"
#include "text/mo_file.h"
#include "text/terminal.h"

namespace vramscope {
namespace {

using Entries = std::map<std::string, std::string>;

void put_word(std::string& out, std::uint32_t value, bool big_endian) {
  for (unsigned i = 0; i < 4; ++i) {
    out += static_cast<char>((value >> (8 * (big_endian ? 3 - i : i))) & 0xFFU);
  }
}

// The bytes of a catalogue; std::map sorts as the format wants.
std::string catalogue(const Entries& entries, bool big_endian = false) {
  const auto count = static_cast<std::uint32_t>(entries.size());
  std::string out;
  for (const std::uint32_t word : {0x950412deU, 0U, count, 28U, 28U + 8 * count, 0U, 0U}) {
    put_word(out, word, big_endian);
  }
  std::string texts;
  std::uint32_t offset = 28 + 16 * count;
  std::vector<std::string> ordered;
  for (const auto& [id, text] : entries) ordered.push_back(id);
  for (const auto& [id, text] : entries) ordered.push_back(text);
  for (const std::string& text : ordered) {
    put_word(out, static_cast<std::uint32_t>(text.size()), big_endian);
    put_word(out, offset, big_endian);
    offset += static_cast<std::uint32_t>(text.size()) + 1;
    texts += text + '\0';
  }
  return out + texts;
}

const Entries kEntries{{"", "Content-Type: text/plain\n"},
                       {"Bytes", "b"},
                       {"Name", "n"},
                       {std::string("{n} row\0{n} rows", 16), std::string("one\0many", 8)}};

TEST(MoFile, FindsInBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    const std::string bytes = catalogue(kEntries, big_endian);
    const auto file = MoFile::open(bytes);
    ASSERT_TRUE(file.has_value());
    EXPECT_STREQ(file->find("Bytes"), "b");
    EXPECT_STREQ(file->find("Name"), "n");
    EXPECT_EQ(file->find("Nam"), nullptr);
    EXPECT_EQ(file->find("Zebra"), nullptr);
    EXPECT_STREQ(file->find_plural("{n} row", 0), "one");
    EXPECT_STREQ(file->find_plural("{n} row", 1), "many");
    EXPECT_STREQ(file->find_plural("{n} row", 9), "many");
  }
}

TEST(MoFile, RefusesOtherBytes) {
  EXPECT_FALSE(MoFile::open("").has_value());
  EXPECT_FALSE(MoFile::open(std::string(28, 'x')).has_value());
  std::string later = catalogue(kEntries);
  later[6] = 2;  // major revision
  EXPECT_FALSE(MoFile::open(later).has_value());
  std::string many = catalogue(kEntries);
  many[11] = '\x7F';  // number of entries
  EXPECT_FALSE(MoFile::open(many).has_value());
}

// Every byte cut and every byte changed: whatever is found must be a text that ends within the bytes.
TEST(MoFile, DamagedBytes) {
  const std::string whole = catalogue(kEntries);
  const auto look = [](const std::string& bytes) {
    std::size_t found = 0;
    if (const auto file = MoFile::open(bytes)) {
      for (const char* id : {"Bytes", "Name", "{n} row"}) {
        const char* text = file->find_plural(id, 1);
        if (text == nullptr) continue;
        ++found;
        EXPECT_GE(text, bytes.data());
        EXPECT_LT(text + std::string_view(text).size(), bytes.data() + bytes.size());
      }
    }
    return found;
  };
  EXPECT_EQ(look(whole), 3U);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_LT(look(whole.substr(0, size)), 3U);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x01', '\x7F', '\xFF'}) {
      std::string changed = whole;
      changed[at] = value;
      look(changed);
    }
  }
}

class LanguageTest : public testing::Test {
 protected:
  LanguageTest() {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      if (value != nullptr) saved_[name] = value;
      unsetenv(name);
    }
  }
  ~LanguageTest() override {
    for (const char* name : kNames) {
      const auto old = saved_.find(name);
      old == saved_.end() ? unsetenv(name) : setenv(name, old->second.c_str(), 1);
    }
    set_language("en");
  }

  static std::string chosen_with(const std::map<std::string, std::string>& environment) {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    set_language_from_environment();
    return std::string(language());
  }

 private:
  static constexpr const char* kNames[] = {"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"};
  std::map<std::string, std::string> saved_;
};

TEST_F(LanguageTest, Environment) {
  EXPECT_EQ(chosen_with({}), "en");
  EXPECT_EQ(chosen_with({{"LANG", "zh_CN.UTF-8"}}), "zh");
  EXPECT_EQ(chosen_with({{"LC_MESSAGES", "zh_CN.UTF-8"}, {"LANG", "en_US.UTF-8"}}), "zh");
  EXPECT_EQ(chosen_with({{"LC_ALL", "en_US.UTF-8"}, {"LC_MESSAGES", "zh_CN.UTF-8"}}), "en");
  EXPECT_EQ(chosen_with({{"LC_ALL", ""}, {"LANG", "zh_CN"}}), "zh");
  EXPECT_EQ(chosen_with({{"LANG", "de_DE.UTF-8"}}), "en");
}

TEST_F(LanguageTest, LanguageVariableComesFirst) {
  EXPECT_EQ(chosen_with({{"LANGUAGE", "zh"}}), "zh");
  EXPECT_EQ(chosen_with({{"LANGUAGE", "zh_CN:en"}, {"LANG", "en_US.UTF-8"}}), "zh");
  EXPECT_EQ(chosen_with({{"LANGUAGE", "en:zh"}, {"LANG", "zh_CN.UTF-8"}}), "en");
  EXPECT_EQ(chosen_with({{"LANGUAGE", "fr::zh:en"}, {"LANG", "C.UTF-8"}}), "zh");
  EXPECT_EQ(chosen_with({{"LANGUAGE", "fr:de"}, {"LANG", "zh_CN.UTF-8"}}), "en");
}

TEST_F(LanguageTest, CLocaleSwitchesTranslationOff) {
  EXPECT_EQ(chosen_with({{"LANGUAGE", "zh"}, {"LC_ALL", "C"}}), "en");
  EXPECT_EQ(chosen_with({{"LANGUAGE", "zh"}, {"LC_ALL", "POSIX"}, {"LANG", "zh_CN.UTF-8"}}), "en");
  EXPECT_EQ(chosen_with({{"LANGUAGE", "zh"}, {"LANG", "C"}}), "en");
}

TEST_F(LanguageTest, Names) {
  for (const char* name : {"zh", "zh_CN", "zh_CN.UTF-8", "zh-Hans", "ZH", "zh_SG", "zh_Hans_HK", "zh_CN@latin"}) {
    ASSERT_TRUE(set_language("en"));
    EXPECT_TRUE(set_language(name)) << name;
    EXPECT_EQ(language(), "zh") << name;
  }
  for (const char* name : {"", "de", "zhx", "z", "zh_TW", "zh-Hant", "zh_HK.UTF-8", "\xFF"}) {
    EXPECT_FALSE(set_language(name)) << name;
    EXPECT_EQ(language(), "zh") << name;  // stays as it was
  }
  EXPECT_TRUE(set_language("en_GB.UTF-8"));
  EXPECT_EQ(language(), "en");
  EXPECT_EQ(languages(), (std::vector<std::string_view>{"en", "zh"}));
}

TEST_F(LanguageTest, Messages) {
  ASSERT_TRUE(set_language("zh"));
  EXPECT_STREQ(tr("Peak"), "峰值");
  EXPECT_STREQ(tr("no such message"), "no such message");
  EXPECT_STREQ(tr(""), "");
  EXPECT_STREQ(tr_n("one thing", "{n} things", 1), "one thing");
  EXPECT_STREQ(tr_n("one thing", "{n} things", 0), "{n} things");
  const char* row = "{count} more row; --limit 0 shows all.";
  const char* rows = "{count} more rows; --limit 0 shows all.";
  EXPECT_STREQ(tr_n(row, rows, 1), tr_n(row, rows, 2));
  EXPECT_STRNE(tr_n(row, rows, 1), row);
  ASSERT_TRUE(set_language("en"));
  EXPECT_STREQ(tr("Peak"), "Peak");
  EXPECT_STREQ(tr_n(row, rows, 1), row);
  EXPECT_STREQ(tr_n(row, rows, 2), rows);
  EXPECT_STREQ(tr_n(row, rows, -1), rows);
}

TEST_F(LanguageTest, EveryEmbeddedCatalogueOpens) {
  ASSERT_FALSE(embedded_catalogues().empty());
  for (const EmbeddedCatalogue& each : embedded_catalogues()) {
    EXPECT_TRUE(MoFile::open({reinterpret_cast<const char*>(each.data), each.size}).has_value()) << each.name;
  }
}

TEST_F(LanguageTest, CharacterSetOfTheTerminal) {
  setenv("LANG", "zh_CN.UTF-8", 1);
  EXPECT_TRUE(detect_terminal().utf8);
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(detect_terminal().utf8);
  setenv("LC_ALL", "en_US.utf8", 1);
  EXPECT_TRUE(detect_terminal().utf8);
}

TEST(Terminal, ColumnsFromTheEnvironment) {
  setenv("COLUMNS", "72", 1);
  EXPECT_EQ(detect_terminal().columns, 72U);
  for (const char* value : {"-1", "0", "72x", "99999999999999999999", ""}) {
    setenv("COLUMNS", value, 1);
    EXPECT_NE(detect_terminal().columns, 0U) << value;
    EXPECT_LT(detect_terminal().columns, 10000U) << value;
  }
  unsetenv("COLUMNS");
}

TEST(Terminal, PaintsOnlyInColour) {
  const Terminal saved = terminal();
  terminal().colour = false;
  EXPECT_EQ(paint("x", Colour::red), "x");
  terminal().colour = true;
  EXPECT_EQ(paint("x", Colour::red), "\033[31mx\033[0m");
  EXPECT_EQ(paint("", Colour::red), "");
  terminal() = saved;
}

}  // namespace
}  // namespace vramscope
