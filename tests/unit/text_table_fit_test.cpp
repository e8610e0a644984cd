#include <gtest/gtest.h>

#include "text/table.h"
#include "text/terminal.h"

namespace vramscope {
namespace {

class TableFitTest : public testing::Test {
 protected:
  TableFitTest() : saved_(terminal()) { terminal() = {false, false, true, 100}; }
  ~TableFitTest() override { terminal() = saved_; }

 private:
  Terminal saved_;
};

TEST_F(TableFitTest, LeavesOutTheColumnsOfTheHighestNumberAndSaysSo) {
  const TextTable table{{{"Name"},
                         {"Least", Align::right, Shrink::no, 2},
                         {"Less", Align::right, Shrink::no, 1},
                         {"Bytes", Align::right}},
                        {{"a", "1234567890", "1234567890", "1234567890"}}};
  EXPECT_EQ(render(table, 39),
            "Name        Less       Bytes\n"
            "────  ──────────  ──────────\n"
            "a     1234567890  1234567890\n"
            "1 column not shown (Least); --width 0\n"
            "shows all.\n");
}

TEST_F(TableFitTest, GoesOnInFurtherLines) {
  const TextTable table{{{"what", Align::left, Shrink::wrap}, {"n", Align::right}}, {{"one two three four", "7"}}};
  EXPECT_EQ(render(table, 15),
            "what          n\n"
            "────────────  ─\n"
            "one two       7\n"
            "three four\n");
}

}  // namespace
}  // namespace vramscope
