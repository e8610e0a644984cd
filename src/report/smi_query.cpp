#include "report/smi_query.h"

#include <ctime>

#include "fmt/format.h"
#include "report/smi_walk.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::size_t kIndent = 4;
// Where the colon stands; in the list of processes it was left where it had been before names grew longer.
constexpr std::size_t kColon = 55, kNarrowColon = 42;

void append_line(std::string& out, std::size_t level, std::size_t colon, std::string_view name,
                 std::string_view value) {
  const std::size_t begin = out.size();
  out.append(level * kIndent, ' ');
  out += name;
  const std::size_t written = out.size() - begin;
  if (written < colon) out.append(colon - written, ' ');
  out += ": ";
  out += value;
  out += '\n';
}

class TextWriter : public SmiWriter {
 public:
  explicit TextWriter(std::string& out) : out_(out) {}

  bool shows(const SmiNode&) const override { return true; }
  void line(const SmiNode& node, std::string_view value) override {
    if (node.text.empty()) return;
    append_line(out_, level_ + (node.is_deeper ? 1 : 0), colon_, node.text, printable(value));
  }
  void begin(const SmiNode& node) override {
    if (!node.text.empty()) {
      out_.append(level_ * kIndent, ' ');
      out_ += node.text;
      out_ += '\n';
      ++level_;
    }
    if (node.is_narrow) colon_ = kNarrowColon;
  }
  void begin_value(const SmiNode& node, std::string_view value) override {
    line(node, value);
    ++level_;
  }
  void end(const SmiNode& node) override {
    if (!node.text.empty()) --level_;
    if (node.is_narrow) colon_ = kColon;
  }
  void empty_list(const SmiNode& node) override { line(node, "None"); }
  SmiPrint print_of(const SmiNode& node) const override { return node.print; }

 private:
  std::string& out_;
  std::size_t level_ = 1;
  std::size_t colon_ = kColon;
};

}  // namespace

std::string smi_moment(std::int64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:>2} {:02}:{:02}:{:02} {}", kDays[local.tm_wday], kMonths[local.tm_mon], local.tm_mday,
                     local.tm_hour, local.tm_min, local.tm_sec, local.tm_year + 1900);
}

void append_smi_query_head(std::string& out, const SmiMachineFacts& machine) {
  out += "\n==============NVSMI LOG==============\n\n";
  append_line(out, 0, kColon, kSmiTime.text, smi_moment(machine.unix_ns));
  append_line(out, 0, kColon, kSmiDriver.text, printable(machine.driver));
  append_line(out, 0, kColon, kSmiCuda.text, printable(machine.cuda));
  out += '\n';
  append_line(out, 0, kColon, kSmiAttached.text, std::to_string(machine.gpu_count));
}

void append_smi_query_gpu(std::string& out, const SmiGpuFacts& facts, SmiDisplays displays) {
  out += "GPU ";
  out += printable(facts.gpu->text(Metric::pci_bus_id));
  out += '\n';
  TextWriter writer(out);
  walk_smi_tree(writer, facts, displays, false);
  out += '\n';
}

}  // namespace vramscope
