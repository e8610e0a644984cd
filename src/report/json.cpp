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
JsonWriter& JsonWriter::key(std::string_view name) {
  const std::string valid = valid_utf8(name);
  writer_.Key(valid.data(), static_cast<rapidjson::SizeType>(valid.size()), true);
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
  const std::string valid = valid_utf8(text);
  writer_.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()), true);
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
