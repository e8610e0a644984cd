#include "look.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "import/reader.h"
#include "report/findings.h"
#include "report/info.h"
#include "report/memory.h"
#include "report/ops_report.h"

namespace vramscope {

namespace {

void report_ops(const Source& source, std::size_t choice) {
  OpQuery query;
  query.all_rows = choice % 7 == 0;
  query.by_shape = choice % 5 == 1;
  query.by_stack = choice % 5 == 2;
  query.by_step = choice % 5 == 3;
  query.by_annotation = choice % 5 == 4;
  const OpsResult result = analyse_ops(source, query, choice % 3 == 0, std::nullopt);
  ops_text(result, query, 20);
}

void report_memory(const Case& input, std::size_t choice) {
  MemoryOptions options;
  constexpr LiveBy kWays[] = {LiveBy::op, LiveBy::stack, LiveBy::step};
  if (choice % 4 != 0) options.by = kWays[choice % 4 - 1];
  if (choice % 5 == 0) options.at = parse_moment("end");
  constexpr const char* kHeldBy[] = {"stack", "frame", "stream", "pool", "size", "category", "context"};
  constexpr const char* kMoments[] = {"snapshot", "peak", "end", "oom", "oom:1", "entry:1", "1ms"};
  options.snapshot.by = parse_held_by(kHeldBy[choice % 7]);
  options.snapshot.at = parse_snapshot_moment(kMoments[choice % 11 % 7]);
  options.points = 1 + choice % 50;
  memory_json(input, options);
  memory_text(input, options);
}

void look_at_everything(const Case& input, std::size_t choice) {
  info_json(input);
  info_text(input);
  report_ops(input.sources.front(), choice);
  report_memory(input, choice);
  const Verdicts verdicts = diagnose(input);
  for (const Finding& finding : verdicts.findings) {
    // A confidence outside its range would be a wrong sum somewhere.
    if (!(finding.confidence >= 0 && finding.confidence <= 1)) std::abort();
  }
  findings_json(input, verdicts);
  findings_text(input, verdicts);
}

}  // namespace

void look(std::string_view reader_name, const std::uint8_t* data, std::size_t size, int copies) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = size % 5 == 0 ? 1 : (size % 5 == 1 ? 13 : 65536);
  for (const Reader& reader : readers()) {
    if (reader_name != reader.name) continue;
    Case input;
    for (int i = 0; i < copies; ++i) {
      const std::unique_ptr<ByteStream> stream = memory_stream(bytes, piece);
      Result<Source> source = reader.read(*stream, "input", {});
      if (!source) return;
      input.sources.push_back(std::move(*source));
    }
    look_at_everything(input, size);
  }
}

}  // namespace vramscope
