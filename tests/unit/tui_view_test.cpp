// Whole screens of `top`, drawn into frames; the history behind the plots; the setup in its file.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cli/commands/top/setup_file.h"
#include "system/process_table.h"
#include "system/send_signal.h"
#include "text/utf8.h"
#include "tui/process_facts.h"
#include "tui/view.h"
#include "tui_scene.h"

namespace vramscope::tui {
namespace {

// --- frames -------------------------------------------------------------------------------------------------------

TEST(TuiFrame, WideCharactersAreWholeOrAbsent) {
  Frame frame(6, 1);
  EXPECT_EQ(frame.put(0, 0, "a显b存"), 6);
  EXPECT_EQ(frame.text(), "a显b存\n");
  frame.put(0, 0, "显显显显");
  EXPECT_EQ(frame.text(), "显显显\n");
  frame.put(1, 0, "x");  // over the second half of the first
  EXPECT_EQ(frame.text(), " x显显\n");
  frame.put(2, 0, "y");  // over the first half of the second
  EXPECT_EQ(frame.text(), " xy 显\n");
  EXPECT_EQ(frame.put(0, 0, "显显", Style::normal, 3), 2);
}

TEST(TuiFrame, MarksJoinTheCharacterBeforeThem) {
  Frame frame(4, 1);
  EXPECT_EQ(frame.put(0, 0, "e\u0301x"), 2);
  EXPECT_EQ(frame.at(0, 0).view(), "e\u0301");
  EXPECT_EQ(frame.put(0, 0, "\u0301x"), 1);  // nothing to join
  EXPECT_EQ(frame.at(0, 0).view(), "x");
}

TEST(TuiFrame, StaysInsideWhateverIsAsked) {
  Frame frame(5, 2);
  frame.put(-3, 0, "abc");
  frame.put(0, 7, "abc");
  frame.put(4, 1, "显");
  frame.put_right(3, 0, "0123456789", Style::normal, 20);
  frame.fill({-5, -5, 100, 100}, '.', Style::dim);
  frame.set(99, 99, "x", Style::bad);
  frame.restyle(-10, 1, 100, Style::bold);
  EXPECT_EQ(frame.put(0, 0, "\xFF\xFE", Style::normal), 2);
  EXPECT_EQ(frame.text(), "??...\n.....\n");
}

TEST(TuiFrame, ElidesWithAMark) {
  Frame frame(8, 1);
  frame.put_elided(0, 0, "0123456789", Style::normal, 8, false);
  EXPECT_EQ(frame.text(), "0123456…\n");
  frame.put_elided(0, 0, "01234567", Style::normal, 8, true);
  EXPECT_EQ(frame.text(), "01234567\n");
  frame.put_elided(0, 0, "0123456789", Style::normal, 8, true);
  EXPECT_EQ(frame.text(), "0123456~\n");
}

// --- the history behind the plots -----------------------------------------------------------------------------------

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(TuiPlotHistory, KeepsTheExtremesOfEveryPiece) {
  PlotHistory history;
  for (int second = 0; second <= 3600; ++second) {
    history.add(second * kSecond, static_cast<std::uint8_t>(second == 1800 ? 250 : second == 1801 ? 0 : 100));
  }
  std::vector<LevelRange> pieces(60);
  history.pieces(3, 3600 * kSecond, pieces);  // one hour
  std::size_t peaks = 0, dips = 0;
  for (const LevelRange& piece : pieces) {
    ASSERT_TRUE(piece.is_known());
    peaks += piece.high == 250 ? 1 : 0;
    dips += piece.low == 0 ? 1 : 0;
  }
  EXPECT_EQ(peaks, 1U);
  EXPECT_EQ(dips, 1U);
}

TEST(TuiPlotHistory, LevelsHoldAndGapsStayEmpty) {
  PlotHistory history;
  history.add(0, 100);
  history.add(20 * kSecond, std::nullopt);  // lost
  history.add(40 * kSecond, 50);
  std::vector<LevelRange> pieces(60);  // a second each
  history.pieces(0, 59 * kSecond, pieces);
  EXPECT_EQ(pieces[10].high, 100);
  EXPECT_FALSE(pieces[30].is_known());
  EXPECT_EQ(pieces[50].high, 50);
  EXPECT_EQ(pieces[59].high, 50);
}

TEST(TuiPlotHistory, ACurveScrollsAndDoesNotFlicker) {
  PlotHistory history;
  std::vector<LevelRange> before(97), now(97);
  for (int tick = 0; tick < 4000; ++tick) {
    const std::int64_t time_ns = tick * 100'000'000LL;
    history.add(time_ns, static_cast<std::uint8_t>(tick * 37 % 251));
    history.pieces(0, time_ns, now);
    const std::int64_t piece_ns = 60 * kSecond / 97;
    const auto shift =
        static_cast<std::size_t>(time_ns / piece_ns - std::max<std::int64_t>(time_ns - 100'000'000, 0) / piece_ns);
    // All but the pieces that are still filled are those of the tick before.
    for (std::size_t i = 10; tick > 700 && i + 2 + shift < now.size(); ++i) {
      ASSERT_EQ(now[i].low, before[i + shift].low) << tick << " " << i;
      ASSERT_EQ(now[i].high, before[i + shift].high) << tick << " " << i;
    }
    before = now;
  }
}

TEST(TuiPlotHistory, BearsEveryTime) {
  PlotHistory history;
  std::vector<LevelRange> pieces(300);
  for (const std::int64_t time_ns : {-5 * kSecond, std::int64_t{0}, std::int64_t{1}, 86'400 * 365 * kSecond,
                                     std::int64_t{9'000'000'000'000'000'000}}) {
    history.add(time_ns, 9);
    for (std::size_t zoom = 0; zoom < kWindows.size(); ++zoom) {
      history.pieces(zoom, time_ns, pieces);
      EXPECT_TRUE(pieces.back().is_known()) << time_ns << " " << zoom;
    }
  }
  history.add(5, 77);  // back in time: left out
  history.pieces(0, 9'000'000'000'000'000'000, pieces);
  EXPECT_EQ(pieces.back().high, 9);
}

// --- whole screens --------------------------------------------------------------------------------------------------

Scene large_scene(std::size_t gpus, int processes) {
  Scene scene = scene_of(gpus);
  for (int i = 0; i < processes; ++i) {
    scene.processes.push_back(scene_process(1000 + i, gpus > 0 ? static_cast<std::size_t>(i) % gpus : 0,
                                            std::int64_t{i} << 24, "用户", "python3 训练.py --epochs 90"));
    if (i % 7 == 0) scene.processes.back().presence = Presence::absent;
    if (i % 5 == 0) scene.processes.back().used_bytes.reset();
  }
  if (gpus > 1) scene.devices[1].is_lost = true;
  if (gpus > 2) scene.devices[2].is_mig = true;
  for (SceneDevice& device : scene.devices) {
    for (PlotHistory& curve : device.curves) curve.add(0, 130);
  }
  return scene;
}

TEST(TuiView, EveryModeAtEverySizeIsDrawn) {
  const Mode modes[] = {Mode::main,   Mode::filter,  Mode::sort,    Mode::columns,  Mode::curves,
                        Mode::signal, Mode::confirm, Mode::details, Mode::verdicts, Mode::help};
  for (const std::size_t gpus : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{16}}) {
    const Scene scene = large_scene(gpus, gpus == 0 ? 0 : 40);
    for (int columns = 1; columns <= 200; columns += columns < 30 ? 3 : 29) {
      for (int rows = 1; rows <= 60; rows += rows < 14 ? 1 : 11) {
        for (const Mode mode : modes) {
          UiState ui;
          ui.mode = mode;
          ui.first_line = 1000;
          ui.command_offset = 9;
          if (!scene.processes.empty()) ui.selected = ui.target = RowKey{scene.processes[3].key, 0};
          Frame frame(columns, rows);
          View view;
          draw(frame, scene, ui, 5 * kSecond, {kSecond, false, mode == Mode::help, true}, view);
          const std::string text = frame.text();
          std::size_t begin = 0;
          int lines = 0;
          for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
            ASSERT_LE(display_width(text.substr(begin, end - begin)), static_cast<std::size_t>(columns));
            begin = end + 1;
            ++lines;
          }
          ASSERT_EQ(lines, rows);
        }
      }
    }
  }
}

TEST(TuiView, SaysThatTheDriverIsSilent) {
  const Scene scene = large_scene(1, 3);
  Frame frame(120, 40);
  UiState ui;
  View view;
  draw(frame, scene, ui, 12 * kSecond, {kSecond, false, false, false}, view);
  EXPECT_NE(frame.text().find("has not answered for 12 s"), std::string::npos) << frame.text();
}

TEST(TuiView, SelectedProcessStaysInSight) {
  Scene scene = large_scene(1, 500);
  UiState ui;
  ui.selected = RowKey{scene.processes[123].key, 0};
  Frame frame(100, 30);
  View view;
  draw(frame, scene, ui, std::nullopt, {kSecond, false, false, false}, view);
  EXPECT_NE(frame.text().find(" 1123 "), std::string::npos);
  for (SceneProcess& process : scene.processes) process.used_bytes = -process.used_bytes.value_or(0);
  frame.reset(100, 30);
  draw(frame, scene, ui, std::nullopt, {kSecond, false, false, false}, view);
  EXPECT_NE(frame.text().find(" 1123 "), std::string::npos);
}

TEST(TuiView, AllocatorFiguresHaveTheirPlace) {
  Scene scene = large_scene(1, 1);
  scene.processes[0].presence = Presence::seen;
  scene.processes[0].allocator_reserved = std::int64_t{20} << 30;
  scene.processes[0].allocator_allocated = std::int64_t{5} << 30;
  UiState ui;
  ui.mode = Mode::details;
  ui.selected = RowKey{scene.processes[0].key, 0};
  Frame frame(100, 40);
  View view;
  draw(frame, scene, ui, std::nullopt, {kSecond, false, false, false}, view);
  EXPECT_NE(frame.text().find("allocator has reserved: 20.00 GiB"), std::string::npos) << frame.text();
  EXPECT_NE(frame.text().find("of that in tensors: 5.00 GiB"), std::string::npos);
}

// --- the setup in its file ------------------------------------------------------------------------------------------

TEST(TopSetup, IsReadAsItWasSaved) {
  char folder[] = "/tmp/vramscope-setup-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/deep/er/top.toml";
  tui::Setup setup;
  setup.columns[static_cast<std::size_t>(Column::place)] = true;
  setup.columns[static_cast<std::size_t>(Column::pid)] = false;
  setup.curves = {false, true, true, false, true};
  setup.sort = Column::age;
  setup.is_falling = false;
  setup.zoom = 4;
  setup.is_tree = setup.newest_left = setup.fahrenheit = true;
  setup.show_plots = false;
  EXPECT_FALSE(save_setup(path, setup));
  const SetupReading reading = read_setup(path);
  EXPECT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.setup, setup);
  std::ofstream(path, std::ios::app) << "\n[later]\nversion = \"2\"\n";
  EXPECT_EQ(read_setup(path).problems.size(), 1U);
  EXPECT_FALSE(save_setup(path, tui::Setup()));
  std::ifstream again(path);
  const std::string text((std::istreambuf_iterator<char>(again)), {});
  EXPECT_NE(text.find("[later]"), std::string::npos) << text;
  EXPECT_EQ(read_setup(path).setup, tui::Setup());
  std::ofstream(path) << "this is = = no TOML";
  EXPECT_TRUE(save_setup(path, tui::Setup()));  // what is there would be lost
  EXPECT_EQ(read_setup(path).setup, tui::Setup());
  EXPECT_EQ(read_setup(path).problems.size(), 1U);
  EXPECT_EQ(std::system(("rm -r " + std::string(folder)).c_str()), 0);
}

TEST(TopSetup, MistakesAreToldWithTheirLineAndAreNotFatal) {
  const SetupReading reading = parse_setup(
      "sort = 3\nwindow = \"7m\"\ncolumns = [\"pid\", 5, \"gpu\"]\ntree = true\n"
      "curves = \"memory\"\nplots = 1\n",
      "top.toml");
  EXPECT_EQ(reading.problems.size(), 5U);
  EXPECT_EQ(reading.problems[0].substr(0, 11), "top.toml:1:");
  EXPECT_EQ(reading.problems[2].substr(0, 11), "top.toml:3:");
  EXPECT_TRUE(reading.setup.is_tree);
  EXPECT_TRUE(reading.setup.shows(Column::gpu));
  EXPECT_FALSE(reading.setup.shows(Column::command));
  EXPECT_EQ(reading.setup.sort, Column::memory);
}

TEST(TopSetup, MissingFileIsNoProblem) {
  EXPECT_TRUE(read_setup("/nowhere/top.toml").problems.empty());
  EXPECT_TRUE(read_setup("").problems.empty());
  EXPECT_TRUE(save_setup("", tui::Setup()));
  EXPECT_TRUE(save_setup("/proc/nowhere/top.toml", tui::Setup()));
}

// --- signals --------------------------------------------------------------------------------------------------------

TEST(SendSignal, ReachesTheProcessThatWasLookedAtAlone) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto start = start_ticks_of(child, {});
  ASSERT_TRUE(start);
  const auto other = send_signal({child, *start + 1}, SIGKILL);
  ASSERT_TRUE(other);
  EXPECT_NE(other->message.find("Another process"), std::string::npos);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WNOHANG), 0);  // it lives
  EXPECT_FALSE(send_signal({child, *start}, SIGTERM));
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_TRUE(send_signal({child, *start}, SIGTERM));
  EXPECT_TRUE(send_signal({0, 0}, SIGTERM));
  EXPECT_TRUE(send_signal({-1, 0}, SIGTERM));
}

}  // namespace
}  // namespace vramscope::tui
