// `nvidia-smi -q`, whole or by sections (-d): names and values in a tree of indents.
#include "import/readers/nvidia_smi/parser.h"
#include "import/readers/nvidia_smi/tree_fields.h"
#include "import/readers/nvidia_smi/tree_paths.h"

namespace vramscope::nvidia_smi {

namespace {

class QParser : public Parser {
 public:
  explicit QParser(LogBuilder& log) : log_(log), fields_(log) {}

  void feed(const Line& line) override {
    offset_ = line.offset;
    if (line.text.find("NVSMI LOG") != line.text.npos) {
      fields_.begin_log();
      path_.clear();
      is_in_log_ = true;
      return;
    }
    if (!is_in_log_) return;
    // What the end of the file may have cut is left out: "1272 M", "12", an indent.
    if (!line.has_end) return log_.note("cut_line", line.offset);
    if (trimmed(line.text).empty()) return;
    std::size_t indent = line.text.find_first_not_of(" \t");
    std::string_view key = line.text;
    std::string_view value;
    bool has_value = false;
    if (const std::size_t colon = line.text.find(" : "); colon != line.text.npos) {
      key = line.text.substr(0, colon);
      value = trimmed(line.text.substr(colon + 3));
      has_value = true;
    } else if (const std::string_view whole = trimmed(line.text);
               whole.size() > 1 && whole.substr(whole.size() - 2) == " :") {
      key = whole.substr(0, whole.size() - 2);
      has_value = true;
    }
    key = trimmed(key);
    while (!path_.empty() && path_.back().indent >= indent) leave();
    if (indent == 0) return take_outer(key, value, has_value);
    take_inner(indent, key, value, has_value);
  }
  void end() override {
    while (!path_.empty()) leave();
    fields_.end_log();
    is_in_log_ = false;
  }

 private:
  struct Level {
    std::size_t indent = 0;
    std::string name;
  };

  void take_outer(std::string_view key, std::string_view value, bool has_value) {
    // "GPU 00000000:00:09.0"
    if (!has_value && key.substr(0, 4) == "GPU " && key.find(':') != key.npos) return fields_.begin_gpu(key.substr(4));
    fields_.end_gpu();
    if (has_value) return fields_.log_leaf(path_name(key), value, offset_);
    path_.push_back({0, path_name(key)});
  }
  void take_inner(std::size_t indent, std::string_view key, std::string_view value, bool has_value) {
    const std::string name = path_name(key);
    const bool is_in_processes = !path_.empty() && path_[0].name == "processes";
    if (is_in_processes && (name == "gpu_instance_id" || name == "compute_instance_id")) {
      // They stand in front of the process that they are of.
      if (!has_instance_) fields_.begin_process();
      has_instance_ = true;
    } else if (is_in_processes && name == "process_id") {
      if (!has_instance_) fields_.begin_process();
      has_instance_ = false;
    } else if (name == "processes" && path_.empty()) {
      if (!has_value) fields_.list_processes();
    } else if (name == "mig_device" && !has_value) {
      fields_.begin_mig();
    }
    path_.push_back({indent, name});
    if (!has_value) return;
    std::string path;
    for (const Level& level : path_) {
      const bool is_mig = &level == &path_[0] && level.name == "mig_device";
      if (!is_mig) path += (path.empty() ? "" : "/") + level.name;
    }
    if (fields_.is_in_gpu()) {
      fields_.leaf(path, value, offset_);
    } else {
      fields_.log_leaf(path, value, offset_);
    }
  }
  void leave() {
    const bool is_outermost = path_.size() == 1;
    const std::string name = path_.back().name;
    path_.pop_back();
    if (!is_outermost) return;
    if (name == "processes") {
      fields_.end_process();
      has_instance_ = false;
    }
    if (name == "mig_device") fields_.end_mig();
  }

  LogBuilder& log_;
  TreeFields fields_;
  std::vector<Level> path_;  // below the GPU
  bool is_in_log_ = false;
  bool has_instance_ = false;  // of a process whose number is to come
  std::int64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Parser> q_parser(LogBuilder& log) {
  log.add_part("q");
  return std::make_unique<QParser>(log);
}

}  // namespace vramscope::nvidia_smi
