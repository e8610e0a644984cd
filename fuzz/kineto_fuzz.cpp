// Any bytes through the readers and everything that looks at what they keep. The input's length chooses the size of
// the pieces and the options, so that all of them are met.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/reader.h"
#include "report/findings.h"
#include "report/info.h"
#include "report/memory.h"
#include "report/ops_report.h"

namespace {

using vramscope::Case;
using vramscope::Source;

// `choice` picks among the ways to group, so that all are met without each input paying for each.
void report_ops(const Source& source, std::size_t choice) {
  vramscope::OpQuery query;
  query.all_rows = choice % 7 == 0;
  query.by_shape = choice % 5 == 1;
  query.by_stack = choice % 5 == 2;
  query.by_step = choice % 5 == 3;
  query.by_annotation = choice % 5 == 4;
  const vramscope::OpsResult result = vramscope::analyse_ops(source, query, choice % 3 == 0, std::nullopt);
  vramscope::ops_text(result, query, 20);
}

void report_memory(const Case& input, std::size_t choice) {
  vramscope::MemoryOptions options;
  constexpr vramscope::LiveBy kWays[] = {vramscope::LiveBy::op, vramscope::LiveBy::stack, vramscope::LiveBy::step};
  if (choice % 4 != 0) options.by = kWays[choice % 4 - 1];
  if (choice % 5 == 0) options.at = vramscope::parse_moment("end");
  options.points = 1 + choice % 50;
  vramscope::memory_json(input, options);
  vramscope::memory_text(input, options);
}

void look_at_everything(const Case& input, std::size_t choice) {
  vramscope::info_json(input);
  vramscope::info_text(input);
  report_ops(input.sources.front(), choice);
  report_memory(input, choice);
  const vramscope::Verdicts verdicts = vramscope::diagnose(input);
  for (const vramscope::Finding& finding : verdicts.findings) {
    // A confidence outside its range would be a wrong sum somewhere.
    if (!(finding.confidence >= 0 && finding.confidence <= 1)) std::abort();
  }
  vramscope::findings_json(input, verdicts);
  vramscope::findings_text(input, verdicts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = size % 5 == 0 ? 1 : (size % 5 == 1 ? 13 : 65536);
  for (const vramscope::Reader& reader : vramscope::readers()) {
    const std::unique_ptr<vramscope::ByteStream> stream = vramscope::memory_stream(bytes, piece);
    vramscope::Result<Source> source = reader.read(*stream, "input", {});
    if (!source) continue;
    Case input;
    input.sources.push_back(std::move(*source));
    look_at_everything(input, size);
  }
  return 0;
}
