#include "import/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "fmt/format.h"
#include "text/catalogue.h"
#include "text/error_reason.h"

namespace vramscope {

namespace {

class FileStream : public ByteStream {
 public:
  FileStream(int descriptor, std::int64_t size) : descriptor_(descriptor), size_(size) {}
  ~FileStream() override {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }
  std::size_t read(char* out, std::size_t size) override {
    std::size_t done = 0;
    while (done < size && damage_.empty()) {
      const ssize_t got = ::read(descriptor_, out + done, size - done);
      if (got > 0) {
        done += static_cast<std::size_t>(got);
      } else if (got == 0) {
        break;
      } else if (errno != EINTR) {
        damage_ = "read_failed";
      }
    }
    consumed_ += static_cast<std::int64_t>(done);
    return done;
  }
  std::int64_t consumed() const override { return consumed_; }
  std::int64_t file_size() const override { return size_; }
  std::string damage() const override { return damage_; }
  std::int64_t damage_offset() const override { return consumed_; }

 private:
  int descriptor_;
  std::int64_t size_;
  std::int64_t consumed_ = 0;
  std::string damage_;
};

class MemoryStream : public ByteStream {
 public:
  MemoryStream(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(std::max<std::size_t>(piece, 1)) {}
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = std::min({size, piece_, bytes_.size() - consumed_});
    std::memcpy(out, bytes_.data() + consumed_, count);
    consumed_ += count;
    return count;
  }
  std::int64_t consumed() const override { return static_cast<std::int64_t>(consumed_); }
  std::int64_t file_size() const override { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  std::string_view bytes_;
  std::size_t piece_;
  std::size_t consumed_ = 0;
};

// Puts bytes that were read for recognition in front of a stream.
class PrependedStream : public ByteStream {
 public:
  PrependedStream(std::string head, std::unique_ptr<ByteStream> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  std::size_t read(char* out, std::size_t size) override {
    if (taken_ == head_.size()) return rest_->read(out, size);
    const std::size_t count = std::min(size, head_.size() - taken_);
    std::memcpy(out, head_.data() + taken_, count);
    taken_ += count;
    return count;
  }
  std::int64_t consumed() const override { return rest_->consumed(); }
  std::int64_t file_size() const override { return rest_->file_size(); }
  std::string damage() const override { return rest_->damage(); }
  std::int64_t damage_offset() const override { return rest_->damage_offset(); }

 private:
  std::string head_;
  std::unique_ptr<ByteStream> rest_;
  std::size_t taken_ = 0;
};

// What gzip and zstd share: a buffer of compressed bytes that is filled from the stream below.
class Decompressor : public ByteStream {
 public:
  explicit Decompressor(std::unique_ptr<ByteStream> below) : below_(std::move(below)), in_(kInputBytes) {}
  std::int64_t consumed() const override { return below_->consumed() - static_cast<std::int64_t>(left_); }
  std::int64_t file_size() const override { return below_->file_size(); }
  bool is_compressed() const override { return true; }
  std::string damage() const override { return damage_.empty() ? below_->damage() : damage_; }
  std::int64_t damage_offset() const override { return damage_.empty() ? below_->damage_offset() : damage_offset_; }

 protected:
  static constexpr std::size_t kInputBytes = 128 * 1024;
  // True when there are bytes at next().
  bool refill() {
    if (left_ > 0) return true;
    begin_ = 0;
    left_ = below_->read(in_.data(), in_.size());
    return left_ > 0;
  }
  const char* next() const { return in_.data() + begin_; }
  std::size_t left() const { return left_; }
  void advance(std::size_t count) {
    begin_ += count;
    left_ -= count;
  }
  void stop(const char* name) {
    damage_ = name;
    damage_offset_ = consumed();
  }
  bool is_stopped() const { return !damage_.empty(); }

 private:
  std::unique_ptr<ByteStream> below_;
  std::vector<char> in_;
  std::size_t begin_ = 0;
  std::size_t left_ = 0;
  std::string damage_;
  std::int64_t damage_offset_ = 0;
};

class GzipStream : public Decompressor {
 public:
  explicit GzipStream(std::unique_ptr<ByteStream> below) : Decompressor(std::move(below)) {
    constexpr int kGzipWindow = 15 + 16;
    if (inflateInit2(&state_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~GzipStream() override { inflateEnd(&state_); }

  std::size_t read(char* out, std::size_t size) override {
    constexpr std::size_t kMost = 1u << 30;
    size = std::min(size, kMost);
    std::size_t done = 0;
    while (done < size && !is_stopped() && !is_over_) {
      if (!refill()) {
        if (!is_between_members_) stop("gzip_cut");
        break;
      }
      if (is_between_members_ && !starts_member()) break;
      state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next()));
      state_.avail_in = static_cast<uInt>(left());
      state_.next_out = reinterpret_cast<Bytef*>(out + done);
      state_.avail_out = static_cast<uInt>(size - done);
      const int code = inflate(&state_, Z_NO_FLUSH);
      advance(left() - state_.avail_in);
      done = size - state_.avail_out;
      if (code == Z_STREAM_END) {
        is_between_members_ = true;
        inflateReset(&state_);
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        stop("gzip_corrupt");
      }
    }
    return done;
  }

 private:
  // Behind a member: another one begins, or what follows is padding or rubbish and the text is over.
  bool starts_member() {
    while (left() > 0 && *next() == '\0' && has_member_) {
      advance(1);
      if (left() == 0 && !refill()) return false;
    }
    constexpr char kMagic = '\x1f';
    if (*next() != kMagic && has_member_) {
      stop("bytes_behind_gzip");
      return false;
    }
    is_between_members_ = false;
    has_member_ = true;
    return true;
  }

  z_stream state_{};
  bool is_between_members_ = true;
  bool has_member_ = false;
  bool is_over_ = false;
};

class ZstdStream : public Decompressor {
 public:
  explicit ZstdStream(std::unique_ptr<ByteStream> below)
      : Decompressor(std::move(below)), state_(ZSTD_createDStream()) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdStream() override { ZSTD_freeDStream(state_); }

  std::size_t read(char* out, std::size_t size) override {
    ZSTD_outBuffer output{out, size, 0};
    while (output.pos < size && !is_stopped()) {
      if (!refill()) {
        if (!is_between_frames_) stop("zstd_cut");
        break;
      }
      ZSTD_inBuffer input{next(), left(), 0};
      const std::size_t code = ZSTD_decompressStream(state_, &output, &input);
      advance(input.pos);
      if (ZSTD_isError(code)) stop("zstd_corrupt");
      is_between_frames_ = code == 0;
    }
    return output.pos;
  }

 private:
  ZSTD_DStream* state_;
  bool is_between_frames_ = true;
};

std::unique_ptr<ByteStream> decompressed(std::unique_ptr<ByteStream> stream) {
  constexpr std::size_t kMagicBytes = 4;
  std::string head(kMagicBytes, '\0');
  std::size_t got = 0;
  while (got < kMagicBytes) {
    const std::size_t more = stream->read(head.data() + got, kMagicBytes - got);
    if (more == 0) break;
    got += more;
  }
  head.resize(got);
  const std::string_view view = head;
  const bool is_gzip = view.substr(0, 2) == "\x1f\x8b";
  const bool is_zstd = view == "\x28\xb5\x2f\xfd";
  auto whole = std::make_unique<PrependedStream>(std::move(head), std::move(stream));
  if (is_gzip) return std::make_unique<GzipStream>(std::move(whole));
  if (is_zstd) return std::make_unique<ZstdStream>(std::move(whole));
  return whole;
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path) {
  const auto cannot = [&](int code) {
    return Error{ExitCode::bad_input,
                 fmt::format(fmt::runtime(tr("{path} cannot be read ({reason}); check the path and its permissions.")),
                             fmt::arg("path", path), fmt::arg("reason", error_reason(code)))};
  };
  if (path == "-") return decompressed(std::make_unique<FileStream>(STDIN_FILENO, 0));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot(errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) {
    const int code = S_ISDIR(status.st_mode) ? EISDIR : errno;
    ::close(descriptor);
    return cannot(code);
  }
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  return decompressed(std::make_unique<FileStream>(descriptor, S_ISREG(status.st_mode) ? status.st_size : 0));
}

std::unique_ptr<ByteStream> memory_stream(std::string_view bytes, std::size_t piece) {
  return decompressed(std::make_unique<MemoryStream>(bytes, piece));
}

}  // namespace vramscope
