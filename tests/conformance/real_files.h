#pragma once
// The files in ../shared/real that other people's tools wrote, for tests that read them where they lie.
#include <filesystem>
#include <string>
#include <vector>

namespace vramscope::test {

// VRAMSCOPE_REAL, or shared/real beside the repository; empty when neither is there.
std::filesystem::path real_folder();
// Files of one kind ("kineto_trace"), sorted by name; empty without the folder.
std::vector<std::filesystem::path> real_files(const std::string& kind);
// Names of the kinds (the sub-folders).
std::vector<std::string> real_kinds();

std::string read_bytes(const std::filesystem::path& path);
// The text of a file, decompressed the way readers get it; at most `limit` bytes.
std::string decompressed(const std::string& bytes, std::size_t limit = static_cast<std::size_t>(-1));

}  // namespace vramscope::test
