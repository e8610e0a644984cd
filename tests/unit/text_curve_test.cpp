#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "text/curve.h"
#include "text/format.h"
#include "text/terminal.h"
#include "text/utf8.h"

namespace vramscope {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

std::string bytes(double value) {
  return format_bytes(static_cast<std::int64_t>(value));
}

class CurveTest : public testing::Test {
 protected:
  CurveTest() : saved_(terminal()) { terminal() = {false, false, true, 100}; }
  ~CurveTest() override { terminal() = saved_; }

  static CurveOptions small(bool ascii) {
    CurveOptions options;
    options.width = 30;
    options.height = 4;
    options.ascii = ascii;
    options.format_value = bytes;
    return options;
  }

 private:
  Terminal saved_;
};

const std::vector<CurveLine> kSteps{{"allocated", {{0, 0}, {1000, 1024}, {2000, 4096}, {3000, 2048}, {4000, 0}}}};

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, display_width(line));
  return most;
}

// The sixteen rows of dots that the plot area has with a height of 4: true where any dot of that level is set.
std::vector<bool> levels_of(const std::string& plotted) {
  std::vector<bool> levels(16, false);
  std::istringstream lines(plotted);
  std::string line;
  for (std::size_t row = 0; row < 4 && std::getline(lines, line); ++row) {
    for (std::size_t i = 0; i + 2 < line.size(); ++i) {
      if (line[i] != '\xE2' || (line[i + 1] & '\xFC') != '\xA0') continue;
      const unsigned dots =
          ((static_cast<unsigned char>(line[i + 1]) & 3U) << 6U) | (static_cast<unsigned char>(line[i + 2]) & 0x3FU);
      const unsigned masks[] = {0x09, 0x12, 0x24, 0xC0};
      for (std::size_t k = 0; k < 4; ++k) {
        if ((dots & masks[k]) != 0) levels[15 - (row * 4 + k)] = true;
      }
    }
  }
  return levels;
}

TEST_F(CurveTest, StepsInAscii) {
  EXPECT_EQ(plot(kSteps, {{2000, "peak 4 KiB"}}, small(true)),
            "4 KiB +           |-----|\n"
            "      |           |     |_____\n"
            "      |     ______|          |\n"
            "  0 B +_____|                |\n"
            "      ++---------------------+\n"
            "       0                  4 us\n"
            "                  ^ peak 4 KiB\n");
}

TEST_F(CurveTest, StepsInBraille) {
  EXPECT_EQ(plot(kSteps, {{2000, "peak 4 KiB"}}, small(false)),
            "4 KiB ┤           ⢸⠉⠉⠉⠉⠉⡇\n"
            "      │           ⢸     ⣇⣀⣀⣀⣀⣀\n"
            "      │     ⢀⣀⣀⣀⣀⣀⣸          ⢸\n"
            "  0 B ┤⣀⣀⣀⣀⣀⣸                ⢸\n"
            "      └┬─────────────────────┬\n"
            "       0                  4 us\n"
            "                  ▲ peak 4 KiB\n");
}

TEST_F(CurveTest, TwoLinesHaveALegend) {
  const std::vector<CurveLine> lines{kSteps[0], {"reserved", {{0, 4096}, {4000, 4096}}}};
  EXPECT_EQ(plot(lines, {}, small(true)),
            "4 KiB +...........|-----|.....\n"
            "      |           |     |_____\n"
            "      |     ______|          |\n"
            "  0 B +_____|                |\n"
            "      ++---------------------+\n"
            "       0                  4 us\n"
            "       -- allocated\n"
            "       .. reserved\n");
  EXPECT_EQ(plot(lines, {}, small(false)),
            "4 KiB ┤⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⢹⠉⠉⠉⠉⠉⡇⠁⠁⠁⠁⠁\n"
            "      │           ⢸     ⣇⣀⣀⣀⣀⣀\n"
            "      │     ⢀⣀⣀⣀⣀⣀⣸          ⢸\n"
            "  0 B ┤⣀⣀⣀⣀⣀⣸                ⢸\n"
            "      └┬─────────────────────┬\n"
            "       0                  4 us\n"
            "       ⠒⠒ allocated\n"
            "       ⠂⠂ reserved\n");
}

TEST_F(CurveTest, StraightLinesBetweenPoints) {
  CurveOptions options = small(false);
  options.steps = false;
  EXPECT_EQ(plot({{"", {{0, 0}, {1000, 4096}}}}, {}, options),
            "4 KiB ┤                 ⣀⣠⠤⠖⠚⠉\n"
            "      │           ⣀⣠⠤⠖⠚⠉⠁\n"
            "      │     ⣀⣠⠤⠖⠚⠉⠁\n"
            "  0 B ┤⣠⠤⠖⠚⠉⠁\n"
            "      └┬─────────────────────┬\n"
            "       0                  1 us\n");
}

TEST_F(CurveTest, SinglePointAndFlatZero) {
  EXPECT_EQ(plot({{"", {{5, 1024}}}}, {}, small(false)),
            "1 KiB ┤⠁\n"
            "      │\n"
            "      │\n"
            "  0 B ┤\n"
            "      └┬──────────────────────\n"
            "       0\n");
  EXPECT_EQ(plot({{"", {{0, 0}, {1000, 0}}}}, {}, small(true)),
            "    |\n"
            "    |\n"
            "    |\n"
            "0 B +_________________________\n"
            "    ++-----------------------+\n"
            "     0                    1 us\n");
}

TEST_F(CurveTest, NegativeValues) {
  EXPECT_EQ(plot({{"", {{0, -1024}, {500, 1024}, {1000, -1024}}}}, {}, small(true)),
            " 1 KiB +           |---------|\n"
            "       |           |         |\n"
            "       |           |         |\n"
            "-1 KiB +___________|         |\n"
            "       ++--------------------+\n"
            "        0                 1 us\n");
}

TEST_F(CurveTest, NothingToDraw) {
  EXPECT_EQ(plot({}, {{0, "mark"}}, small(false)), "");
  EXPECT_EQ(plot({{"", {}}}, {}, small(false)), "");
  EXPECT_EQ(plot({{"", {{0, std::numeric_limits<double>::quiet_NaN()}}}}, {}, small(false)), "");
}

TEST_F(CurveTest, OneSpikeAmongTwentyThousandPointsIsDrawn) {
  CurveLine line;
  for (std::int64_t i = 0; i < 20000; ++i) line.points.emplace_back(i, 1024);
  EXPECT_FALSE(levels_of(plot({line, line}, {}, small(false)))[0]);
  line.points[12345].second = 0;
  line.points[5432].second = 4096;
  const std::vector<bool> levels = levels_of(plot({line}, {}, small(false)));
  EXPECT_TRUE(levels[0]);
  EXPECT_TRUE(levels[15]);
  // The second line has fewer dots, but loses no extreme either.
  const CurveLine low{"", {{0, 1024}, {19999, 1024}}};
  EXPECT_TRUE(levels_of(plot({low, line}, {}, small(false)))[0]);
  EXPECT_TRUE(levels_of(plot({low, low, line}, {}, small(false)))[15]);
}

TEST_F(CurveTest, FitsTheWidth) {
  for (const std::size_t width : {20U, 60U, 80U, 200U}) {
    for (const bool ascii : {false, true}) {
      CurveOptions options = small(ascii);
      options.width = width;
      EXPECT_EQ(widest(plot(kSteps, {{4000, "peak"}}, options)), width);
    }
  }
}

TEST_F(CurveTest, TinySizes) {
  CurveOptions options = small(true);
  options.width = 0;
  options.height = 0;
  EXPECT_EQ(plot(kSteps, {{0, "a label wider than the plot"}}, options),
            "+____|--|\n"
            "++------+\n"
            " 0   4 us\n"
            " ^ a...\n");
}

TEST_F(CurveTest, ExtremeTimesAndValues) {
  const double most = std::numeric_limits<double>::max();
  CurveOptions options = small(true);
  options.format_value = nullptr;
  const std::string text = plot({{"", {{kLowest, -most}, {0, most}, {kHighest, 0}}}}, {{kHighest, "end"}}, options);
  EXPECT_NE(text.find("1.798e+308 +"), std::string::npos) << text;
  EXPECT_NE(text.find("-1.798e+308 +"), std::string::npos) << text;
  EXPECT_LE(widest(text), 30U);
}

TEST_F(CurveTest, TimesOutOfOrderAndMarksOutside) {
  const std::string text = plot({{"", {{1000, 1}, {0, 2}, {500, 3}}}}, {{-5, "before"}, {2000, "after"}}, small(true));
  EXPECT_EQ(text.find("before"), std::string::npos);
  EXPECT_EQ(text.find("after"), std::string::npos);
  EXPECT_LE(widest(text), 30U);
}

TEST_F(CurveTest, HostileLabels) {
  const std::string text = plot({kSteps[0], {"\033[2J\n", {{0, 1}}}}, {{0, "\033]0;x\007\xFF"}}, small(false));
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(valid_utf8(text), text);
}

TEST_F(CurveTest, Coloured) {
  terminal().colour = true;
  const std::string text = plot({{"", {{0, 0}, {1000, 0}}}}, {}, small(true));
  EXPECT_NE(text.find("\n0 B +\033[36m_________________________\033[0m\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace vramscope
