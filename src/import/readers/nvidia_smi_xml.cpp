// `nvidia-smi -q -x`, once or several documents behind each other.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  return layout_of(head) == Layout::xml;
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  return read_log(Layout::xml, "nvidia_smi_xml", stream, path, progress);
}

}  // namespace

Reader reader_nvidia_smi_xml() {
  return {"nvidia_smi_xml", N_("XML of `nvidia-smi -q -x`"), 42, claims, read};
}

}  // namespace vramscope
