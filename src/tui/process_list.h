#pragma once
// The rows of the process table: filtered, sorted, as a tree. Pure.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tui/scene.h"
#include "tui/setup.h"

namespace vramscope::tui {

struct ProcessRow {
  std::size_t process = 0;  // in Scene::processes
  std::string branch;       // of the tree, before the command: "├─ "
};

// Every word of the filter must be found, in capitals or not, in pid, user, command or place;
// "gpu:0", "user:al" and "pid:42" look there alone. An empty filter shows all.
bool matches(const SceneProcess& process, std::string_view filter);

// Unknown values come last in either order. In a tree, a process that no shown process has started is a root, and
// children stand below their parent on its first device; what the kernel's parents cannot order (a cycle) is a root.
std::vector<ProcessRow> list_processes(const Scene& scene, const Setup& setup, std::string_view filter, bool ascii);

}  // namespace vramscope::tui
