// `nvidia-smi -q`, once or in a loop.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  return layout_of(head) == Layout::q;
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  return read_log(Layout::q, "nvidia_smi_q", stream, path, progress);
}

}  // namespace

Reader reader_nvidia_smi_q() {
  return {"nvidia_smi_q", N_("Text of `nvidia-smi -q`"), 43, claims, read};
}

}  // namespace vramscope
