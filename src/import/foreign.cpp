#include "import/foreign.h"

#include "text/catalogue.h"

namespace vramscope {

const char* recognise_foreign(std::string_view head) {
  const auto starts = [&](std::string_view magic) { return head.substr(0, magic.size()) == magic; };
  if (starts("version https://git-lfs")) {
    return N_("{path} is a Git LFS pointer, not the file itself; run `git lfs pull` and try again.");
  }
  if (starts("SQLite format 3")) {
    return N_(
        "{path} is an SQLite database, perhaps an Nsight Systems export, which this version cannot read; give it "
        "a PyTorch Profiler trace.");
  }
  // Every .nsys-rep and .qdrep carries this product name near its start.
  if (head.substr(0, 4096).find("NVIDIA Nsight") != std::string_view::npos ||
      head.substr(0, 4096).find("QuadDReport") != std::string_view::npos) {
    return N_(
        "{path} is a closed Nsight Systems report; run `nsys export --type sqlite {path}` and give vramscope the "
        "database once this version reads it, or a PyTorch Profiler trace.");
  }
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return N_(
        "{path} is a Python pickle, perhaps a CUDA memory snapshot, which this version cannot read; give it a "
        "PyTorch Profiler trace.");
  }
  if (starts("PK\x03\x04")) return N_("{path} is a zip archive; unpack it and give vramscope the files inside.");
  return nullptr;
}

}  // namespace vramscope
