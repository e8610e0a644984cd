#include "real_files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "import/byte_stream.h"

namespace vramscope::test {

namespace fs = std::filesystem;

fs::path real_folder() {
  const char* chosen = std::getenv("VRAMSCOPE_REAL");
  const fs::path folder = chosen != nullptr ? fs::path(chosen) : fs::path(VRAMSCOPE_SOURCE_DIR) / "../shared/real";
  return fs::is_directory(folder) ? fs::canonical(folder) : fs::path();
}

namespace {

std::vector<fs::path> sorted_entries(const fs::path& folder, bool want_folders) {
  std::vector<fs::path> found;
  if (folder.empty() || !fs::is_directory(folder)) return found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (want_folders ? entry.is_directory() : entry.is_regular_file()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<fs::path> real_files(const std::string& kind) {
  const fs::path folder = real_folder();
  return folder.empty() ? std::vector<fs::path>() : sorted_entries(folder / kind, false);
}

std::vector<std::string> real_kinds() {
  std::vector<std::string> kinds;
  for (const fs::path& folder : sorted_entries(real_folder(), true)) kinds.push_back(folder.filename().string());
  return kinds;
}

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string decompressed(const std::string& bytes, std::size_t limit) {
  const std::unique_ptr<ByteStream> stream = memory_stream(bytes, bytes.size() + 1);
  std::string text;
  std::string block(256 * 1024, '\0');
  while (text.size() < limit) {
    const std::size_t got = stream->read(block.data(), std::min(block.size(), limit - text.size()));
    if (got == 0) break;
    text.append(block, 0, got);
  }
  return text;
}

}  // namespace vramscope::test
