#include "state.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace stand_in {

namespace {

constexpr int kUninitialized = 1;
constexpr int kGpuIsLost = 15;

std::string rest_of(std::istream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

// "12", "0x1FF", "-3"; a letter at the end for KiB, MiB, GiB.
long long parse(const std::string& text) {
  char* end = nullptr;
  // Hexadecimal numbers may have all 64 bits.
  const bool is_mask = text.rfind("0x", 0) == 0;
  const long long value =
      is_mask ? static_cast<long long>(std::strtoull(text.c_str(), &end, 0)) : std::strtoll(text.c_str(), &end, 0);
  switch (*end) {
    case 'K':
      return value << 10;
    case 'M':
      return value << 20;
    case 'G':
      return value << 30;
    default:
      return value;
  }
}

struct Loader {
  State& state;
  Device* device = nullptr;  // that lines apply to
  int copies = 1;

  Device& gpu() { return state.gpus.back(); }
  void finish_gpu();
  void device_line(const std::string& word, std::istream& words);
  bool list_line(const std::string& word, std::istream& words);
  void line(const std::string& text);
};

// `gpu 8` makes eight: other uuid, other bus, other pids.
void Loader::finish_gpu() {
  if (state.gpus.empty()) return;
  for (; copies > 1; --copies) {
    Device copy = gpu();
    copy.gpu = static_cast<int>(state.gpus.size());
    char text[64];
    std::snprintf(text, sizeof text, "GPU-00000000-0000-0000-0000-0000000000%02x", static_cast<unsigned>(copy.gpu));
    copy.texts["uuid"] = text;
    copy.numbers["pci.bus"] = copy.gpu + 1;
    for (Process& process : copy.processes) process.pid += 1000;
    for (Share& share : copy.shares) share.pid += 1000;
    for (Device& mig : copy.migs) mig.gpu = copy.gpu;
    state.gpus.push_back(copy);
  }
}

bool Loader::list_line(const std::string& word, std::istream& words) {
  std::vector<unsigned> numbers;
  if (word == "clocks") {
    Clocks clocks;
    words >> clocks.memory;
    for (unsigned number = 0; words >> number;) clocks.graphics.push_back(number);
    device->clocks.push_back(clocks);
    return true;
  }
  if (word == "samples") {
    int kind = 0;
    words >> kind;
    for (unsigned number = 0; words >> number;) numbers.push_back(number);
    device->samples[kind] = numbers;
    return true;
  }
  return false;
}

void Loader::device_line(const std::string& word, std::istream& words) {
  std::string a, b;
  if (word == "text") {
    words >> a;
    device->texts[a] = rest_of(words);
  } else if (word == "set" || word == "ramp") {
    words >> a >> b;
    (word == "set" ? device->numbers : device->ramps)[a] = parse(b);
  } else if (word == "sway") {
    Sway sway;
    words >> a >> b >> sway.readings;
    sway.step = parse(b);
    sway.readings = std::max(sway.readings, 1LL);
    const bool is_pid = a.find_first_not_of("0123456789") == a.npos;
    if (!is_pid) device->sways[a] = sway;
    for (Process& process : device->processes) {
      if (is_pid && process.pid == static_cast<unsigned>(parse(a))) process.sway = sway;
    }
  } else if (word == "field") {
    words >> a >> b;
    const std::size_t slash = a.find('/');
    const auto id = static_cast<unsigned>(parse(a.substr(0, slash)));
    const auto scope = slash == a.npos ? 0U : static_cast<unsigned>(parse(a.substr(slash + 1)));
    device->fields[{id, scope}] = parse(b);
  } else if (word == "process") {
    Process process;
    std::string gi, ci;
    words >> process.type >> process.pid >> a >> gi >> ci;
    process.used = a == "-" ? ~0ULL : static_cast<std::uint64_t>(parse(a));
    if (!gi.empty()) process.gpu_instance = static_cast<unsigned>(parse(gi));
    if (!ci.empty()) process.compute_instance = static_cast<unsigned>(parse(ci));
    device->processes.push_back(process);
  } else if (word == "share") {
    Share share;
    words >> share.pid >> share.sm >> share.memory >> share.encoder >> share.decoder >> share.jpeg >> share.ofa;
    device->shares.push_back(share);
  } else if (word == "accounted") {
    Accounted entry;
    words >> entry.pid >> entry.gpu >> entry.memory >> a >> entry.time_ms >> entry.is_running;
    entry.max_memory = a == "-" ? ~0ULL : static_cast<unsigned long long>(parse(a));
    device->accounted.push_back(entry);
  } else if (word == "xid") {
    words >> a;
    device->xids.push_back(parse(a));
  } else if (word == "lost") {
    words >> a;
    device->lost_after = parse(a);
  } else if (!list_line(word, words)) {
    std::fprintf(stderr, "stand-in: unknown line: %s\n", word.c_str());
    std::abort();
  }
}

void Loader::line(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('#')));
  std::string word, a, b, c;
  if (!(words >> word)) return;
  if (word == "driver") {
    words >> state.driver;
  } else if (word == "cuda") {
    words >> state.cuda;
  } else if (word == "error") {
    words >> a >> b >> c;
    state.errors[{a, b == "*" ? -1 : std::atoi(b.c_str())}] = std::atoi(c.c_str());
  } else if (word == "name") {
    unsigned pid = 0;
    words >> pid;
    state.names[pid] = rest_of(words);
  } else if (word == "latency") {
    words >> a >> b;
    state.latency_us[a] = parse(b);
  } else if (word == "gpu") {
    finish_gpu();
    words >> a;
    copies = a.empty() ? 1 : std::atoi(a.c_str());
    state.gpus.emplace_back();
    gpu().gpu = static_cast<int>(state.gpus.size()) - 1;
    device = &gpu();
  } else if (word == "mig") {
    gpu().migs.emplace_back();
    device = &gpu().migs.back();
    device->gpu = gpu().gpu;
    device->is_mig = true;
  } else if (device != nullptr) {
    device_line(word, words);
  }
}

int error_of(const State& now, const char* function, int gpu) {
  const auto found = now.errors.find({function, gpu});
  return found == now.errors.end() ? 0 : found->second;
}

}  // namespace

State& state() {
  static State instance;
  return instance;
}

void load() {
  State& now = state();
  now = State();
  const char* const path = std::getenv("VRAMSCOPE_STAND_IN");
  if (path == nullptr) return;
  std::ifstream file(path);
  Loader loader{now};
  for (std::string text; std::getline(file, text);) loader.line(text);
  loader.finish_gpu();
}

void add(const char* line) {
  State& now = state();
  if (now.gpus.empty()) return;
  Loader loader{now, &now.gpus.back()};
  loader.line(line);
}

void save_counts() {
  const char* const path = std::getenv("VRAMSCOPE_STAND_IN_COUNTS");
  if (path == nullptr) return;
  std::ofstream file(path);
  for (const auto& [name, count] : state().counts) file << name << ' ' << count << '\n';
}

int enter(const char* function, Device* device) {
  State& now = state();
  ++now.counts[function];
  const auto latency = now.latency_us.find(function);
  if (latency != now.latency_us.end()) std::this_thread::sleep_for(std::chrono::microseconds(latency->second));
  if (const int code = error_of(now, function, -1)) return code;
  if (!now.is_started) return kUninitialized;
  if (device == nullptr) return 0;
  Device& gpu = now.gpus[static_cast<std::size_t>(device->gpu)];
  ++gpu.calls;
  if (gpu.lost_after >= 0 && gpu.calls > gpu.lost_after) return kGpuIsLost;
  return error_of(now, function, device->gpu);
}

std::optional<long long> number(Device& device, const std::string& key) {
  const auto found = device.numbers.find(key);
  if (found == device.numbers.end()) return std::nullopt;
  long long value = found->second;
  const auto sway = device.sways.find(key);
  if (sway != device.sways.end()) value += sway->second.next();
  const auto ramp = device.ramps.find(key);
  if (ramp != device.ramps.end()) found->second += ramp->second;
  return value;
}

}  // namespace stand_in
