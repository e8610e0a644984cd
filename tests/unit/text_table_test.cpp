#include <gtest/gtest.h>

#include "text/table.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {
namespace {

class TableTest : public testing::Test {
 protected:
  TableTest() : saved_(terminal()) { terminal() = {false, false, true, 100}; }
  ~TableTest() override { terminal() = saved_; }

 private:
  Terminal saved_;
};

TextTable sample() {
  return {{{"Name", Align::left, Shrink::middle}, {"Bytes", Align::right, Shrink::no}},
          {{"aten::convolution_backward", "1.50 KiB"}, {"显存", "0 B"}, {"only a name"}}};
}

TEST_F(TableTest, ColumnsAsWideAsTheirCells) {
  EXPECT_EQ(render(sample(), 100),
            "Name                           Bytes\n"
            "──────────────────────────  ────────\n"
            "aten::convolution_backward  1.50 KiB\n"
            "显存                             0 B\n"
            "only a name\n");
}

TEST_F(TableTest, ShrinksToTheWidth) {
  EXPECT_EQ(render(sample(), 24, 2),
            "  Name             Bytes\n"
            "  ────────────  ────────\n"
            "  aten::…kward  1.50 KiB\n"
            "  显存               0 B\n"
            "  only a name\n");
}

TEST_F(TableTest, KeepsEightColumnsWhereNothingFits) {
  EXPECT_EQ(render(sample(), 3),
            "Name         Bytes\n"
            "────────  ────────\n"
            "aten…ard  1.50 KiB\n"
            "显存           0 B\n"
            "only…ame\n");
}

TEST_F(TableTest, WidestColumnShrinksFirst) {
  const TextTable table{{{"a", Align::left, Shrink::end}, {"b", Align::left, Shrink::end}},
                        {{std::string(30, 'x'), std::string(12, 'y')}}};
  EXPECT_EQ(render(table, 30),
            "a                 b\n"
            "────────────────  ────────────\n" +
                std::string(15, 'x') + "…  " + std::string(12, 'y') + "\n");
  EXPECT_EQ(render(table, 20),
            "a          b\n"
            "─────────  ─────────\n"
            "xxxxxxxx…  yyyyyyyy…\n");
}

TEST_F(TableTest, AsciiTerminal) {
  terminal().utf8 = false;
  EXPECT_EQ(render({{{"Name", Align::left, Shrink::end}}, {{"aten::addmm_"}}}, 8), "Name\n--------\naten:...\n");
}

TEST_F(TableTest, HostileCells) {
  const TextTable table{{{"A\nB"}}, {{"\033[2Jx\ny\xFF"}, {"", "cell without a column"}}};
  EXPECT_EQ(render(table, 80), "A B\n───────────\n\\x1b[2Jx y\xEF\xBF\xBD\n\n");
}

TEST_F(TableTest, PaintedCellsKeepTheirPlace) {
  terminal().colour = true;
  const TextTable table{{{"a", Align::right}, {"b"}}, {{paint("x", Colour::red), "1"}, {"yyy", "2"}}};
  EXPECT_EQ(render(table, 80), "  a  b\n───  ─\n  \033[31mx\033[0m  1\nyyy  2\n");
}

TEST_F(TableTest, ColoursFromTheInputDoNotPassWithoutColour) {
  EXPECT_EQ(render({{{"a"}}, {{"\033[31mx"}}}, 80), "a\n─────────\n\\x1b[31mx\n");
}

TEST_F(TableTest, Empty) {
  EXPECT_EQ(render({}, 80), "");
  EXPECT_EQ(render({{{"a"}}, {}}, 0), "a\n─\n");
  EXPECT_EQ(render({{{""}}, {{}}}, 0), "\n\n\n");
}

}  // namespace
}  // namespace vramscope
