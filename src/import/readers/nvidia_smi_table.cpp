// The table that `nvidia-smi` prints, once or in a loop, also as people paste it.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  return layout_of(head) == Layout::table;
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  return read_log(Layout::table, "nvidia_smi_table", stream, path, progress);
}

}  // namespace

Reader reader_nvidia_smi_table() {
  return {"nvidia_smi_table", N_("Tables of `nvidia-smi`"), 44, claims, read};
}

}  // namespace vramscope
