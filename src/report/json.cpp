#include "report/json.h"

#include <cmath>

#include "text/utf8.h"

namespace vramscope {

JsonWriter& JsonWriter::begin_object() {
  writer_.StartObject();
  return *this;
}
JsonWriter& JsonWriter::end_object() {
  writer_.EndObject();
  return *this;
}
JsonWriter& JsonWriter::begin_array() {
  writer_.StartArray();
  return *this;
}
JsonWriter& JsonWriter::end_array() {
  writer_.EndArray();
  return *this;
}
namespace {

// DEL and the C1 controls stand for themselves in JSON, but a terminal that shows it would obey them.
bool has_late_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x7f') return true;
    if (text[i] == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

// The JSON text of valid UTF-8, quotes included.
std::string escaped_json(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  const auto add_code = [&](unsigned code) {
    out += "\\u00";
    out += kDigits[code >> 4U];
    out += kDigits[code & 0xFU];
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte < 0x20 || byte == 0x7f) {
      add_code(byte);
    } else if (byte == 0xc2 && next < 0xa0) {
      add_code(next);
      ++i;
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += text[i];
    }
  }
  return out + "\"";
}

}  // namespace

void JsonWriter::write_text(std::string_view text) {
  const std::string valid = valid_utf8(text);
  if (has_late_control(valid)) {
    const std::string escaped = escaped_json(valid);
    writer_.RawValue(escaped.data(), escaped.size(), rapidjson::kStringType);
  } else {
    writer_.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()), true);
  }
}

JsonWriter& JsonWriter::key(std::string_view name) {
  write_text(name);
  return *this;
}
JsonWriter& JsonWriter::value(std::int64_t number) {
  writer_.Int64(number);
  return *this;
}
JsonWriter& JsonWriter::value(double number) {
  if (std::isfinite(number)) {
    writer_.Double(number);
  } else {
    writer_.Null();
  }
  return *this;
}
JsonWriter& JsonWriter::value(bool flag) {
  writer_.Bool(flag);
  return *this;
}
JsonWriter& JsonWriter::value(std::string_view text) {
  write_text(text);
  return *this;
}
JsonWriter& JsonWriter::null() {
  writer_.Null();
  return *this;
}

std::string JsonWriter::text() const {
  std::string out(buffer_.GetString(), buffer_.GetSize());
  out += '\n';
  return out;
}

}  // namespace vramscope
