// `nvidia-smi -q -x`: elements of one document, or of several behind each other. A reader of our own for the little of
// XML that it uses: no entities but the five and numbers, no external parts; a document type is passed over.
#include <charconv>

#include "import/readers/nvidia_smi/parser.h"
#include "import/readers/nvidia_smi/tree_fields.h"
#include "import/readers/nvidia_smi/tree_paths.h"

namespace vramscope::nvidia_smi {

namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestTag = std::size_t{1} << 16;  // also of comments and texts

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// "&#65;" and "&#x41;" without "&#" and ";".
std::optional<std::uint32_t> character_code(std::string_view digits) {
  const bool is_hex = !digits.empty() && (digits[0] == 'x' || digits[0] == 'X');
  if (is_hex) digits.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
  if (!is_whole || code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return std::nullopt;
  return code;
}

std::string decoded(std::string_view text) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find('&'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const std::size_t end = text.substr(0, 12).find(';');
    const std::string_view name = end == text.npos ? std::string_view() : text.substr(1, end - 1);
    const std::size_t before = out.size();
    if (!name.empty() && name[0] == '#') {
      if (const auto code = character_code(name.substr(1))) append_utf8(out, *code);
    }
    for (const auto& [known, character] : kNamed) {
      if (name == known) out += character;
    }
    const bool is_known = out.size() != before;
    if (!is_known) out += '&';
    text.remove_prefix(is_known ? end + 1 : 1);
  }
  return out;
}

class XmlParser : public Parser {
 public:
  explicit XmlParser(LogBuilder& log) : log_(log), fields_(log) {}

  void feed(const Line& line) override {
    offset_ = line.offset;
    rest_ += line.text;
    if (line.has_end) rest_ += '\n';
    std::size_t at = 0;
    while (step(at)) {
    }
    rest_.erase(0, at);
    if (rest_.size() > kLongestTag) {
      log_.note("malformed_xml", offset_);
      rest_.clear();
    }
  }
  void end() override {
    if (!path_.empty()) {
      log_.note("cut_xml", offset_);
      // The text of the element in which it ends may be half of itself.
      text_.clear();
      path_.clear();
      fields_.end_log();
    } else if (!trimmed(rest_).empty()) {
      log_.note("cut_xml", offset_);
    }
    rest_.clear();
  }

 private:
  struct Element {
    std::string name;
    bool has_children = false;
  };

  // Passes over one piece of markup or text; false when it is not whole yet.
  bool step(std::size_t& at) {
    const std::string_view text = std::string_view(rest_).substr(at);
    if (text.empty()) return false;
    const auto skip_to = [&](std::string_view mark) {
      const std::size_t end = text.find(mark);
      if (end == text.npos) return false;
      at += end + mark.size();
      return true;
    };
    if (text[0] != '<') {
      const std::size_t size = std::min(text.find('<'), text.size());
      if (text_.size() + size <= kLongestTag) text_ += text.substr(0, size);
      at += size;
      return true;
    }
    if (text.substr(0, 4) == "<!--") return skip_to("-->");
    if (text.size() < 4 && std::string_view("<!--").substr(0, text.size()) == text) return false;
    if (text.substr(0, 2) == "<?") return skip_to("?>");
    if (text.substr(0, 9) == "<![CDATA[") return take_cdata(text, at);
    if (text.substr(0, 2) == "<!") return skip_declaration(text, at);
    const std::size_t end = text.find('>');
    if (end == text.npos) return false;
    take_tag(text.substr(1, end - 1));
    at += end + 1;
    return true;
  }
  bool take_cdata(std::string_view text, std::size_t& at) {
    const std::size_t end = text.find("]]>");
    if (end == text.npos) return false;
    for (const char c : text.substr(9, end - 9)) {
      // Kept from being decoded below.
      if (c == '&') {
        text_ += "&amp;";
      } else {
        text_ += c;
      }
    }
    at += end + 3;
    return true;
  }
  // "<!DOCTYPE nvidia_smi_log SYSTEM "…">", with an internal part in brackets or without.
  static bool skip_declaration(std::string_view text, std::size_t& at) {
    const std::size_t bracket = text.find('[');
    std::size_t end = text.find('>');
    if (end != text.npos && bracket < end) {
      const std::size_t close = text.find(']', bracket);
      end = close == text.npos ? text.npos : text.find('>', close);
    }
    if (end == text.npos) return false;
    at += end + 1;
    return true;
  }
  void take_tag(std::string_view tag) {
    if (!tag.empty() && tag[0] == '/') return close(path_name(trimmed(tag.substr(1))));
    const bool is_empty = !tag.empty() && tag.back() == '/';
    if (is_empty) tag.remove_suffix(1);
    const std::size_t name_end = std::min(tag.find_first_of(" \t\r\n"), tag.size());
    const std::string name = path_name(tag.substr(0, name_end));
    open(name, tag.substr(name_end));
    if (is_empty) close(name);
  }

  void open(const std::string& name, std::string_view attributes) {
    if (name == "nvidia_smi_log") {
      // Behind one that was cut another may begin.
      if (!path_.empty()) log_.note("cut_xml", offset_);
      path_.clear();
      fields_.begin_log();
    } else if (path_.empty()) {
      return;  // outside of any log
    }
    if (path_.size() >= kDeepest) {
      ++too_deep_;
      return log_.note("too_deep", offset_);
    }
    if (!path_.empty()) path_.back().has_children = true;
    path_.push_back({name, false});
    text_.clear();
    if (path_.size() == 2 && name == "gpu") {
      const std::size_t quote = attributes.find('"');
      const std::size_t end = quote == attributes.npos ? quote : attributes.find('"', quote + 1);
      fields_.begin_gpu(end == attributes.npos ? std::string_view() : attributes.substr(quote + 1, end - quote - 1));
    } else if (name == "mig_device") {
      fields_.begin_mig();
      mig_depth_ = path_.size();
    } else if (name == "process_info") {
      fields_.list_processes();
      fields_.begin_process();
    }
  }

  std::string path_below(std::size_t depth) const {
    std::string path;
    for (std::size_t i = depth; i < path_.size(); ++i) path += (path.empty() ? "" : "/") + path_[i].name;
    return path;
  }

  void close(const std::string& name) {
    if (too_deep_ > 0) {
      --too_deep_;
      return;
    }
    std::size_t depth = path_.size();
    while (depth > 0 && path_[depth - 1].name != name) --depth;
    if (depth == 0) {
      if (!path_.empty()) log_.note("malformed_xml", offset_);
      return;
    }
    if (depth != path_.size()) log_.note("malformed_xml", offset_);
    while (path_.size() > depth) leave();
    if (!path_.back().has_children) take_leaf();
    leave();
  }
  void take_leaf() {
    const std::string text = decoded(trimmed(text_));
    if (path_.size() == 2 && path_[1].name != "gpu") return fields_.log_leaf(path_[1].name, text, offset_);
    const std::string& name = path_.back().name;
    if (!fields_.is_in_gpu() || name == "mig_devices" || name == "accounted_processes" || path_.size() < 3) return;
    fields_.leaf(path_below(mig_depth_ > 0 ? mig_depth_ : 2), text, offset_);
  }
  void leave() {
    const std::string& name = path_.back().name;
    if (name == "process_info") fields_.end_process();
    if (name == "mig_device") {
      fields_.end_mig();
      mig_depth_ = 0;
    }
    if (name == "gpu" && path_.size() == 2) fields_.end_gpu();
    if (path_.size() == 1) fields_.end_log();
    path_.pop_back();
    text_.clear();
  }

  LogBuilder& log_;
  TreeFields fields_;
  std::string rest_;
  std::string text_;  // of the innermost element
  std::vector<Element> path_;
  std::size_t mig_depth_ = 0;
  std::size_t too_deep_ = 0;
  std::int64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Parser> xml_parser(LogBuilder& log) {
  log.add_part("xml");
  return std::make_unique<XmlParser>(log);
}

}  // namespace vramscope::nvidia_smi
