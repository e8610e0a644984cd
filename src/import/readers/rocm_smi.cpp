// What rocm-smi prints of AMD's GPUs.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "import/readers/rocm_smi/parser.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  return has_line(head, rocm_smi::is_rocm_line);
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  LogBuilder log;
  return read_lines(log, *rocm_smi::rocm_parser(log), {"rocm_smi", "rocm-smi"}, stream, path, progress);
}

}  // namespace

Reader reader_rocm_smi() {
  return {"rocm_smi", N_("Output of `rocm-smi`"), 40, claims, read};
}

}  // namespace vramscope
