// Threads are for large inputs alone: a small one is read where it is asked for.
#include <dirent.h>

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "import/reader.h"

namespace vramscope::test {
namespace {

// The thread that asks, and those beside it.
int thread_count() {
  int count = 0;
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* entry = ::readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(tasks);
  return count;
}

// Hands out a text, and counts the threads whenever it is asked for more.
class CountingStream : public ByteStream {
 public:
  explicit CountingStream(std::string text) : text_(std::move(text)) {}
  std::size_t read(char* out, std::size_t size) override {
    most_threads_ = std::max(most_threads_, thread_count());
    const std::size_t count = text_.copy(out, size, taken_);
    taken_ += count;
    return count;
  }
  std::int64_t consumed() const override { return static_cast<std::int64_t>(taken_); }
  std::int64_t file_size() const override { return static_cast<std::int64_t>(text_.size()); }
  int most_threads() const { return most_threads_; }

 private:
  std::string text_;
  std::size_t taken_ = 0;
  int most_threads_ = 0;
};

std::string trace_of(int events) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  for (int i = 0; i < events; ++i) {
    if (i > 0) text += ",\n";
    text += R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":)" + std::to_string(i % 4) + R"(,"dur":1,"ts":)" +
            std::to_string(i) + "}";
  }
  return text + "]}";
}

TEST(ReaderThreads, SmallInputsStartNone) {
  const int before = thread_count();
  if (before == 0) GTEST_SKIP() << "no /proc";
  CountingStream small(trace_of(5000));
  const Result<Source> source = read_source(small, "memory");
  ASSERT_TRUE(static_cast<bool>(source));
  EXPECT_EQ(source->events, 5000);
  EXPECT_EQ(small.most_threads(), before);
}

TEST(ReaderThreads, LargeInputsGiveTheSameFigures) {
  CountingStream large(trace_of(100000));
  const Result<Source> source = read_source(large, "memory");
  ASSERT_TRUE(static_cast<bool>(source));
  EXPECT_EQ(source->events, 100000);
  EXPECT_EQ(source->trace.spans.size(), 100000u);
  EXPECT_TRUE(source->trouble.empty());
}

}  // namespace
}  // namespace vramscope::test
