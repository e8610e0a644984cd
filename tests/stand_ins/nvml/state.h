#pragma once
// What the stand-in's devices show: read from the script that VRAMSCOPE_STAND_IN names (see README.md).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stand_in {

// A value that rises by `step` at every reading and falls back after so many.
struct Sway {
  long long step = 0;
  long long readings = 1;
  long long at = 0;
  long long next() { return step * (at++ % readings); }
};

struct Process {
  char type = 'C';
  unsigned pid = 0;
  std::uint64_t used = 0;
  unsigned gpu_instance = 0xFFFFFFFF, compute_instance = 0xFFFFFFFF;
  Sway sway;  // on top of used
};

struct Share {
  unsigned pid = 0, sm = 0, memory = 0, encoder = 0, decoder = 0, jpeg = 0, ofa = 0;
};

struct Accounted {
  unsigned pid = 0, gpu = 0, memory = 0;
  unsigned long long max_memory = 0, time_ms = 0;
  unsigned is_running = 0;
};

struct Clocks {
  unsigned memory = 0;
  std::vector<unsigned> graphics;
};

struct Device {
  int gpu = 0;  // index of the GPU, also of a MIG device's GPU
  bool is_mig = false;
  std::map<std::string, long long> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, long long> ramps;                     // added at every reading
  std::map<std::string, Sway> sways;                          // on top of the number
  std::map<std::pair<unsigned, unsigned>, long long> fields;  // by id and scope
  std::vector<Process> processes;
  std::vector<Share> shares;
  std::vector<Accounted> accounted;
  std::vector<Clocks> clocks;
  std::map<int, std::vector<unsigned>> samples;  // by kind
  std::vector<Device> migs;
  std::vector<long long> xids;  // not delivered yet
  long long lost_after = -1;    // calls
  long long calls = 0;
};

struct State {
  std::string driver = "590.48.01";
  int cuda = 13010;
  std::vector<Device> gpus;
  std::map<std::pair<std::string, int>, int> errors;  // by function and GPU, -1: every GPU and none
  std::map<unsigned, std::string> names;              // of processes
  std::map<std::string, long long> latency_us;
  std::map<std::string, long long> counts;
  unsigned long long clock_us = 1'000'000;  // moves at every list of shares
  bool is_started = false;
};

State& state();
// Reads the script; called by nvmlInit.
void load();
// A line of a script for the last GPU, while the library is open.
void add(const char* line);
// At nvmlShutdown: the counts, to the file that VRAMSCOPE_STAND_IN_COUNTS names.
void save_counts();

// To be called first by every function: counts, waits, and tells the code that the function is to return, 0 for none.
int enter(const char* function, Device* device);
std::optional<long long> number(Device& device, const std::string& key);

}  // namespace stand_in
