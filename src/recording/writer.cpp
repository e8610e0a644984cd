#include "recording/writer.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/saturate.h"
#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/error_reason.h"

namespace vramscope::recording {

namespace {

constexpr std::int64_t kClockEveryNs = 900'000'000;  // once a second, though samplers are a little early at times
constexpr std::size_t kMaxSamples = 65536;
constexpr std::size_t kMaxEvents = 8192;
constexpr std::size_t kMaxTexts = 1U << 20;  // bytes of events or of names that wait

std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string random_uuid() {
  std::string bytes(16, '\0');
  if (::getrandom(bytes.data(), bytes.size(), 0) < 0) return bytes;
  bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x40);  // version 4
  bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
  return bytes;
}

Error open_error(const std::string& path, int code) {
  if (code == EEXIST) {
    return {ExitCode::usage,
            fmt::format(fmt::runtime(tr("{path} exists already; choose another name, or overwrite it with --replace.")),
                        fmt::arg("path", path))};
  }
  return {ExitCode::usage, fmt::format(fmt::runtime(tr("{path} cannot be created ({reason}); choose another place.")),
                                       fmt::arg("path", path), fmt::arg("reason", error_reason(code)))};
}

// A recording, or an empty file.
bool may_be_replaced(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  char head[kFileMagic.size()];
  const ssize_t size = ::pread(descriptor, head, sizeof head, 0);
  return size == 0 || (size == static_cast<ssize_t>(sizeof head) && std::string_view(head, sizeof head) == kFileMagic);
}

}  // namespace

ClockReading read_clocks() {
  return {nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_BOOTTIME), nanoseconds(CLOCK_REALTIME)};
}

Writer::Writer(std::string path, int descriptor, WriterOptions options)
    : path_(std::move(path)),
      descriptor_(descriptor),
      options_(std::move(options)),
      compressor_(options_.compression_level) {}

Result<std::unique_ptr<Writer>> Writer::open(const std::string& path, RunInfo run, WriterOptions options) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_NONBLOCK | (options.replace ? 0 : O_EXCL);
  const int descriptor = ::open(path.c_str(), flags, 0644);
  if (descriptor < 0) return open_error(path, errno);
  if (options.replace && (!may_be_replaced(descriptor) || ::ftruncate(descriptor, 0) != 0)) {
    ::close(descriptor);
    return Error{ExitCode::usage,
                 fmt::format(fmt::runtime(tr("{path} is no recording, so --replace leaves it as it is; choose another "
                                             "name.")),
                             fmt::arg("path", path))};
  }
  if (run.uuid.empty()) run.uuid = random_uuid();
  std::unique_ptr<Writer> writer(new Writer(path, descriptor, std::move(options)));
  writer->take_clocks();
  if (run.start_ns == 0) run.start_ns = writer->clocks_.front().realtime_ns;
  writer->buffer_ = file_header(run);
  writer->build_clocks();
  if (const int code = writer->write_buffer()) {
    ::close(descriptor);
    if (!writer->options_.replace) ::unlink(path.c_str());  // made just now, and nothing is in it
    writer->descriptor_ = -1;
    return writer->write_error(code);
  }
  writer->clear_rows();
  return writer;
}

Writer::~Writer() {
  close();
}

std::int64_t Writer::buffered_rows() const {
  return static_cast<std::int64_t>(samples_.series.size() + events_.times.size());
}

// Flushes what is too old before a new row joins it, and reads the clocks once a second.
std::optional<Error> Writer::before_row(std::int64_t time_ns) {
  std::optional<Error> error = flush_if_due(time_ns);
  if (!oldest_ns_) oldest_ns_ = time_ns;
  if (!checkpoint_ns_) checkpoint_ns_ = time_ns;
  if (!clocks_at_ns_ || saturating_sub(time_ns, *clocks_at_ns_) >= kClockEveryNs) {
    take_clocks();
    clocks_at_ns_ = time_ns;
  }
  return error;
}

std::optional<Error> Writer::append(const Sample& sample) {
  if (descriptor_ < 0 || definitions_.find_series(sample.series) == nullptr) {
    ++totals_.dropped;
    ++lost_since_;
    return std::nullopt;
  }
  std::optional<Error> error = before_row(sample.time_ns);
  samples_.series.push_back(sample.series);
  samples_.times.push_back(sample.time_ns);
  samples_.values.push_back(sample.value);
  samples_.validities.push_back(static_cast<std::int64_t>(sample.validity));
  std::optional<Error> later = flush_if_large(sample.time_ns);
  return error ? error : later;
}

std::optional<Error> Writer::append(const Event& event) {
  if (descriptor_ < 0) {
    ++totals_.dropped;
    return std::nullopt;
  }
  std::optional<Error> error = before_row(event.time_ns);
  events_.times.push_back(event.time_ns);
  events_.kinds.push_back(static_cast<std::int64_t>(event.kind));
  events_.subjects.push_back(event.subject);
  events_.codes.push_back(event.code);
  events_.texts += cut_text(event.text);
  events_.text_ends.push_back(events_.texts.size());
  std::optional<Error> later = flush_if_large(event.time_ns);
  return error ? error : later;
}

std::optional<Error> Writer::flush_if_large(std::int64_t now_ns) {
  const bool is_large = samples_.series.size() >= kMaxSamples || events_.times.size() >= kMaxEvents ||
                        events_.texts.size() >= kMaxTexts || definitions_.new_bytes() >= kMaxTexts;
  return is_large ? flush(now_ns) : std::nullopt;
}

std::optional<Error> Writer::flush_if_due(std::int64_t now_ns) {
  if (!oldest_ns_) return std::nullopt;
  const std::int64_t age_ns = saturating_sub(now_ns, *oldest_ns_);
  if (age_ns < options_.flush_ns && age_ns > -options_.flush_ns) return std::nullopt;
  return flush(now_ns);
}

std::optional<Error> Writer::flush(std::int64_t now_ns) {
  return write_pending(now_ns, false);
}

std::optional<Error> Writer::close() {
  if (descriptor_ < 0) return std::nullopt;
  take_clocks();
  std::optional<Error> error = write_pending(0, true);
  if (::close(descriptor_) != 0 && !error && !failure_told_) error = write_error(errno);
  descriptor_ = -1;
  return error;
}

std::optional<Error> Writer::write_pending(std::int64_t now_ns, bool is_last) {
  if (descriptor_ < 0) return std::nullopt;
  const std::uint64_t first_sequence = sequence_;
  buffer_.clear();
  drops_told_ = false;
  definitions_.write_new([this](ChunkBuilder& chunk) { add_chunk(chunk); });
  build_clocks();
  build_samples();
  build_events();
  const bool is_checkpoint = !is_last && build_checkpoint(now_ns);
  if (is_last) build_end();
  if (buffer_.empty()) return std::nullopt;
  if (const int code = write_buffer()) {
    sequence_ = first_sequence;
    key_sequence_.reset();
    lost_since_ += buffered_rows();
    totals_.dropped += buffered_rows();
    clear_rows();
    definitions_.forget_ended();
    if (failure_told_) return std::nullopt;
    failure_told_ = true;
    return write_error(code);
  }
  failure_told_ = false;
  if (drops_told_) lost_since_ = 0;
  totals_.samples += static_cast<std::int64_t>(samples_.series.size());
  totals_.events += static_cast<std::int64_t>(events_.times.size());
  definitions_.clear_new();
  clear_rows();
  if (is_checkpoint) return after_checkpoint(now_ns);
  return std::nullopt;
}

std::optional<Error> Writer::after_checkpoint(std::int64_t now_ns) {
  definitions_.forget_ended();
  checkpoint_ns_ = now_ns;
  checkpoint_at_bytes_ = totals_.bytes;
  key_sequence_.reset();
  if (!options_.sync_at_checkpoints || ::fdatasync(descriptor_) == 0 || failure_told_) return std::nullopt;
  failure_told_ = true;
  return write_error(errno);
}

// 0, or the errno of a write that failed; the file then ends where it ended before, where the system allows that.
int Writer::write_buffer() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t wrote = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      const int code = wrote == 0 ? ENOSPC : errno;
      if (done > 0 && ::ftruncate(descriptor_, totals_.bytes) != 0) return code;  // readers find the next chunk
      return code;
    }
  }
  totals_.bytes += static_cast<std::int64_t>(buffer_.size());
  totals_.chunks = static_cast<std::int64_t>(sequence_);
  return 0;
}

Error Writer::write_error(int code) const {
  return {ExitCode::machine,
          fmt::format(fmt::runtime(tr("The recording {path} cannot be written ({reason}); what is lost is counted, and "
                                      "writing goes on once there is room again.")),
                      fmt::arg("path", path_), fmt::arg("reason", error_reason(code)))};
}

void Writer::take_clocks() {
  clocks_.push_back(options_.clocks());
}

void Writer::clear_rows() {
  samples_.series.clear();
  samples_.times.clear();
  samples_.values.clear();
  samples_.validities.clear();
  events_.times.clear();
  events_.kinds.clear();
  events_.subjects.clear();
  events_.codes.clear();
  events_.texts.clear();
  events_.text_ends.clear();
  clocks_.clear();
  oldest_ns_.reset();
}

}  // namespace vramscope::recording
