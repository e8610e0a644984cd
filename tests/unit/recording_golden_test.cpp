// Recordings in tests/recording/golden must read for ever, and a reader in Python, written from
// docs/recording-format.md alone, must find the same in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../recording/dump.h"
#include "../recording/python_dump.h"
#include "../recording/small_recording.h"

namespace vramscope::recording {
namespace {

const std::string kFolder = VRAMSCOPE_SOURCE_DIR "/tests/recording/";

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder + "golden")) {
    if (entry.path().extension() == ".vrs") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(RecordingGolden, OldRecordingsReadAsTheyAlwaysDid) {
  const std::vector<std::filesystem::path> files = golden_files();
  ASSERT_GE(files.size(), 6U);
  for (const std::filesystem::path& path : files) {
    const std::string expected = file_text(std::filesystem::path(path).replace_extension(".jsonl").string());
    ASSERT_FALSE(expected.empty()) << path;
    EXPECT_EQ(dump(file_text(path.string())), expected) << path;
  }
}

TEST(RecordingGolden, TheReaderInPythonFindsTheSame) {
  for (const std::filesystem::path& path : golden_files()) {
    const std::string expected = file_text(std::filesystem::path(path).replace_extension(".jsonl").string());
    EXPECT_EQ(python_dump(path.string()), expected) << path;
  }
}

TEST(RecordingGolden, TheReaderInPythonReadsWhatIsWrittenToday) {
  for (const int seconds : {1, 12, 200}) {
    WriterOptions options = test_options();
    options.checkpoint_ns = 50 * kSecond;
    const std::string bytes = small_recording(seconds, options);
    const TemporaryFile file;
    std::ofstream(file.path(), std::ios::binary) << bytes;
    EXPECT_EQ(python_dump(file.path()), dump(bytes)) << seconds;
  }
}

// Values at the ends of int64, times that fall, rows of every validity.
std::string extremes() {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SubjectId subject = writer->add_subject({SubjectKind::device, "", kNoId, {{"empty", ""}}});
  const SeriesId series = writer->series(subject, "m");
  const std::int64_t values[] = {INT64_MIN, INT64_MAX, 0, -1, 4096, INT64_MIN, 1, INT64_MAX};
  std::int64_t time = 100 * kSecond;
  for (int i = 0; i < 64; ++i) {
    time += i % 9 == 8 ? -3 * kSecond : kSecond;
    EXPECT_FALSE(
        writer->append(Sample{series, static_cast<Validity>(i % 5 == 0 ? i % 6 : 0), time, values[i * 5 % 8]}));
  }
  EXPECT_FALSE(writer->append(Event{INT64_MAX, EventKind::line, 0, INT64_MIN, "a\tb \"c\" \\ \x01"}));
  EXPECT_FALSE(writer->close());
  return file_text(file.path());
}

// A chunk of a later version behind the first samples.
std::string with_later_chunk(bool must_understand) {
  const std::string bytes = small_recording(25);
  Result<std::unique_ptr<ChunkReader>> chunks = ChunkReader::open(bytes_of(bytes), "test");
  do {
    EXPECT_TRUE((*chunks)->next());
  } while ((*chunks)->header().kind != static_cast<std::uint16_t>(ChunkKind::samples));
  const std::int64_t place =
      (*chunks)->offset() + static_cast<std::int64_t>(kChunkHeaderBytes) + (*chunks)->header().stored_bytes;
  Compressor compressor(3);
  ChunkBuilder chunk(static_cast<ChunkKind>(63), 3);
  chunk.integers(1, {1, 2, 3}).texts(2, {"a", "b", "c"});
  chunk.header().flags = must_understand ? kMustUnderstand : 0;
  chunk.header().sequence = (*chunks)->header().sequence + 1;
  std::string added;
  EXPECT_TRUE(chunk.finish(compressor, added));
  return bytes.substr(0, static_cast<std::size_t>(place)) + added + bytes.substr(static_cast<std::size_t>(place));
}

// Writes the golden files that are not there. To be run by hand; those that exist are never written again.
TEST(RecordingGolden, DISABLED_WriteMissing) {
  WriterOptions checkpoints = test_options();
  checkpoints.checkpoint_ns = 30 * kSecond;
  std::string killed = small_recording(40);
  killed.resize(killed.size() * 2 / 3);
  std::string damaged = small_recording(75);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 4);
  const std::pair<const char*, std::string> files[] = {{"whole", small_recording(30)},
                                                       {"checkpoints", small_recording(100, checkpoints)},
                                                       {"killed", killed},
                                                       {"damaged", damaged},
                                                       {"extremes", extremes()},
                                                       {"later_chunk", with_later_chunk(false)},
                                                       {"later_chunk_needed", with_later_chunk(true)}};
  for (const auto& [name, bytes] : files) {
    const std::string path = kFolder + "golden/" + name;
    if (std::filesystem::exists(path + ".vrs")) continue;
    std::ofstream(path + ".vrs", std::ios::binary) << bytes;
    std::ofstream(path + ".jsonl", std::ios::binary) << dump(bytes);
  }
}

}  // namespace
}  // namespace vramscope::recording
