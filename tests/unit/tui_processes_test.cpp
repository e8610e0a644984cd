// The rows of the table of `top`: filter, order, tree.
#include <gtest/gtest.h>

#include "tui/process_list.h"
#include "tui_scene.h"

namespace vramscope::tui {
namespace {

std::vector<std::int32_t> pids(const Scene& scene, const std::vector<ProcessRow>& rows) {
  std::vector<std::int32_t> out;
  for (const ProcessRow& row : rows) out.push_back(scene.processes[row.process].key.pid);
  return out;
}

Scene three() {
  Scene scene = scene_of(2);
  scene.processes = {scene_process(10, 0, 100, "alice", "python3 train.py"),
                     scene_process(20, 1, 300, "Bob", "python3 serve.py"),
                     scene_process(30, 1, 200, "alice", "./render --fast")};
  scene.processes[2].place = "slurm 4711";
  return scene;
}

TEST(TuiProcesses, FilterNeedsEveryWord) {
  const Scene scene = three();
  const auto shown = [&](const char* filter) {
    return pids(scene, list_processes(scene, tui::Setup(), filter, false));
  };
  using Pids = std::vector<std::int32_t>;
  EXPECT_EQ(shown(""), (Pids{20, 30, 10}));
  EXPECT_EQ(shown("   "), (Pids{20, 30, 10}));
  EXPECT_EQ(shown("PYTHON"), (Pids{20, 10}));
  EXPECT_EQ(shown("python alice"), (Pids{10}));
  EXPECT_EQ(shown("bob"), (Pids{20}));
  EXPECT_EQ(shown("4711"), (Pids{30}));
  EXPECT_EQ(shown("gpu:1"), (Pids{20, 30}));
  EXPECT_EQ(shown("gpu:1 user:al"), (Pids{30}));
  EXPECT_EQ(shown("user:ice"), (Pids{}));  // from its beginning
  EXPECT_EQ(shown("pid:2"), (Pids{20}));
  EXPECT_EQ(shown("nothing"), (Pids{}));
}

TEST(TuiProcesses, UnknownComesLastInEitherOrder) {
  Scene scene = three();
  scene.processes[1].used_bytes.reset();
  scene.processes[0].user.clear();
  tui::Setup setup;
  EXPECT_EQ(pids(scene, list_processes(scene, setup, "", false)), (std::vector<std::int32_t>{30, 10, 20}));
  setup.is_falling = false;
  EXPECT_EQ(pids(scene, list_processes(scene, setup, "", false)), (std::vector<std::int32_t>{10, 30, 20}));
  setup.sort = Column::user;
  EXPECT_EQ(pids(scene, list_processes(scene, setup, "", false)), (std::vector<std::int32_t>{20, 30, 10}));
  setup.is_falling = true;
  EXPECT_EQ(pids(scene, list_processes(scene, setup, "", false)), (std::vector<std::int32_t>{30, 20, 10}));
}

TEST(TuiProcesses, EveryColumnSorts) {
  const Scene scene = three();
  tui::Setup setup;
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (const bool is_falling : {false, true}) {
      setup.sort = static_cast<Column>(i);
      setup.is_falling = is_falling;
      EXPECT_EQ(list_processes(scene, setup, "", false).size(), 3U) << column_table()[i].name;
    }
  }
}

TEST(TuiProcesses, TreeHangsChildrenBelowTheirParents) {
  Scene scene = scene_of(1);
  scene.processes = {scene_process(3, 0, 50, "", ""), scene_process(1, 0, 10, "", ""), scene_process(2, 0, 90, "", ""),
                     scene_process(4, 0, 70, "", "")};
  scene.processes[0].ppid = 1;  // 3
  scene.processes[2].ppid = 1;  // 2
  scene.processes[3].ppid = 2;  // 4
  tui::Setup setup;
  setup.is_tree = true;
  const auto rows = list_processes(scene, setup, "", false);
  EXPECT_EQ(pids(scene, rows), (std::vector<std::int32_t>{1, 2, 4, 3}));
  EXPECT_EQ(rows[0].branch, "");
  EXPECT_EQ(rows[1].branch, "├─ ");
  EXPECT_EQ(rows[2].branch, "│  └─ ");
  EXPECT_EQ(rows[3].branch, "└─ ");
  EXPECT_EQ(list_processes(scene, setup, "", true)[2].branch, "|  `- ");
}

TEST(TuiProcesses, TreeOfCyclesLosesNobody) {
  Scene scene = scene_of(1);
  for (std::int32_t pid = 1; pid <= 50; ++pid) {
    scene.processes.push_back(scene_process(pid, 0, pid, "", ""));
    scene.processes.back().ppid = pid % 50 + 1;  // one large circle
  }
  scene.processes.push_back(scene_process(99, 0, 5, "", ""));
  scene.processes.back().ppid = 99;  // its own parent
  tui::Setup setup;
  setup.is_tree = true;
  EXPECT_EQ(list_processes(scene, setup, "", false).size(), 51U);
}

TEST(TuiProcesses, DeepTreeDoesNotRecurse) {
  Scene scene = scene_of(1);
  constexpr std::int32_t kDepth = 20'000;
  for (std::int32_t pid = 1; pid <= kDepth; ++pid) {
    scene.processes.push_back(scene_process(pid, 0, 1, "", ""));
    if (pid > 1) scene.processes.back().ppid = pid - 1;
  }
  tui::Setup setup;
  setup.is_tree = true;
  const auto rows = list_processes(scene, setup, "", false);
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kDepth));
  EXPECT_EQ(scene.processes[rows.back().process].key.pid, kDepth);
  EXPECT_LT(rows.back().branch.size(), 100U);
}

}  // namespace
}  // namespace vramscope::tui
