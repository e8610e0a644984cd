// Recordings that were cut, flipped, killed, or met a full disk.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "../recording/dump.h"
#include "../recording/small_recording.h"
#include "import/reader.h"
#include "recording/reader.h"

namespace vramscope::recording {
namespace {

struct Counted : Visitor {
  std::vector<Sample> samples;
  void on_samples(const std::vector<Sample>& rows) override { samples.insert(samples.end(), rows.begin(), rows.end()); }
};

struct Place {
  std::size_t start;
  std::size_t end;
  std::int64_t samples_before;
};

// Where the chunks lie.
std::vector<Place> places_of(std::string_view bytes) {
  std::vector<Place> places;
  Result<std::unique_ptr<ChunkReader>> chunks = ChunkReader::open(bytes_of(bytes), "test");
  std::int64_t samples = 0;
  while ((*chunks)->next()) {
    const ChunkHeader& header = (*chunks)->header();
    const auto start = static_cast<std::size_t>((*chunks)->offset());
    places.push_back({start, start + kChunkHeaderBytes + header.stored_bytes, samples});
    if (header.kind == static_cast<std::uint16_t>(ChunkKind::samples)) samples += header.rows;
  }
  return places;
}

TEST(RecordingDamage, EveryLengthReadsToTheLastWholeChunk) {
  const std::string whole = small_recording(65);
  const std::vector<Place> places = places_of(whole);
  ASSERT_GT(places.size(), 15U);
  std::size_t chunks = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);  // of its own, so that a read beyond it is seen
    Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(cut), "test");
    if (size < places[0].start) {
      EXPECT_FALSE(reader) << size;
      continue;
    }
    ASSERT_TRUE(reader) << size;
    while (chunks < places.size() && places[chunks].end <= size) ++chunks;
    Counted counted;
    (*reader)->read_all(counted);
    ASSERT_EQ((*reader)->seen().chunks, static_cast<std::int64_t>(chunks)) << size;
    const std::int64_t samples = chunks < places.size() ? places[chunks].samples_before : (*reader)->totals()->samples;
    ASSERT_EQ(static_cast<std::int64_t>(counted.samples.size()), samples) << size;
    const std::size_t end = chunks == 0 ? places[0].start : places[chunks - 1].end;
    ASSERT_EQ((*reader)->trouble("cut_short"), size == end ? 0 : 1) << size;
    ASSERT_EQ((*reader)->trouble("no_end"), chunks == places.size() ? 0 : 1) << size;
    ASSERT_EQ((*reader)->trouble().size(), (size == end ? 0U : 1U) + (chunks == places.size() ? 0U : 1U)) << size;
  }
}

// A flipped bit costs the chunk that it is in, and what depends on that chunk; it is counted with its place.
TEST(RecordingDamage, AFlippedBitAtEveryByteIsCountedAndTheRestIsRead) {
  const std::string whole = small_recording(65);
  const std::vector<Place> places = places_of(whole);
  const std::string all = dump(whole);
  std::size_t chunk = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(flipped), "test");
    ASSERT_TRUE(reader) << at;
    Counted counted;
    (*reader)->read_all(counted);
    ASSERT_FALSE((*reader)->trouble().empty()) << at;
    if (at < places[0].start) {
      ASSERT_EQ((*reader)->trouble("header_damaged"), 1) << at;
      ASSERT_EQ((*reader)->seen().samples, (*reader)->totals()->samples) << at;
      ASSERT_FALSE((*reader)->run()) << at;
      continue;
    }
    while (at >= places[chunk].end) ++chunk;
    const bool in_header = at < places[chunk].start + kChunkHeaderBytes;
    const Trouble& first = (*reader)->trouble().front();
    ASSERT_EQ(first.name, in_header ? "chunk_header_damaged" : "payload_damaged") << at;
    ASSERT_EQ(first.first_offset, static_cast<std::int64_t>(places[chunk].start)) << at;
    ASSERT_EQ((*reader)->seen().chunks, static_cast<std::int64_t>(places.size()) - 1) << at;
    ASSERT_GE((*reader)->seen().samples, 0);
  }
  EXPECT_EQ(dump(whole), all);
}

TEST(RecordingDamage, MissingBytesAndRubbishBetweenChunksAreOvercome) {
  const std::string whole = small_recording(65);
  const std::vector<Place> places = places_of(whole);
  const std::size_t middle = places[places.size() / 2].start + kChunkHeaderBytes + 5;
  const std::string shorter = whole.substr(0, middle) + whole.substr(middle + 3);
  const std::string longer =
      whole.substr(0, places[8].start) + std::string(300'000, '\xF1') + whole.substr(places[8].start);
  Counted first;
  Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(shorter), "test");
  (*reader)->read_all(first);
  EXPECT_EQ((*reader)->seen().chunks, static_cast<std::int64_t>(places.size()) - 1);
  EXPECT_EQ((*reader)->trouble("payload_damaged"), 1);
  Counted second;
  reader = Reader::open(bytes_of(longer), "test");
  (*reader)->read_all(second);
  EXPECT_EQ((*reader)->seen().chunks, static_cast<std::int64_t>(places.size()));
  EXPECT_EQ((*reader)->trouble("chunk_header_damaged"), 1);
  EXPECT_EQ((*reader)->trouble().size(), 1U);
}

// Chunks whose CRCs are right and whose content is anything.
TEST(RecordingDamage, WrongContentBehindARightCrcIsCounted) {
  const std::string whole = small_recording(25);
  const std::string head = file_header(test_run());
  std::uint64_t state = 1;
  const auto random = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state >> 33;
  };
  Compressor compressor(1);
  int counted = 0;
  constexpr std::size_t kKinds = 9 + std::size(kTraceKinds);
  for (int round = 0; round < 5000; ++round) {
    const std::size_t pick = random() % kKinds;
    const auto kind = pick < 9 ? static_cast<ChunkKind>(1 + pick) : kTraceKinds[pick - 9];
    const std::size_t rows = random() % 5;
    ChunkBuilder chunk(kind, rows);
    for (std::uint16_t id = 1; id <= 5; ++id) {
      std::vector<std::int64_t> values;
      for (std::size_t i = 0; i < rows; ++i)
        values.push_back(static_cast<std::int64_t>((random() << 33) >> (random() % 64)));
      if (random() % 4 == 0) {
        chunk.texts(id, std::vector<std::string_view>(rows, "text"));
      } else {
        chunk.integers(id, values);
      }
    }
    chunk.header().rows += static_cast<std::uint32_t>(random() % 8 == 0);
    std::string added;
    ASSERT_TRUE(chunk.finish(compressor, added));
    const std::string bytes = head + added + whole.substr(head.size());
    Counted visitor;
    Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(bytes), "test");
    ASSERT_TRUE(reader);
    (*reader)->read_all(visitor);
    const TemporaryFile file;
    std::ofstream(file.path(), std::ios::binary) << bytes;
    ASSERT_TRUE(load_source(file.path()));  // what it makes of them is whole, whatever they are
    counted += static_cast<int>((*reader)->trouble("columns_damaged"));
  }
  EXPECT_GT(counted, 1000);
}

// Shared with a child process that is going to be killed.
struct Progress {
  std::atomic<std::int64_t> appended;  // rows
  std::atomic<std::int64_t> flushed;   // rows that the writer says are in the file
};

[[noreturn]] void write_for_ever(const std::string& path, Progress& progress) {
  const std::unique_ptr<Writer> writer = open_writer(path);
  const SubjectId subject = writer->add_subject({SubjectKind::host, "h", kNoId, {}});
  const SeriesId series = writer->series(subject, "m");
  for (std::int64_t i = 0;; ++i) {
    if (writer->append(Sample{series, Validity::known, i * kSecond / 10, i * 7919 % 1009})) ::_exit(1);
    progress.appended.store(i + 1);
    progress.flushed.store(writer->totals().samples);
  }
}

TEST(RecordingDamage, AWriterThatIsKilledLosesNoMoreThanTenSeconds) {
  void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  for (int round = 0; round < 25; ++round) {
    auto* progress = new (shared) Progress{};
    const TemporaryFile file;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(file.path(), *progress);
    while (progress->flushed.load() == 0) ::usleep(100);
    ::usleep(static_cast<useconds_t>(500 + round * 1237 % 9000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    Counted counted;
    Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
    ASSERT_TRUE(reader);
    (*reader)->read_all(counted);
    const auto rows = static_cast<std::int64_t>(counted.samples.size());
    EXPECT_GE(rows, progress->flushed.load());
    EXPECT_LE(progress->appended.load() - rows, 100);  // ten seconds of ten rows each
    EXPECT_EQ((*reader)->trouble("no_end"), 1);
    for (std::int64_t i = 0; i < rows; ++i) {
      ASSERT_EQ(counted.samples[static_cast<std::size_t>(i)].value, i * 7919 % 1009);
    }
  }
  ::munmap(shared, sizeof(Progress));
}

// The limit on the size of files stands for a full disk.
class FullDisk {
 public:
  explicit FullDisk(std::size_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(RecordingDamage, ATraceThatFindsNoRoomIsCountedAndGoesOn) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SubjectId process = writer->add_subject({SubjectKind::process, "boot:1:1", kNoId, {}});
  const ThreadId thread = writer->add_thread(process, 1, "main");
  const auto append = [&](std::int64_t second, std::int64_t count) {
    TraceRows rows;
    for (std::int64_t i = 0; i < count; ++i) {
      rows.column(column::kSpanThread).push_back(thread);
      rows.column(column::kSpanEnd).push_back(second * kSecond + i * i % 7919);
      rows.column(column::kSpanName).push_back(writer->text("name " + std::to_string(second)));
    }
    return writer->append(rows, second * kSecond);
  };
  EXPECT_FALSE(append(10, 100));
  {
    const FullDisk full(file_text(file.path()).size() + 10);
    EXPECT_TRUE(append(11, 30));
    EXPECT_FALSE(append(12, 3));  // told once
  }
  EXPECT_FALSE(append(13, 7));
  EXPECT_FALSE(writer->close());
  EXPECT_EQ(writer->totals().dropped, 33);
  const std::string bytes = file_text(file.path());
  Visitor nobody;
  const auto reader = Reader::open(bytes_of(bytes), "test");
  ASSERT_TRUE(reader);
  (*reader)->read_all(nobody);
  EXPECT_EQ((*reader)->seen().trace_rows, 107);
  EXPECT_EQ((*reader)->seen().dropped, 33);
  EXPECT_EQ((*reader)->trouble().size(), 1U);
}

TEST(RecordingDamage, AFullDiskIsToldOnceAndWhatIsLostIsCounted) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SubjectId host = writer->add_subject({SubjectKind::host, "h", kNoId, {}});
  const SeriesId series = writer->series(host, "m");
  SeriesId later = kNoId;
  std::int64_t i = 0;
  const auto append_seconds = [&](int seconds) {
    int errors = 0;
    for (int second = 0; second < seconds; ++second, ++i) {
      if (writer->append(Sample{series, Validity::known, i * kSecond, i * 7919 % 1009})) ++errors;
      if (later != kNoId && writer->append(Sample{later, Validity::known, i * kSecond, i})) ++errors;
    }
    return errors;
  };
  EXPECT_EQ(append_seconds(30), 0);
  const std::string before = file_text(file.path());
  {
    const FullDisk full(before.size() + 70);  // within the next chunk
    later = writer->series(writer->add_subject({SubjectKind::device, "GPU", host, {}}), "defined while it was full");
    EXPECT_EQ(append_seconds(60), 1);
    EXPECT_EQ(file_text(file.path()), before);  // cut back to the last whole chunk
  }
  EXPECT_GE(writer->totals().dropped, 80);
  EXPECT_EQ(append_seconds(60), 0);
  EXPECT_FALSE(writer->close());

  Counted counted;
  Result<std::unique_ptr<Reader>> reader = Reader::open(file.path());
  ASSERT_TRUE(reader);
  (*reader)->read_all(counted);
  ASSERT_TRUE((*reader)->totals());
  EXPECT_EQ((*reader)->trouble("dropped_rows"), writer->totals().dropped);
  EXPECT_EQ((*reader)->trouble().size(), 1U);  // nothing else
  EXPECT_EQ((*reader)->seen().samples + writer->totals().dropped, 30 + 2 * 120);
  for (const Sample& sample : counted.samples) {
    const std::int64_t second = sample.time_ns / kSecond;
    EXPECT_EQ(sample.value, sample.series == later ? second : second * 7919 % 1009);
  }
}

TEST(RecordingDamage, AFileThatCannotBeWrittenFromTheStartIsAnError) {
  WriterOptions options = test_options();
  options.replace = true;
  const Result<std::unique_ptr<Writer>> full = Writer::open("/dev/full", test_run(), options);
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("/dev/full"), std::string::npos);
  EXPECT_FALSE(Writer::open("/nowhere/at/all.vrs", test_run(), test_options()));
  const TemporaryFile file;
  {
    const FullDisk none(0);
    EXPECT_FALSE(Writer::open(file.path(), test_run(), test_options()));
  }
  EXPECT_FALSE(std::filesystem::exists(file.path()));
  EXPECT_TRUE(Writer::open(file.path(), test_run(), test_options()));
}

}  // namespace
}  // namespace vramscope::recording
