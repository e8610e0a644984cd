#pragma once
// Makes the /proc and /sys of a machine from a description in tests/roots/drm; build_tree.py there says how they read.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace vramscope {

class DrmTree : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("vramscope_drm_" + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override {
    // What a test made unreadable must be removable.
    for (const auto& folder : locked_) std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(root_);
  }

  void build(const std::string& name) {
    std::ifstream description(std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/roots/drm/" + name + ".tree");
    ASSERT_TRUE(description) << name;
    std::filesystem::path folder = root_;
    for (std::string line; std::getline(description, line);) {
      if (line.empty() || line[0] == '#') continue;
      if (line.starts_with("@ ")) {
        folder = root_ / line.substr(2);
        continue;
      }
      const std::size_t first = line.find(' ');
      const std::size_t second = line.find(' ', first + 1);
      const std::filesystem::path path = folder / line.substr(0, first);
      const std::string mark = line.substr(first + 1, second - first - 1);
      const std::string rest = second == line.npos ? "" : line.substr(second + 1);
      std::filesystem::create_directories(path.parent_path());
      if (mark == "->") {
        std::filesystem::create_symlink(rest, path);
      } else if (mark == "::") {
        std::ofstream(path, std::ios::binary) << bytes_of(rest);
      } else if (mark == "=") {
        const std::string text = unescaped(rest);
        std::ofstream(path) << text << (text.ends_with('\0') ? "" : "\n");
      } else {
        ASSERT_EQ(mark, "<<") << line;
        std::ofstream file(path);
        for (std::string more; std::getline(description, more) && more != ">>";) file << unescaped(more) << '\n';
      }
    }
  }
  // Writes a file anew, in place, as the kernel's own change.
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string read(const std::string& path) const {
    std::stringstream text;
    text << std::ifstream(root_ / path).rdbuf();
    return text.str();
  }
  void replace(const std::string& path, const std::string& from, const std::string& to) {
    std::string text = read(path);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << path << ": " << from;
    write(path, text.replace(at, from.size(), to));
  }
  void lock(const std::string& path) {
    std::filesystem::permissions(root_ / path, std::filesystem::perms::none);
    locked_.push_back(root_ / path);
  }
  std::string device() const { return "drm:" + root_.string(); }

  std::filesystem::path root_;
  std::vector<std::filesystem::path> locked_;

 private:
  static std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\\';
      if (next == '\\') {
        plain += text[i];
        continue;
      }
      plain += next == 'n' ? '\n' : next == 't' ? '\t' : '\0';
      ++i;
    }
    return plain;
  }
  static std::string bytes_of(const std::string& words) {
    std::string bytes;
    std::stringstream parts(words);
    for (std::string part; parts >> part;) {
      if (part[0] == '*') {
        bytes.append(std::stoul(part.substr(1)) - 1, bytes.back());
      } else {
        bytes += static_cast<char>(std::stoul(part, nullptr, 16));
      }
    }
    return bytes;
  }
};

}  // namespace vramscope
