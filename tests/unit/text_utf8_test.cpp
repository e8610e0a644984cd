#include <gtest/gtest.h>

#include "text/utf8.h"
#include "text/width.h"

namespace vramscope {
namespace {

TEST(ValidUtf8, KeepsWhatIsValid) {
  EXPECT_EQ(valid_utf8(""), "");
  EXPECT_EQ(valid_utf8("a\n显存😀"), "a\n显存😀");
  EXPECT_EQ(valid_utf8("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF");  // U+10FFFF
}

TEST(ValidUtf8, ReplacesEachBrokenPiece) {
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(valid_utf8("\xE6\x98"), "\xEF\xBF\xBD");  // cut at the end
  EXPECT_EQ(valid_utf8("\xE6\x98"
                       "z"),
            "\xEF\xBF\xBDz");                                                     // cut by another
  EXPECT_EQ(valid_utf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong NUL
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80").size(), 12U);                          // above U+10FFFF
}

TEST(Printable, DefusesControls) {
  EXPECT_EQ(printable("a\tb\nc\rd"), "a b c d");
  EXPECT_EQ(printable("\033]0;title\007"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\x7F"), "\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m");  // C1 control sequence introducer
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\u202eb");  // right-to-left override
}

TEST(PrintablePainted, KeepsColoursAndEndsThem) {
  EXPECT_EQ(printable_painted("\033[31mx\033[0m"), "\033[31mx\033[0m");
  EXPECT_EQ(printable_painted("\033[1;31mx"), "\033[1;31mx\033[0m");
  EXPECT_EQ(printable_painted("\033[2J"), "\\x1b[2J");
  EXPECT_EQ(printable_painted("\033[31"), "\\x1b[31");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("kernel"), 6U);
  EXPECT_EQ(display_width("显存"), 4U);
  EXPECT_EQ(display_width("\uFF21\uFF22\uFF23"), 6U);  // fullwidth letters
  EXPECT_EQ(display_width("😀"), 2U);
  EXPECT_EQ(display_width("e\u0301"), 1U);  // combining acute
  EXPECT_EQ(display_width("\u200B\uFE0F"), 0U);
  EXPECT_EQ(display_width("한국"), 4U);
  EXPECT_EQ(display_width("\u1112\u1161\u11AB"), 2U);  // one syllable in three letters
  EXPECT_EQ(display_width("⣿│▲…"), 4U);
  EXPECT_EQ(display_width("\033[31m显\033[0m"), 2U);
  EXPECT_EQ(display_width("\xFF\xFF"), 2U);
  EXPECT_EQ(display_width("\U00020000\U000E0041"), 2U);
}

TEST(Elide, End) {
  EXPECT_EQ(elide_end("kernel", 6), "kernel");
  EXPECT_EQ(elide_end("kernels", 6), "kerne…");
  EXPECT_EQ(elide_end("kernels", 6, true), "ker...");
  EXPECT_EQ(elide_end("kernels", 1), "…");
  EXPECT_EQ(elide_end("kernels", 2, true), "..");
  EXPECT_EQ(elide_end("kernels", 0), "");
  EXPECT_EQ(elide_end("显存碎片", 6), "显存…");  // a half character is not drawn
  EXPECT_EQ(elide_end("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(elide_end("ab\xFF", 3), "ab\xEF\xBF\xBD");
}

TEST(Elide, Middle) {
  EXPECT_EQ(elide_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(elide_middle("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(elide_middle("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(elide_middle("abcdefghij", 7, true), "ab...ij");
  EXPECT_EQ(elide_middle("显存显存显存", 7), "显…存");
  EXPECT_EQ(elide_middle("abcdefghe\u0301", 4), "ab…e\u0301");
  EXPECT_EQ(elide_middle("abc\u0301", 2), "a…");
}

TEST(Elide, KeepsColourSequences) {
  EXPECT_EQ(elide_end("\033[31mabcdef\033[0m", 4), "\033[31mabc…\033[0m");
}

}  // namespace
}  // namespace vramscope
