// Texts that hold several layouts of nvidia-smi's output, as scripts gather them for a bug report.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  return layout_of(head) == Layout::bundle;
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  return read_log(Layout::bundle, "nvidia_smi_bundle", stream, path, progress);
}

}  // namespace

Reader reader_nvidia_smi_bundle() {
  return {"nvidia_smi_bundle", N_("Several outputs of nvidia-smi in one text"), 46, claims, read};
}

}  // namespace vramscope
