// What every reader must hold to, over the table of readers and the real files of each reader's kind: exactly one
// claims a file, pieces do not matter, and damage costs what is damaged and nothing else.
#include "import/reader.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "real_files.h"
#include "source_digest.h"

namespace vramscope::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlow = true;
#elif defined(__has_feature)
constexpr bool kSlow = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSlow = false;
#endif
constexpr std::size_t kHeadBytes = 256 * 1024;
// A damaged file may cost no more than this, whatever the damage.
constexpr std::chrono::seconds kMostPerFile{kSlow ? 60 : 10};

// Folders of the real files and the reader of each. A new reader adds its line.
const std::map<std::string, std::string>& reader_of_kind() {
  static const std::map<std::string, std::string> table = {{"kineto_trace", "kineto"},
                                                           {"cuda_snapshot", "cuda_snapshot"},
                                                           {"memory_timeline", "memory_timeline"},
                                                           {"nvidia_smi_csv", "nvidia_smi_csv"},
                                                           {"nvidia_smi_xml", "nvidia_smi_xml"},
                                                           {"nvidia_smi_q_text", "nvidia_smi_q"},
                                                           {"nvidia_smi_table", "nvidia_smi_table"},
                                                           {"nvidia_smi_dmon_pmon", "nvidia_smi_monitor"},
                                                           {"nvidia_smi_capture_bundle", "nvidia_smi_bundle"}};
  return table;
}

// Excerpts of threads that are logs of their own, among others that are none, and the reader of each.
const std::map<std::string, std::string>& reader_of_snippet() {
  static const std::map<std::string, std::string> table = {{"ctrl_c_not_freed_pytorch4031.txt", "nvidia_smi_table"},
                                                           {"gpu_requires_reset.txt", "nvidia_smi_csv"},
                                                           {"jetson_table_not_supported.txt", "nvidia_smi_table"},
                                                           {"mig_table_old_layout_nvitop8.txt", "nvidia_smi_table"},
                                                           {"rocm_smi_4411_and_90.txt", "rocm_smi"},
                                                           {"vgpu_host_q_cubecos903.txt", "nvidia_smi_q"},
                                                           {"vllm_wont_release_verifiers85.txt", "nvidia_smi_table"},
                                                           {"zombie_not_listed_nvtop70.txt", "nvidia_smi_table"}};
  return table;
}

// Real files that their reader claims and refuses whole: they are something else.
const std::vector<std::string>& refused_files() {
  static const std::vector<std::string> names = {"NOT_A_SNAPSHOT__peopleofdata.pickle"};
  return names;
}

// What damage may cost: events, and the blocks of a snapshot.
std::int64_t kept(const Source& source) {
  std::int64_t count = source.events;
  if (!source.memory_state) return count;
  for (const AllocatorDevice& device : source.memory_state->devices) {
    count += static_cast<std::int64_t>(device.blocks.size());
  }
  return count;
}

const Reader* reader_named(const std::string& name) {
  const std::vector<Reader>& all = readers();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Reader& reader) { return reader.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> claimants(const std::string& bytes) {
  const std::string head = decompressed(bytes, kHeadBytes);
  std::vector<std::string> names;
  for (const Reader& reader : readers()) {
    if (reader.claims(Head{head, head.size() < kHeadBytes})) names.push_back(reader.name);
  }
  return names;
}

struct Sample {
  const Reader* reader;
  std::string name;
  std::string bytes;  // as on disk
  std::string text;   // decompressed
};

// The real files whose text has at most `most_text` bytes, of every kind that has a reader.
std::vector<Sample> samples(std::size_t most_text) {
  std::vector<Sample> found;
  for (const auto& [kind, name] : reader_of_kind()) {
    for (const std::filesystem::path& path : real_files(kind)) {
      const std::vector<std::string>& refused = refused_files();
      if (std::find(refused.begin(), refused.end(), path.filename().string()) != refused.end()) continue;
      Sample sample{reader_named(name), path.filename().string(), read_bytes(path), {}};
      sample.text = decompressed(sample.bytes);
      if (sample.text.size() <= most_text) found.push_back(std::move(sample));
    }
  }
  return found;
}

// Reads bytes from memory; a refusal is an empty Source with no events.
Source read_from(const Reader& reader, const std::string& bytes, std::size_t piece = std::size_t{1} << 20) {
  const std::unique_ptr<ByteStream> stream = memory_stream(bytes, piece);
  const auto begin = std::chrono::steady_clock::now();
  Result<Source> result = reader.read(*stream, "memory", {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kMostPerFile) << "takes too long";
  if (!result) {
    EXPECT_FALSE(result.error().message.empty());
    return {};
  }
  EXPECT_EQ(broken_promise(*result), "");
  return std::move(*result);
}

#define SKIP_WITHOUT_REAL_FILES() \
  if (real_folder().empty()) GTEST_SKIP() << "no folder ../shared/real, and VRAMSCOPE_REAL names none"

TEST(Readers, PrioritiesAndNamesDiffer) {
  std::map<int, std::string> by_priority;
  std::map<std::string, int> by_name;
  for (const Reader& reader : readers()) {
    EXPECT_TRUE(by_priority.emplace(reader.priority, reader.name).second) << reader.name;
    EXPECT_TRUE(by_name.emplace(reader.name, reader.priority).second) << reader.name;
  }
  EXPECT_FALSE(by_name.empty());
  for (const auto& [kind, name] : reader_of_kind()) EXPECT_NE(reader_named(name), nullptr) << name;
}

TEST(Readers, ExactlyOneClaimsEachRealFile) {
  SKIP_WITHOUT_REAL_FILES();
  for (const auto& [kind, name] : reader_of_kind()) {
    ASSERT_FALSE(real_files(kind).empty()) << kind;
    for (const std::filesystem::path& path : real_files(kind)) {
      EXPECT_EQ(claimants(read_bytes(path)), std::vector<std::string>{name}) << path;
    }
  }
}

TEST(Readers, NoneClaimsForeignFiles) {
  SKIP_WITHOUT_REAL_FILES();
  // Chrome traces of other tools, which the Kineto reader may open.
  const std::vector<std::string> chrome_traces = {"kineto_inf_not_json_105.json.txt", "tfprofiler__trace_viewer.json",
                                                  "JACC_rocprof_results_chrome.json"};
  for (const std::string& kind : real_kinds()) {
    if (reader_of_kind().count(kind) != 0) continue;
    for (const std::filesystem::path& path : real_files(kind)) {
      const std::string name = path.filename().string();
      if (std::find(chrome_traces.begin(), chrome_traces.end(), name) != chrome_traces.end()) continue;
      const std::string bytes = read_bytes(path);
      if (const auto snippet = reader_of_snippet().find(name); snippet != reader_of_snippet().end()) {
        EXPECT_EQ(claimants(bytes), std::vector<std::string>{snippet->second}) << path;
        continue;
      }
      // The reader of logs takes any text that no other wants, and refuses what holds nothing for it.
      std::vector<std::string> names = claimants(bytes);
      const bool is_text = names == std::vector<std::string>{"memory_log"};
      if (is_text) names.clear();
      EXPECT_EQ(names, std::vector<std::string>{}) << path;
      if (is_text && name != "oom_messages.txt") {
        const auto stream = memory_stream(bytes, bytes.size());
        EXPECT_FALSE(read_source(*stream, name)) << path;
      }
    }
  }
}

TEST(Readers, PiecesDoNotMatter) {
  SKIP_WITHOUT_REAL_FILES();
  for (const Sample& sample : samples(kSlow ? 100'000 : 2'000'000)) {
    SCOPED_TRACE(sample.name);
    const Source whole = read_from(*sample.reader, sample.bytes);
    EXPECT_GT(kept(whole), 0);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
      EXPECT_EQ(digest(read_from(*sample.reader, sample.bytes, piece)), digest(whole)) << "pieces of " << piece;
    }
    EXPECT_EQ(kept(read_from(*sample.reader, sample.text, 1)), kept(whole)) << "decompressed text";
  }
}

// Cuts at every fiftieth: more bytes never keep less, and a cut that lost something is told.
void expect_cuts_to_hold(const Sample& sample, const std::string& bytes) {
  const std::int64_t all = kept(read_from(*sample.reader, bytes));
  std::int64_t before = 0;
  for (std::size_t fiftieth = 1; fiftieth < 50; ++fiftieth) {
    const Source cut = read_from(*sample.reader, bytes.substr(0, bytes.size() / 50 * fiftieth));
    EXPECT_GE(kept(cut), before) << "cut at " << fiftieth << "/50";
    EXPECT_LE(kept(cut), all) << "cut at " << fiftieth << "/50";
    // A log of lines that ends with a line is whole, as far as anybody can see.
    const std::size_t end = bytes.size() / 50 * fiftieth;
    const bool is_line_end = cut.device_log && (bytes[end - 1] == '\n' || bytes[end] == '\n');
    if (kept(cut) > 0 && kept(cut) < all && !is_line_end) {
      EXPECT_FALSE(cut.trouble.empty()) << "a cut at " << fiftieth << "/50 goes unsaid";
    }
    before = kept(cut);
  }
  // A header alone, cut, is no log yet.
  if (all > 1) {
    EXPECT_GT(before, 0) << "nothing is kept of 98 % of the file";
  }
}

TEST(Readers, CutTextKeepsWhatWasWhole) {
  SKIP_WITHOUT_REAL_FILES();
  for (const Sample& sample : samples(kSlow ? 100'000 : 2'000'000)) {
    SCOPED_TRACE(sample.name);
    expect_cuts_to_hold(sample, sample.text);
  }
}

TEST(Readers, CutFilesKeepWhatWasWhole) {
  SKIP_WITHOUT_REAL_FILES();
  for (const Sample& sample : samples(kSlow ? 100'000 : 2'000'000)) {
    if (sample.bytes == sample.text) continue;
    SCOPED_TRACE(sample.name);
    expect_cuts_to_hold(sample, sample.bytes);
  }
}

// Flips single bits and runs of bits, always the same ones.
void expect_flips_to_hold(const Sample& sample, const std::string& bytes, int rounds) {
  std::mt19937_64 random(20240229);
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = bytes;
    for (int flips = 1 + round % 8; flips > 0; --flips) {
      const std::size_t at = random() % damaged.size();
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    }
    SCOPED_TRACE("round " + std::to_string(round));
    read_from(*sample.reader, damaged);
  }
}

TEST(Readers, FlippedBitsInTextDoNoHarm) {
  SKIP_WITHOUT_REAL_FILES();
  for (const Sample& sample : samples(kSlow ? 100'000 : 2'000'000)) {
    SCOPED_TRACE(sample.name);
    expect_flips_to_hold(sample, sample.text, sample.text.size() < 100'000 ? 200 : 20);
  }
}

TEST(Readers, FlippedBitsInFilesDoNoHarm) {
  SKIP_WITHOUT_REAL_FILES();
  for (const Sample& sample : samples(kSlow ? 100'000 : 2'000'000)) {
    if (sample.bytes == sample.text) continue;
    SCOPED_TRACE(sample.name);
    expect_flips_to_hold(sample, sample.bytes, sample.text.size() < 100'000 ? 200 : 20);
  }
}

}  // namespace
}  // namespace vramscope::test
