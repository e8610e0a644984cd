// Any bytes through the readers and everything that looks at what they keep. The input's length chooses the size of
// the pieces, so that joins between pieces are met everywhere.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/reader.h"
#include "rules/rule.h"

namespace {

void look_at_everything(vramscope::Case input) {
  const vramscope::Verdicts verdicts = vramscope::diagnose(input);
  for (const vramscope::Finding& finding : verdicts.findings) {
    // A confidence outside its range would be a wrong sum somewhere.
    if (!(finding.confidence >= 0 && finding.confidence <= 1)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = size % 5 == 0 ? 1 : (size % 5 == 1 ? 13 : 65536);
  for (const vramscope::Reader& reader : vramscope::readers()) {
    const std::unique_ptr<vramscope::ByteStream> stream = vramscope::memory_stream(bytes, piece);
    vramscope::Result<vramscope::Source> source = reader.read(*stream, "input", {});
    if (!source) continue;
    vramscope::Case input;
    input.sources.push_back(std::move(*source));
    look_at_everything(std::move(input));
  }
  return 0;
}
