// The XML of `nvidia-smi -q -x`, version 13 of its schema, and a document type for it.
#include <algorithm>
#include <map>

#include "report/smi_query.h"
#include "report/smi_walk.h"
#include "text/utf8.h"

namespace vramscope {

namespace {

constexpr std::string_view kRoot = "nvidia_smi_log", kGpu = "gpu";

void append_escaped(std::string& out, std::string_view text) {
  for (const char letter : printable(text)) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  }
}

void append_tag(std::string& out, std::string_view element, bool is_end) {
  out += is_end ? "</" : "<";
  out += element;
  out += '>';
}

void append_leaf(std::string& out, std::size_t level, std::string_view element, std::string_view value) {
  out.append(level, '\t');
  append_tag(out, element, false);
  append_escaped(out, value);
  append_tag(out, element, true);
  out += '\n';
}

class XmlWriter : public SmiWriter {
 public:
  explicit XmlWriter(std::string& out) : out_(out) {}

  // Lists without an element of their own are their entries.
  bool shows(const SmiNode& node) const override { return !node.element.empty() || node.form == SmiForm::list; }
  void line(const SmiNode& node, std::string_view value) override {
    if (!node.element.empty()) append_leaf(out_, level_, node.element, value);
  }
  void begin(const SmiNode& node) override {
    if (node.element.empty()) return;
    out_.append(level_++, '\t');
    append_tag(out_, node.element, false);
    out_ += '\n';
  }
  void begin_value(const SmiNode& node, std::string_view) override { begin(node); }
  void end(const SmiNode& node) override {
    if (node.element.empty()) return;
    out_.append(--level_, '\t');
    append_tag(out_, node.element, true);
    out_ += '\n';
  }
  void empty_list(const SmiNode& node) override {
    begin(node);
    if (!node.words.empty()) {
      out_.append(level_, '\t');
      out_ += node.words;
      out_ += '\n';
    }
    end(node);
  }
  SmiPrint print_of(const SmiNode& node) const override {
    return node.xml_print == SmiPrint::none ? node.print : node.xml_print;
  }

 private:
  std::string& out_;
  std::size_t level_ = 2;
};

// What may stand in an element, over all places where it comes.
struct Content {
  std::vector<std::string> children;
  bool has_text = false;
};

class Dtd {
 public:
  Content& of(std::string_view element) {
    const auto [found, is_new] = contents_.try_emplace(std::string(element));
    if (is_new) order_.emplace_back(element);
    return found->second;
  }
  void add_child(std::string_view parent, std::string_view element) {
    std::vector<std::string>& children = of(parent).children;
    if (std::find(children.begin(), children.end(), element) == children.end()) children.emplace_back(element);
    of(element);
  }
  std::string text() const;

 private:
  std::map<std::string, Content> contents_;
  std::vector<std::string> order_;
};

// Every child may be missing or come again: which ones there are depends on the GPU.
std::string Dtd::text() const {
  std::string out;
  for (const std::string& element : order_) {
    const Content& content = contents_.at(element);
    std::string model = content.has_text || content.children.empty() ? "#PCDATA" : "";
    const bool is_mixed = !model.empty();
    for (const std::string& child : content.children) {
      if (!model.empty()) model += is_mixed ? " | " : ", ";
      model += child;
      if (!is_mixed) model += '*';
    }
    out += "<!ELEMENT " + element + " (" + model + ")" + (is_mixed && !content.children.empty() ? "*" : "") + ">\n";
  }
  return out + "<!ATTLIST gpu id CDATA #REQUIRED>\n";
}

// "N/A", a word of failure, or nothing but its entries.
bool may_be_words(const SmiNode& node) {
  return node.form == SmiForm::collapsing || node.form == SmiForm::list;
}

}  // namespace

std::string smi_dtd() {
  Dtd dtd;
  for (const SmiHeaderLine& line : {kSmiTime, kSmiDriver, kSmiCuda, kSmiAttached}) dtd.add_child(kRoot, line.element);
  dtd.add_child(kRoot, kGpu);
  std::vector<std::string_view> parents = {kGpu};  // by depth, of the nodes that have an element
  for (const SmiNode& node : smi_tree()) {
    parents.resize(std::min<std::size_t>(parents.size(), node.depth + std::size_t{1}));
    const std::string_view parent = parents.back();
    parents.push_back(node.element.empty() ? parent : node.element);
    if (node.element.empty()) continue;
    dtd.add_child(parent, node.element);
    if (may_be_words(node)) dtd.of(node.element).has_text = true;
  }
  return dtd.text();
}

void append_smi_xml_head(std::string& out, const SmiMachineFacts& machine, bool with_dtd) {
  out += "<?xml version=\"1.0\" ?>\n";
  out += with_dtd ? "<!DOCTYPE nvidia_smi_log [\n" + smi_dtd() + "]>\n"
                  : "<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n";
  out += "<nvidia_smi_log>\n";
  append_leaf(out, 1, kSmiTime.element, smi_moment(machine.unix_ns));
  append_leaf(out, 1, kSmiDriver.element, machine.driver);
  append_leaf(out, 1, kSmiCuda.element, machine.cuda);
  append_leaf(out, 1, kSmiAttached.element, std::to_string(machine.gpu_count));
}

void append_smi_xml_gpu(std::string& out, const SmiGpuFacts& facts) {
  out += "\t<gpu id=\"";
  append_escaped(out, facts.gpu->text(Metric::pci_bus_id));
  out += "\">\n";
  XmlWriter writer(out);
  walk_smi_tree(writer, facts, 0, true);
  out += "\t</gpu>\n\n";
}

void append_smi_xml_tail(std::string& out) {
  out += "</nvidia_smi_log>\n";
}

}  // namespace vramscope
