#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../recording/dump.h"
#include "../recording/small_recording.h"
#include "recording/crc32c.h"
#include "recording/playback.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace vramscope::recording {
namespace {

// Keeps all that it is told.
struct Kept : Visitor {
  std::map<SubjectId, std::string> subjects;
  std::map<SeriesId, std::string> series;
  std::map<SeriesId, std::vector<Sample>> samples;
  std::vector<std::string> events;
  std::map<Clock, std::vector<ClockPoint>> clocks;
  int definitions = 0;

  void on_subject(SubjectId id, SubjectKind, std::string_view key, SubjectId) override {
    subjects[id] = key;
    ++definitions;
  }
  void on_series(SeriesId id, SubjectId, std::string_view metric, std::string_view) override {
    series[id] = metric;
    ++definitions;
  }
  void on_samples(const std::vector<Sample>& rows) override {
    for (const Sample& row : rows) samples[row.series].push_back(row);
  }
  void on_event(const Event& event) override { events.emplace_back(event.text); }
  void on_clock(const ClockPoint& point) override { clocks[point.clock].push_back(point); }
};

std::unique_ptr<Reader> read(std::string_view bytes, Visitor& visitor) {
  Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(bytes), "test");
  EXPECT_TRUE(reader) << reader.error().message;
  (*reader)->read_all(visitor);
  return std::move(*reader);
}

TEST(Recording, GivesBackWhatWasWritten) {
  Kept kept;
  const std::string bytes = small_recording(100);
  const std::unique_ptr<Reader> reader = read(bytes, kept);
  EXPECT_TRUE(reader->trouble().empty());
  ASSERT_TRUE(reader->run());
  EXPECT_EQ(reader->run()->host_name, "node-1");
  EXPECT_EQ(reader->run()->command, test_run().command);
  EXPECT_EQ(reader->run()->uuid, "0123456789abcdef");
  ASSERT_EQ(kept.subjects.size(), 3U);
  ASSERT_EQ(kept.series.size(), 4U);
  for (SeriesId id = 1; id <= 3; ++id) ASSERT_EQ(kept.samples[id].size(), 100U) << id;
  ASSERT_EQ(kept.samples[4].size(), 95U);
  for (int i = 0; i < 100; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t time = (10 + i) * kSecond + i % 7;
    EXPECT_EQ(kept.samples[1][at].time_ns, time);
    EXPECT_EQ(kept.samples[1][at].value, (1LL << 30) + i / 5 * (2LL << 20));
    EXPECT_EQ(kept.samples[2][at].validity, i % 11 == 5 ? Validity::failed : Validity::known);
    EXPECT_EQ(kept.samples[2][at].value, i % 11 == 5 ? 0 : i * 37 % 101);
    EXPECT_EQ(kept.samples[3][at].value, 900'000'000LL + i * 350'000LL + i % 3);
    if (i >= 3 && i < 98) {
      EXPECT_EQ(kept.samples[4][at - 3].value, i == 7 ? INT64_MIN : i * (1LL << 20));
    }
  }
  EXPECT_EQ(kept.events.size(), 4U);
  EXPECT_EQ(kept.events[1], "memory.used > 90 % \xE5\xB7\xB2");
  ASSERT_TRUE(reader->totals());
  EXPECT_EQ(reader->totals()->samples, 395);
  EXPECT_EQ(reader->totals()->events, 4);
  EXPECT_EQ(reader->totals()->dropped, 0);
  EXPECT_EQ(reader->totals()->chunks + 1, reader->seen().chunks);
  EXPECT_EQ(reader->seen().samples, 395);
}

TEST(Recording, ClocksAreReadAtStartEverySecondAndEnd) {
  Kept kept;
  read(small_recording(30), kept);
  ASSERT_EQ(kept.clocks[Clock::realtime].size(), 1U + 30 + 1);
  ASSERT_EQ(kept.clocks[Clock::boottime].size(), 32U);
  EXPECT_EQ(kept.clocks[Clock::realtime][0].time_ns, 5 * kSecond);
  EXPECT_EQ(kept.clocks[Clock::realtime][31].time_ns, 5 * kSecond + 31 * (kSecond + 1234));
  EXPECT_EQ(kept.clocks[Clock::realtime][31].value, 1'790'000'000 * kSecond + 31 * (kSecond + 1250));
}

TEST(Recording, IsWrittenEveryTenSeconds) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SeriesId series = writer->series(writer->add_subject({SubjectKind::host, "h", kNoId, {}}), "m");
  std::int64_t oldest_in_memory = 0;
  std::int64_t written = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(writer->append(Sample{series, Validity::known, i * kSecond, i}));
    if (writer->totals().samples != written) {
      written = writer->totals().samples;
      oldest_in_memory = i * kSecond;
    }
    EXPECT_LT(i * kSecond - oldest_in_memory, 10 * kSecond);
  }
  EXPECT_EQ(written, 90);
  EXPECT_FALSE(writer->flush_if_due(99 * kSecond));
  EXPECT_EQ(writer->totals().samples, 90);
  EXPECT_FALSE(writer->flush_if_due(100 * kSecond));
  EXPECT_EQ(writer->totals().samples, 100);
}

TEST(Recording, ManyRowsAreWrittenBeforeTheirTime) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SubjectId subject = writer->add_subject({SubjectKind::host, "h", kNoId, {}});
  const SeriesId series = writer->series(subject, "m");
  for (int i = 0; i < 200'000; ++i) EXPECT_FALSE(writer->append(Sample{series, Validity::known, i, i * 3}));
  EXPECT_EQ(writer->totals().samples, 3 * 65536);
  const std::string line(300'000, 'x');
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(writer->append(Event{200'000, EventKind::line, subject, 0, line}));
  EXPECT_GE(writer->totals().events, 15);
  EXPECT_FALSE(writer->close());
  Kept kept;
  const std::string bytes = file_text(file.path());
  const std::unique_ptr<Reader> reader = read(bytes, kept);
  EXPECT_TRUE(reader->trouble().empty());
  EXPECT_EQ(kept.samples[series].size(), 200'000U);
  ASSERT_EQ(kept.events.size(), 20U);
  EXPECT_EQ(kept.events[0].size(), kMaxTextBytes);  // longer ones are cut
}

TEST(Recording, LongTextsAreCutBetweenCharacters) {
  std::string text(kMaxTextBytes - 1, 'x');
  text += "\xE6\x98\xBE";
  EXPECT_EQ(cut_text(text).size(), kMaxTextBytes - 1);
  EXPECT_EQ(cut_text(text.substr(1)).size(), text.size() - 4);
  EXPECT_EQ(cut_text(text.substr(2)).size(), text.size() - 2);
  EXPECT_EQ(cut_text(std::string(kMaxTextBytes + 9, '\x80')).size(), kMaxTextBytes - 3);
}

TEST(Recording, CheckpointsRepeatWhatLivesAndForgetWhatEnded) {
  WriterOptions options = test_options();
  options.checkpoint_ns = 20 * kSecond;
  options.sync_at_checkpoints = true;
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path(), options);
  const SubjectId host = writer->add_subject({SubjectKind::host, "h", kNoId, {{"name", "node"}}});
  const SeriesId load = writer->series(host, "load");
  std::vector<SeriesId> ended;
  for (int i = 0; i < 100; ++i) {
    const SubjectId process = writer->add_subject({SubjectKind::process, "p" + std::to_string(i), host, {}});
    const SeriesId cpu = writer->series(process, "cpu");
    EXPECT_FALSE(writer->append(Sample{load, Validity::known, i * kSecond, i}));
    EXPECT_FALSE(writer->append(Sample{cpu, Validity::known, i * kSecond, i}));
    writer->end_subject(process);
    ended.push_back(cpu);
  }
  // Forgotten at a checkpoint: a row of it is lost and counted.
  EXPECT_FALSE(writer->append(Sample{ended[0], Validity::known, 100 * kSecond, 1}));
  EXPECT_EQ(writer->totals().dropped, 1);
  EXPECT_FALSE(writer->close());

  Kept kept;
  const std::string bytes = file_text(file.path());
  const std::unique_ptr<Reader> reader = read(bytes, kept);
  EXPECT_EQ(reader->trouble("dropped_rows"), 1);
  EXPECT_EQ(reader->trouble().size(), 1U);
  EXPECT_EQ(kept.definitions, 101 + 101);  // each told once
  EXPECT_EQ(kept.samples[load].size(), 100U);
  for (const SeriesId series : ended) EXPECT_EQ(kept.samples[series].size(), 1U);

  // A reader that starts behind the first checkpoint knows all that follows: a flight recorder may drop the rest.
  Result<std::unique_ptr<ChunkReader>> chunks = ChunkReader::open(bytes_of(bytes), "test");
  ASSERT_TRUE(chunks);
  std::int64_t start = 0;
  while ((*chunks)->next() && start == 0) {
    if (((*chunks)->header().flags & kRepeats) != 0) start = (*chunks)->offset();
  }
  ASSERT_GT(start, 0);
  const std::string rest =
      bytes.substr(0, file_header(test_run()).size()) + bytes.substr(static_cast<std::size_t>(start));
  Kept later;
  const std::unique_ptr<Reader> second = read(rest, later);
  EXPECT_EQ(second->trouble("unknown_series"), 0);
  EXPECT_EQ(second->trouble("base_missing"), 0);
  EXPECT_EQ(second->trouble("sequence_gap"), 1);
  EXPECT_GE(later.samples[load].size(), 70U);
}

TEST(Recording, PlaybackGivesMomentsInOrder) {
  const std::string bytes = small_recording(45);
  Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(bytes), "test");
  ASSERT_TRUE(reader);
  Kept kept;
  Playback playback(**reader, kept);
  Moment moment;
  std::int64_t before = 0;
  std::size_t rows = 0;
  int moments = 0;
  while (playback.next(moment)) {
    EXPECT_GT(moment.time_ns, before);
    before = moment.time_ns;
    rows += moment.samples.size();
    ++moments;
    for (const Sample& sample : moment.samples) {
      EXPECT_EQ(sample.time_ns, moment.time_ns);
      EXPECT_TRUE(kept.series.count(sample.series));
    }
  }
  EXPECT_EQ(moments, 45);
  EXPECT_EQ(rows, 45U * 3 + 40);
  EXPECT_TRUE(kept.samples.empty());
  EXPECT_EQ(kept.events.size(), 4U);
}

TEST(Recording, AnUnknownChunkIsPassedOverUnlessItMustBeUnderstood) {
  for (const bool must : {false, true}) {
    const std::string bytes = small_recording(30);
    Result<std::unique_ptr<ChunkReader>> chunks = ChunkReader::open(bytes_of(bytes), "test");
    ASSERT_TRUE(chunks);
    const auto samples = static_cast<std::uint16_t>(ChunkKind::samples);
    do {
      ASSERT_TRUE((*chunks)->next());
    } while ((*chunks)->header().kind != samples);
    ASSERT_TRUE((*chunks)->next());
    const auto place = static_cast<std::size_t>((*chunks)->offset());
    Compressor compressor(3);
    ChunkBuilder chunk(static_cast<ChunkKind>(63), 2);
    chunk.integers(1, {1, 2}).integers(200, {3, 4});
    chunk.header().flags = must ? kMustUnderstand : 0;
    chunk.header().sequence = (*chunks)->header().sequence;
    std::string added;
    ASSERT_TRUE(chunk.finish(compressor, added));
    Kept kept;
    const std::string changed = bytes.substr(0, place) + added + bytes.substr(place);
    const std::unique_ptr<Reader> reader = read(changed, kept);
    EXPECT_EQ(reader->trouble("unknown_kind"), 1);
    EXPECT_EQ(reader->trouble("must_understand"), must ? 1 : 0);
    EXPECT_EQ(reader->trouble("no_end"), 0);
    EXPECT_EQ(reader->totals().has_value(), !must);
    EXPECT_EQ(reader->seen().samples < 30 * 3 + 25, must);
    EXPECT_GT(reader->seen().samples, 0);
  }
}

TEST(Recording, ANewerVersionAndOtherFilesAreRefused) {
  std::string header = file_header(test_run());
  EXPECT_TRUE(Reader::open(bytes_of(header), "test"));
  header[8] = 2;
  const std::uint32_t crc = crc32c(std::string_view(header).substr(0, header.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) header[header.size() - 4 + i] = static_cast<char>(crc >> (8 * i));
  const Result<std::unique_ptr<Reader>> newer = Reader::open(bytes_of(header), "run.vrs");
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("version 2"), std::string::npos);
  for (const std::string& other : {std::string(), std::string("{}"), std::string(5000, 'x')}) {
    EXPECT_FALSE(Reader::open(bytes_of(other), "other"));
  }
  EXPECT_FALSE(Reader::open("/nowhere/at/all.vrs"));
}

TEST(Recording, AnExistingFileIsKeptUnlessItMayBeReplaced) {
  const TemporaryFile file;
  std::ofstream(file.path()) << "precious";
  EXPECT_FALSE(Writer::open(file.path(), test_run(), test_options()));
  EXPECT_EQ(file_text(file.path()), "precious");
  WriterOptions options = test_options();
  options.replace = true;
  EXPECT_FALSE(Writer::open(file.path(), test_run(), options));  // somebody's work, and no recording
  EXPECT_EQ(file_text(file.path()), "precious");
  EXPECT_FALSE(Writer::open("/dev/null", test_run(), options));
  std::ofstream(file.path(), std::ios::trunc).close();
  EXPECT_TRUE(Writer::open(file.path(), test_run(), options));
  const std::string first = file_text(file.path());
  EXPECT_TRUE(is_recording(first));
  EXPECT_TRUE(Writer::open(file.path(), test_run(), options));
  EXPECT_TRUE(is_recording(file_text(file.path())));
  EXPECT_LE(file_text(file.path()).size(), first.size());
}

TEST(Recording, SeriesKeepTheirIdAndAttributesMayChange) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SubjectId subject = writer->add_subject({SubjectKind::process, "p", kNoId, {{"state", "R"}}});
  const SeriesId series = writer->series(subject, "memory.used", "bytes");
  EXPECT_EQ(writer->series(subject, "memory.used", "bytes"), series);
  EXPECT_NE(writer->series(subject, "memory.free", "bytes"), series);
  EXPECT_EQ(writer->series(99, "memory.used"), kNoId);
  EXPECT_FALSE(writer->flush(0));
  writer->set_attribute(subject, "state", "R");
  writer->set_attribute(subject, "state", "Z");
  EXPECT_FALSE(writer->close());
  EXPECT_FALSE(writer->append(Sample{series, Validity::known, 0, 1}));
  EXPECT_EQ(writer->totals().dropped, 1);
  const std::string text = dump(file_text(file.path()));
  EXPECT_NE(text.find("{\"attribute\":[1,\"state\",\"R\"]}\n"), std::string::npos);
  EXPECT_NE(text.find("{\"attribute\":[1,\"state\",\"Z\"]}\n"), std::string::npos);
}

}  // namespace
}  // namespace vramscope::recording
