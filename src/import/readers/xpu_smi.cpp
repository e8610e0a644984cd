// What `xpu-smi dump` prints of Intel's GPUs.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "import/readers/rocm_smi/parser.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  return has_line(head, rocm_smi::is_xpu_header);
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  LogBuilder log;
  return read_lines(log, *rocm_smi::xpu_parser(log), {"xpu_smi", "xpu-smi"}, stream, path, progress);
}

}  // namespace

Reader reader_xpu_smi() {
  return {"xpu_smi", N_("Log of `xpu-smi dump`"), 39, claims, read};
}

}  // namespace vramscope
