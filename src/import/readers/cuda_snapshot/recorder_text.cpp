// Values of any shape as text: user metadata, settings, pools.
#include "fmt/format.h"
#include "import/readers/cuda_snapshot/recorder.h"
#include "text/utf8.h"

namespace vramscope::pickle {

StringId Recorder::text_of(Value value) {
  value = store_.resolve(value);
  if (value.is_absent() || value == kNothing) return 0;
  if (value.is(Tag::text)) return to_trace(value.id());
  const bool is_container = value.is(Tag::object);
  if (is_container) {
    const auto known = texts_.find(value.payload());
    if (known != texts_.end()) return known->second;
  }
  std::string text;
  if (text_bytes_ < kMostTexts) write(value, text, 0);
  text_bytes_ += text.size();
  const StringId id = source_.trace.strings.intern(valid_utf8(text));
  if (is_container) texts_.emplace(value.payload(), id);
  return id;
}

// One line; what is longer than kMostText or nested too deeply ends in "…".
void Recorder::write(Value value, std::string& out, int depth) const {
  constexpr int kMostDepth = 8;
  constexpr std::string_view kMore = "\xe2\x80\xa6";
  value = store_.resolve(value);
  if (out.size() > kMostText || depth > kMostDepth) {
    out += kMore;
    return;
  }
  const bool is_dict = store_.is_dict(value);
  if (is_dict || store_.is_list(value)) {
    const bool is_tuple = store_.kind(value) == Kind::tuple;
    const Items items = store_.items(value);
    out += is_dict ? '{' : (is_tuple ? '(' : '[');
    for (std::uint32_t i = 0; i < items.size; ++i) {
      if (i > 0) out += is_dict && i % 2 == 1 ? ": " : ", ";
      write(items.data[i], out, depth + 1);
      if (out.size() > kMostText) break;
    }
    out += is_dict ? '}' : (is_tuple ? ')' : ']');
    return;
  }
  switch (value.tag()) {
    case Tag::integer:
      out += std::to_string(value.as_integer());
      break;
    case Tag::text: {
      const std::string_view text = store_.text_of(value);
      if (depth > 0) out += '"';
      out += text.substr(0, kMostText);
      if (depth > 0) out += '"';
      break;
    }
    case Tag::frame:
      out += source_.trace.strings.view(value.id());
      break;
    case Tag::number: {
      const Number& number = *store_.number_of(value);
      if (number.is_real) {
        out += fmt::format("{}", number.real);
      } else {
        out += fmt::format("{}{}", number.is_negative ? "-" : "", number.magnitude);
      }
      break;
    }
    case Tag::special:
      out += value == kTrue ? "True" : (value == kFalse ? "False" : (value == kNothing ? "None" : kMore));
      break;
    default:
      out += kMore;
      break;
  }
}

}  // namespace vramscope::pickle
