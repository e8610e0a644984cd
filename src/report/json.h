#pragma once
// Writes JSON for machines: integers exact, text always valid UTF-8 (bad bytes become U+FFFD) with every control
// character escaped, never in the user's language. One object a call of a verb, then a newline.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace vramscope {

class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(double number);  // NaN and infinities become null
  JsonWriter& value(bool flag);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& null();

  template <typename T>
  JsonWriter& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }
  // Writes nothing when the value is unknown.
  template <typename T>
  JsonWriter& member(std::string_view name, const std::optional<T>& what) {
    if (what) key(name).value(*what);
    return *this;
  }
  // The text so far, with a newline at the end.
  std::string text() const;

 private:
  void write_text(std::string_view text);

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace vramscope
