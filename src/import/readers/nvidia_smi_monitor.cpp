// `nvidia-smi dmon` and `nvidia-smi pmon`.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  return layout_of(head) == Layout::monitor;
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  return read_log(Layout::monitor, "nvidia_smi_monitor", stream, path, progress);
}

}  // namespace

Reader reader_nvidia_smi_monitor() {
  return {"nvidia_smi_monitor", N_("Log of `nvidia-smi dmon` or pmon"), 45, claims, read};
}

}  // namespace vramscope
