#pragma once
// Reads the events of a trace on all cores. The text is cut into windows where an event seems to begin; each
// thread parses windows into batches; batches are merged in file order. A cut is a guess that the parse of the
// window before it confirms: where it was wrong, the rest of that window and the next one are parsed again as one.
#include <cstdint>
#include <memory>
#include <string_view>

#include "import/byte_stream.h"
#include "import/reader.h"
#include "import/readers/kineto/envelope.h"
#include "model/source.h"
#include "model/trace_builder.h"

namespace vramscope::kineto {

// What the events added up to.
struct EventTotals {
  std::int64_t events = 0;
  std::int64_t metadata_events = 0;
  std::int64_t first_ns = 0;  // before the base time is added; valid when has_time
  std::int64_t last_ns = 0;
  bool has_time = false;
  std::vector<CategoryCount> by_category;
  std::int64_t text_bytes = 0;   // where the text ended
  bool is_array_closed = false;  // the "]" was there
  std::int64_t too_large_events = 0;
  std::int64_t first_too_large = 0;  // its place in the text
};

// `first` is text that was read already, at `offset` of the text. What stands behind the events goes to `envelope`.
EventTotals read_events(ByteStream& stream, std::string_view first, std::int64_t offset, const Progress& progress,
                        Envelope& envelope, TraceBuilder& builder);

}  // namespace vramscope::kineto
