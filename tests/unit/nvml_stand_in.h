#pragma once
// Opens the management library without hardware (tests/stand_ins/nvml) with a script.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "devices/backend.h"

namespace vramscope {

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    script_ = std::filesystem::temp_directory_path() / ("vramscope_stand_in_" + std::to_string(getpid()));
    setenv("VRAMSCOPE_STAND_IN", script_.c_str(), 1);
    use("new");
  }
  void TearDown() override {
    std::filesystem::remove(script_);
    unsetenv("VRAMSCOPE_STAND_IN");
    unsetenv("VRAMSCOPE_NVML");
  }
  void use(const std::string& set) {
    library_ = std::string(VRAMSCOPE_STAND_INS) + "/" + set + "/libnvidia-ml.so.1";
    setenv("VRAMSCOPE_NVML", library_.c_str(), 1);
  }
  Result<std::unique_ptr<DeviceSource>> open(const std::string& script) {
    write(script);
    return open_devices("nvml");
  }
  void write(const std::string& script) { std::ofstream(script_) << script; }
  // A line for the last GPU of the open stand-in.
  void add_line(const char* line) {
    void* const handle = dlopen(library_.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    reinterpret_cast<void (*)(const char*)>(dlsym(handle, "stand_in_add"))(line);
    dlclose(handle);
  }
  // Calls of the open stand-in since it was started.
  long long total() const {
    void* const handle = dlopen(library_.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    const auto count = reinterpret_cast<long long (*)()>(dlsym(handle, "stand_in_total"));
    const long long calls = count();
    dlclose(handle);
    return calls;
  }
  long long calls(const char* function) const {
    void* const handle = dlopen(library_.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    const auto count = reinterpret_cast<long long (*)(const char*)>(dlsym(handle, "stand_in_calls"));
    const long long number = count(function);
    dlclose(handle);
    return number;
  }
  std::filesystem::path script_;
  std::string library_;
};

}  // namespace vramscope
