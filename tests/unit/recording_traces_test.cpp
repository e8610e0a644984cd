// Rows of traces: written, read back, repeated by checkpoints, cut at every byte; and what they cost.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "../recording/dump.h"
#include "../recording/python_dump.h"
#include "../recording/small_recording.h"
#include "import/reader.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace vramscope::recording {
namespace {

struct Traced : Visitor {
  std::map<TextId, std::string> texts = {{0, ""}};
  std::map<std::int64_t, std::int64_t> tids;
  std::map<std::int64_t, std::string> thread_names;
  std::vector<std::pair<std::int64_t, std::string>> spans;  // end, name
  std::int64_t repeated_threads = 0;

  void on_text(TextId id, std::string_view text) override { texts[id] = text; }
  void on_trace_rows(const TraceRows& rows) override {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows.kind == ChunkKind::threads) {
        const std::int64_t id = rows.column(column::kThreadId)[i];
        repeated_threads += tids.count(id) != 0 ? 1 : 0;
        tids[id] = rows.column(column::kThreadTid)[i];
        const auto& names = rows.column(column::kThreadName);
        thread_names[id] = names.empty() ? "" : texts.at(static_cast<TextId>(names[i]));
      }
      if (rows.kind != ChunkKind::spans) continue;
      EXPECT_EQ(tids.count(rows.column(column::kSpanThread)[i]), 1U);
      spans.emplace_back(rows.column(column::kSpanEnd)[i],
                         texts.at(static_cast<TextId>(rows.column(column::kSpanName)[i])));
    }
  }
};

TraceRows spans_of(Writer& writer, ThreadId thread, std::int64_t from_ns, int count) {
  TraceRows rows;
  rows.kind = ChunkKind::spans;
  for (int i = 0; i < count; ++i) {
    rows.column(column::kSpanThread).push_back(thread);
    rows.column(column::kSpanEnd).push_back(from_ns + i * 1000 + i % 7);
    rows.column(column::kSpanDuration).push_back(700 + i % 13);
    rows.column(column::kSpanKind).push_back(static_cast<std::int64_t>(RecordedSpan::nvtx_range));
    rows.column(column::kSpanName).push_back(writer.text("step " + std::to_string(i % 3)));
  }
  return rows;
}

// Two threads, a name that comes later, every column in use, a checkpoint in the middle.
std::string traced(WriterOptions options = test_options()) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path(), std::move(options));
  const SubjectId process = writer->add_subject({SubjectKind::process, "boot:42:7", kNoId, {{"name", "python3"}}});
  const ThreadId first = writer->add_thread(process, 42, "");
  const ThreadId second = writer->add_thread(process, 43, "loader");
  EXPECT_FALSE(writer->append(spans_of(*writer, first, 10 * kSecond, 5), 10 * kSecond));
  writer->name_thread(first, "main");
  TraceRows all = spans_of(*writer, second, 11 * kSecond, 4);
  for (std::uint16_t id = column::kSpanFlags; id <= column::kSpanStream; ++id) {
    const bool is_text = id == column::kSpanDomain || id == column::kSpanCategory;
    for (int i = 0; i < 4; ++i) {
      all.column(id).push_back(is_text ? writer->text("text " + std::to_string(id))
                                       : (i - 2) * (std::int64_t{1} << 61));
    }
  }
  EXPECT_FALSE(writer->append(all, 11 * kSecond));
  const StackId outer = writer->add_stack(0, writer->text("main.py(3): <module>"));
  EXPECT_EQ(writer->add_stack(0, writer->text("main.py(3): <module>")), outer);
  const StackId inner = writer->add_stack(outer, writer->text("model.py(8): forward"));
  TraceRows memory;
  memory.kind = ChunkKind::memory_events;
  for (std::uint16_t id = 1; id <= trace_columns(memory.kind); ++id) memory.column(id) = {id, 20 - id};
  memory.column(column::kMemoryTime) = {12 * kSecond, 12 * kSecond + 5};
  memory.column(column::kMemoryPool) = {writer->text("pool"), 0};
  memory.column(column::kMemoryStack) = {inner, 0};
  EXPECT_FALSE(writer->append(memory, 12 * kSecond));
  EXPECT_FALSE(writer->append(spans_of(*writer, first, 100 * kSecond, 3), 100 * kSecond));
  TraceRows losses;
  losses.kind = ChunkKind::losses;
  losses.column(column::kLossTime) = {101 * kSecond};
  losses.column(column::kLossCount) = {9};
  EXPECT_FALSE(writer->append(losses, 101 * kSecond));
  EXPECT_FALSE(writer->close());
  EXPECT_EQ(writer->totals().trace_rows, 5 + 4 + 2 + 3 + 1);
  return file_text(file.path());
}

std::unique_ptr<Reader> read_traces(std::string_view bytes, Visitor& visitor) {
  Result<std::unique_ptr<Reader>> reader = Reader::open(bytes_of(bytes), "test");
  if (!reader) return nullptr;
  (*reader)->read_all(visitor);
  return std::move(*reader);
}

TEST(RecordingTraces, GiveBackWhatWasWritten) {
  Traced seen;
  const std::string bytes = traced();
  const auto reader = read_traces(bytes, seen);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->trouble().empty());
  ASSERT_EQ(seen.spans.size(), 12U);
  EXPECT_EQ(seen.spans[4], std::pair(10 * kSecond + 4004, std::string("step 1")));
  EXPECT_EQ(seen.tids, (std::map<std::int64_t, std::int64_t>{{1, 42}, {2, 43}}));
  EXPECT_EQ(seen.thread_names[1], "main");
  EXPECT_EQ(seen.thread_names[2], "loader");
  ASSERT_TRUE(reader->totals());
  EXPECT_EQ(reader->totals()->trace_rows, 15);
  EXPECT_EQ(reader->seen().trace_rows, 15);
}

TEST(RecordingTraces, AreRepeatedByCheckpoints) {
  WriterOptions options = test_options();
  options.checkpoint_ns = 30 * kSecond;
  Traced seen;
  const std::string bytes = traced(options);
  const auto reader = read_traces(bytes, seen);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->trouble().empty());
  EXPECT_EQ(seen.spans.size(), 12U);
  EXPECT_GE(seen.repeated_threads, 3);  // one is a new name
}

TEST(RecordingTraces, TheReaderInPythonFindsTheSame) {
  WriterOptions options = test_options();
  options.checkpoint_ns = 30 * kSecond;
  for (const std::string& bytes : {traced(), traced(options)}) {
    const TemporaryFile file;
    std::ofstream(file.path(), std::ios::binary) << bytes;
    EXPECT_EQ(python_dump(file.path()), dump(bytes));
  }
}

TEST(RecordingTraces, CutAnywhereLoseOnlyWhatFollows) {
  const std::string bytes = traced();
  Traced whole;
  ASSERT_TRUE(read_traces(bytes, whole));
  std::size_t last = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Traced seen;
    const auto reader = read_traces(std::string_view(bytes).substr(0, size), seen);
    if (!reader) continue;
    ASSERT_TRUE(std::equal(seen.spans.begin(), seen.spans.end(), whole.spans.begin())) << size;
    ASSERT_GE(seen.spans.size(), last) << size;
    last = seen.spans.size();
  }
  EXPECT_EQ(last, 12U);
}

TEST(RecordingTraces, ThreadsThatEndedAreForgotten) {
  WriterOptions options = test_options();
  options.checkpoint_ns = kSecond;
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path(), std::move(options));
  const SubjectId process = writer->add_subject({SubjectKind::process, "boot:1:1", kNoId, {}});
  for (int i = 0; i < 10; ++i) {
    const ThreadId thread = writer->add_thread(process, 100 + i, "worker");
    EXPECT_FALSE(writer->append(spans_of(*writer, thread, (10 + 2 * i) * kSecond, 2), (10 + 2 * i) * kSecond));
    writer->end_thread(thread);
  }
  EXPECT_FALSE(writer->close());
  Traced seen;
  const std::string bytes = file_text(file.path());
  const auto reader = read_traces(bytes, seen);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->trouble().empty());
  EXPECT_EQ(seen.spans.size(), 20U);
  EXPECT_EQ(seen.tids.size(), 10U);
  EXPECT_LE(seen.repeated_threads, 10);
}

// Three threads of two processes, one of which has the number of the other, which had ended.
TEST(RecordingTraces, BecomeATraceThatNests) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SubjectId one = writer->add_subject({SubjectKind::process, "boot:42:7", kNoId, {{"name", "python3"}}});
  const SubjectId two = writer->add_subject({SubjectKind::process, "boot:42:900", kNoId, {{"name", "sh"}}});
  const ThreadId main = writer->add_thread(one, 42, "main");
  const ThreadId other = writer->add_thread(two, 42, "");
  TraceRows rows;
  const auto add = [&](ThreadId thread, RecordedSpan kind, const char* name, std::int64_t start, std::int64_t end) {
    rows.column(column::kSpanThread).push_back(thread);
    rows.column(column::kSpanEnd).push_back(10 * kSecond + end);
    rows.column(column::kSpanDuration).push_back(end - start);
    rows.column(column::kSpanKind).push_back(static_cast<std::int64_t>(kind));
    rows.column(column::kSpanName).push_back(writer->text(name));
  };
  add(main, RecordedSpan::os_call, "read", 120, 150);
  add(main, RecordedSpan::nvtx_range, "inner", 110, 180);
  add(main, RecordedSpan::nvtx_range, "outer", 100, 200);
  add(other, RecordedSpan::os_call, "poll", 130, 400);
  EXPECT_FALSE(writer->append(rows, 11 * kSecond));
  TraceRows losses;
  losses.kind = ChunkKind::losses;
  losses.column(column::kLossTime) = {11 * kSecond};
  losses.column(column::kLossCount) = {9};
  EXPECT_FALSE(writer->append(losses, 11 * kSecond));
  EXPECT_FALSE(writer->close());

  const Result<Source> source = load_source(file.path());
  ASSERT_TRUE(source) << source.error().message;
  const Trace& trace = source->trace;
  ASSERT_EQ(trace.spans.size(), 4U);
  std::map<std::string, SpanIndex> at;
  for (SpanIndex i = 0; i < 4; ++i) at[std::string(trace.name(i))] = i;
  EXPECT_EQ(trace.spans.parent[at["inner"]], at["outer"]);
  EXPECT_EQ(trace.spans.parent[at["read"]], at["inner"]);
  EXPECT_EQ(trace.spans.parent[at["poll"]], kNone);
  EXPECT_EQ(trace.kind(at["read"]), SpanKind::os_call);
  EXPECT_EQ(trace.kind(at["outer"]), SpanKind::nvtx);
  // test_options(): the clock of the day is 1,790,000,000 s when that of the machine is 5 s, and 16 ns a second faster.
  EXPECT_NEAR(static_cast<double>(trace.spans.start_ns[at["outer"]] - (1'790'000'000 + 5) * kSecond), 100, 200);
  ASSERT_EQ(trace.tracks.size(), 2U);
  const Track& first = trace.tracks[trace.spans.track[at["outer"]]];
  const Track& second = trace.tracks[trace.spans.track[at["poll"]]];
  EXPECT_EQ(trace.strings.view(first.pid), "42");
  EXPECT_EQ(trace.strings.view(first.process_name), "python3");
  EXPECT_EQ(trace.strings.view(first.name), "main");
  EXPECT_EQ(trace.strings.view(second.pid), "42@900");
  ASSERT_EQ(source->trouble.size(), 1U);
  EXPECT_EQ(source->trouble[0].name, "events_lost");
  EXPECT_EQ(source->trouble[0].count, 9);
  EXPECT_EQ(source->events, 5);
}

TEST(RecordingTraces, TakeFewBytes) {
  const TemporaryFile file;
  const std::unique_ptr<Writer> writer = open_writer(file.path());
  const SubjectId process = writer->add_subject({SubjectKind::process, "boot:42:7", kNoId, {}});
  const ThreadId thread = writer->add_thread(process, 42, "main");
  std::uint64_t random = 88172645463325252ULL;
  std::int64_t end_ns = 10 * kSecond;
  constexpr int kRows = 200'000;
  TraceRows rows;
  for (int i = 0; i < kRows; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    end_ns += 1000 + static_cast<std::int64_t>(random % 4096);
    rows.column(column::kSpanThread).push_back(thread);
    rows.column(column::kSpanEnd).push_back(end_ns);
    rows.column(column::kSpanDuration).push_back(200 + static_cast<std::int64_t>(random >> 32) % 700);
    rows.column(column::kSpanKind).push_back(1);
    rows.column(column::kSpanName).push_back(writer->text("layer " + std::to_string(random % 50)));
  }
  EXPECT_FALSE(writer->append(rows, end_ns));
  EXPECT_FALSE(writer->close());
  EXPECT_LE(static_cast<double>(file_text(file.path()).size()) / kRows, 12.0);
}

}  // namespace
}  // namespace vramscope::recording
