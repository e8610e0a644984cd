#include "tui/process_list.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <unordered_map>

namespace vramscope::tui {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

bool begins_with(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && contains(text.substr(0, word.size()), word);
}

bool matches_word(const SceneProcess& process, std::string_view word) {
  const std::size_t colon = word.find(':');
  const std::string_view key = word.substr(0, colon == word.npos ? 0 : colon);
  const std::string_view value = colon == word.npos ? word : word.substr(colon + 1);
  const std::string pid = std::to_string(process.key.pid);
  if (key == "gpu") {
    return value == process.device_label || (value == process.device_label.substr(0, process.device_label.find('.')));
  }
  if (key == "user") return begins_with(process.user, value);
  if (key == "pid") return begins_with(pid, value);
  return contains(pid, word) || contains(process.user, word) || contains(process.command, word) ||
         contains(process.place, word);
}

// Numbers that are unknown are an empty optional; texts an empty string.
template <typename T>
std::partial_ordering compare(const std::optional<T>& a, const std::optional<T>& b, bool is_falling) {
  if (!a || !b) return static_cast<int>(b.has_value()) <=> static_cast<int>(a.has_value());  // known ones first
  return is_falling ? std::partial_ordering(*b <=> *a) : std::partial_ordering(*a <=> *b);
}

std::partial_ordering compare(const std::string& a, const std::string& b, bool is_falling) {
  if (a.empty() || b.empty()) return static_cast<int>(a.empty()) <=> static_cast<int>(b.empty());
  const int order = is_falling ? b.compare(a) : a.compare(b);
  return order <=> 0;
}

std::partial_ordering compare(const SceneProcess& a, const SceneProcess& b, Column column, bool is_falling) {
  const auto numbers = [&](std::int64_t x, std::int64_t y) {
    return compare(std::optional(x), std::optional(y), is_falling);
  };
  switch (column) {
    case Column::pid:
      return numbers(a.key.pid, b.key.pid);
    case Column::user:
      return compare(a.user, b.user, is_falling);
    case Column::gpu: {
      const auto order = numbers(static_cast<std::int64_t>(a.device), static_cast<std::int64_t>(b.device));
      return order != 0 ? order : compare(a.device_label, b.device_label, is_falling);
    }
    case Column::type:
      return numbers(static_cast<int>(a.type), static_cast<int>(b.type));
    case Column::gpu_share:
      return compare(a.gpu_share, b.gpu_share, is_falling);
    case Column::encoder:
      return compare(a.encoder, b.encoder, is_falling);
    case Column::decoder:
      return compare(a.decoder, b.decoder, is_falling);
    case Column::memory:
      return compare(a.used_bytes, b.used_bytes, is_falling);
    case Column::trend:
      return compare(std::optional(a.bytes_per_hour), std::optional(b.bytes_per_hour), is_falling);
    case Column::memory_share:
      return compare(a.memory_share, b.memory_share, is_falling);
    case Column::cpu:
      return compare(a.cpu_percent, b.cpu_percent, is_falling);
    case Column::host_memory:
      return compare(a.host_bytes, b.host_bytes, is_falling);
    case Column::age:
      return compare(a.age_ns, b.age_ns, is_falling);
    case Column::state:
      return compare(a.state, b.state, is_falling);
    case Column::place:
      return compare(a.place, b.place, is_falling);
    case Column::command:
      return compare(a.command, b.command, is_falling);
  }
  return std::partial_ordering::equivalent;
}

// The shown processes in their order as children of each other.
class Tree {
 public:
  Tree(const Scene& scene, const std::vector<std::size_t>& order, bool ascii)
      : order_(order), ascii_(ascii), children_(order.size()), is_placed_(order.size(), false) {
    std::unordered_map<std::int32_t, std::size_t> first;  // place in `order` of a pid's first row
    for (std::size_t i = 0; i < order.size(); ++i) first.emplace(scene.processes[order[i]].key.pid, i);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const SceneProcess& process = scene.processes[order[i]];
      const auto parent = process.ppid ? first.find(*process.ppid) : first.end();
      if (parent == first.end() || *process.ppid == process.key.pid) {
        roots_.push_back(i);
      } else {
        children_[parent->second].push_back(i);
      }
    }
  }

  std::vector<ProcessRow> rows() {
    for (const std::size_t root : roots_) place(root);
    for (std::size_t i = 0; i < order_.size(); ++i) place(i);  // what only a cycle leads to
    return std::move(rows_);
  }

 private:
  struct Open {
    std::size_t node;
    std::string branch;  // of the node
    std::string below;   // what its children's branches begin with
  };

  // Without recursion: a chain of parents may be as long as the list.
  void place(std::size_t root) {
    std::vector<Open> open{{root, "", ""}};
    while (!open.empty()) {
      Open next = std::move(open.back());
      open.pop_back();
      if (is_placed_[next.node]) continue;
      is_placed_[next.node] = true;
      rows_.push_back({order_[next.node], next.branch});
      const std::vector<std::size_t>& children = children_[next.node];
      for (std::size_t i = children.size(); i-- > 0;) {
        const bool is_last = i + 1 == children.size();
        const char* mark = ascii_ ? (is_last ? "`- " : "|- ") : (is_last ? "└─ " : "├─ ");
        const char* line = is_last ? "   " : (ascii_ ? "|  " : "│  ");
        open.push_back({children[i], next.below + mark, next.below.size() < kDeepest ? next.below + line : next.below});
      }
    }
  }

  static constexpr std::size_t kDeepest = 60;  // bytes; beyond it the branches are no longer told apart
  const std::vector<std::size_t>& order_;
  bool ascii_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<bool> is_placed_;
  std::vector<std::size_t> roots_;
  std::vector<ProcessRow> rows_;
};

}  // namespace

bool matches(const SceneProcess& process, std::string_view filter) {
  while (!filter.empty()) {
    const std::size_t end = std::min(filter.find(' '), filter.size());
    if (end > 0 && !matches_word(process, filter.substr(0, end))) return false;
    filter.remove_prefix(std::min(end + 1, filter.size()));
  }
  return true;
}

std::vector<ProcessRow> list_processes(const Scene& scene, const Setup& setup, std::string_view filter, bool ascii) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scene.processes.size(); ++i) {
    if (matches(scene.processes[i], filter)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return compare(scene.processes[a], scene.processes[b], setup.sort, setup.is_falling) < 0;
  });
  if (setup.is_tree) return Tree(scene, order, ascii).rows();
  std::vector<ProcessRow> rows;
  rows.reserve(order.size());
  for (const std::size_t process : order) rows.push_back({process, {}});
  return rows;
}

}  // namespace vramscope::tui
