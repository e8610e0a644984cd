// CSV of `nvidia-smi --query-gpu` and --query-compute-apps, once or in a loop, and home-made logs that imitate it.
#include "import/reader.h"
#include "import/readers/nvidia_smi/read.h"
#include "reader_table.h"
#include "text/catalogue.h"

namespace vramscope {

namespace {

using namespace nvidia_smi;

bool claims(const Head& head) {
  const Layout layout = layout_of(head);
  return layout == Layout::csv || layout == Layout::headerless_csv;
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  return read_log(Layout::csv, "nvidia_smi_csv", stream, path, progress);
}

}  // namespace

Reader reader_nvidia_smi_csv() {
  return {"nvidia_smi_csv", N_("CSV of `nvidia-smi --query-gpu` or --query-compute-apps, and imitations of it"), 41,
          claims, read};
}

}  // namespace vramscope
