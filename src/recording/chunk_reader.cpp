#include "recording/chunk_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fmt/format.h"
#include "recording/crc32c.h"
#include "recording/little_endian.h"
#include "text/catalogue.h"
#include "text/error_reason.h"

namespace vramscope::recording {

namespace {

constexpr std::size_t kWindowBytes = 256 * 1024;
// How far a damaged file header is searched for a first chunk before the file is called something else.
constexpr std::int64_t kMaxFirstChunk = static_cast<std::int64_t>(kFileHeadBytes + kMaxFileBodyBytes) + 4;

class FileBytes : public RandomBytes {
 public:
  explicit FileBytes(int descriptor) : descriptor_(descriptor) {}
  ~FileBytes() override { ::close(descriptor_); }
  std::size_t read_at(std::int64_t offset, char* out, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::pread(descriptor_, out + done, size - done, offset + static_cast<std::int64_t>(done));
      if (got > 0) {
        done += static_cast<std::size_t>(got);
      } else if (got == 0 || errno != EINTR) {
        break;
      }
    }
    return done;
  }

 private:
  int descriptor_;
};

class TextBytes : public RandomBytes {
 public:
  explicit TextBytes(std::string_view text) : text_(text) {}
  std::size_t read_at(std::int64_t offset, char* out, std::size_t size) override {
    const auto start = static_cast<std::size_t>(offset);
    if (start >= text_.size()) return 0;
    const std::size_t count = std::min(size, text_.size() - start);
    std::memcpy(out, text_.data() + start, count);
    return count;
  }

 private:
  std::string_view text_;
};

}  // namespace

Result<std::unique_ptr<RandomBytes>> open_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{ExitCode::bad_input,
                 fmt::format(fmt::runtime(tr("{path} cannot be read ({reason}); check the path and its permissions.")),
                             fmt::arg("path", path), fmt::arg("reason", error_reason(errno)))};
  }
  return std::unique_ptr<RandomBytes>(new FileBytes(descriptor));
}

std::unique_ptr<RandomBytes> bytes_of(std::string_view text) {
  return std::make_unique<TextBytes>(text);
}

void TroubleList::count(std::string_view name, std::int64_t offset, std::int64_t more) {
  for (Trouble& trouble : all_) {
    if (trouble.name == name) {
      trouble.count += more;
      return;
    }
  }
  all_.push_back({std::string(name), more, offset});
}

std::int64_t TroubleList::of(std::string_view name) const {
  for (const Trouble& trouble : all_) {
    if (trouble.name == name) return trouble.count;
  }
  return 0;
}

bool is_recording(std::string_view head) {
  return head.substr(0, kFileMagic.size()) == kFileMagic;
}

Result<std::unique_ptr<ChunkReader>> ChunkReader::open(std::unique_ptr<RandomBytes> bytes, const std::string& name) {
  std::unique_ptr<ChunkReader> reader(new ChunkReader(std::move(bytes)));
  std::uint16_t version = 0;
  if (reader->read_file_header(version)) {
    if (version <= kVersion) return reader;
    return Error{ExitCode::bad_input,
                 fmt::format(fmt::runtime(tr("{path} is a recording of version {version}, which a newer vramscope "
                                             "wrote; update this one (it reads up to version {known}).")),
                             fmt::arg("path", name), fmt::arg("version", version), fmt::arg("known", kVersion))};
  }
  const std::optional<std::int64_t> first = reader->find_chunk(0);
  if (!first || *first > kMaxFirstChunk) {
    return Error{ExitCode::bad_input,
                 fmt::format(fmt::runtime(tr("{path} is no recording of vramscope, or nothing of it is left.")),
                             fmt::arg("path", name))};
  }
  reader->trouble_.count("header_damaged", 0);
  reader->next_offset_ = *first;
  return reader;
}

// False when it is damaged or none at all. Version and CRC stand at fixed places in every version.
bool ChunkReader::read_file_header(std::uint16_t& version) {
  std::string head(kFileHeadBytes, '\0');
  if (bytes_->read_at(0, head.data(), head.size()) != head.size() || !is_recording(head)) return false;
  const std::size_t body_bytes = number_at<std::uint32_t>(head.data() + 12);
  if (body_bytes > kMaxFileBodyBytes) return false;
  head.resize(kFileHeadBytes + body_bytes + 4);
  if (bytes_->read_at(0, head.data(), head.size()) != head.size()) return false;
  const std::string_view covered(head.data(), head.size() - 4);
  if (crc32c(covered) != number_at<std::uint32_t>(head.data() + covered.size())) return false;
  version = number_at<std::uint16_t>(head.data() + 8);
  run_.emplace();
  if (!parse_file_body(covered.substr(kFileHeadBytes), *run_)) trouble_.count("header_damaged", 0);
  next_offset_ = static_cast<std::int64_t>(head.size());
  return true;
}

bool ChunkReader::header_at(std::int64_t offset, ChunkHeader& header) {
  char bytes[kChunkHeaderBytes];
  return bytes_->read_at(offset, bytes, sizeof bytes) == sizeof bytes && parse_header(bytes, header);
}

// The first place at or behind `from` where a whole chunk header stands.
std::optional<std::int64_t> ChunkReader::find_chunk(std::int64_t from) {
  window_.resize(kWindowBytes);
  for (std::int64_t start = from;;) {
    const std::size_t size = bytes_->read_at(start, window_.data(), window_.size());
    if (size < kChunkHeaderBytes) return std::nullopt;
    const std::string_view window(window_.data(), size);
    for (std::size_t at = window.find(kChunkMagic); at != window.npos; at = window.find(kChunkMagic, at + 1)) {
      ChunkHeader found;
      if (at + kChunkHeaderBytes > size) break;  // the next window holds it whole
      if (parse_header(window.data() + at, found)) return start + static_cast<std::int64_t>(at);
    }
    if (size < window_.size()) return std::nullopt;
    start += static_cast<std::int64_t>(size - kChunkHeaderBytes + 1);
  }
}

// False when the stored bytes are not those that were written.
bool ChunkReader::read_payload() {
  stored_.resize(header_.stored_bytes);
  const std::int64_t start = offset_ + static_cast<std::int64_t>(kChunkHeaderBytes);
  if (bytes_->read_at(start, stored_.data(), stored_.size()) != stored_.size()) {
    trouble_.count("cut_short", offset_);
    return false;
  }
  const bool is_compressed = (header_.flags & kCompressed) != 0;
  const bool is_opaque = (header_.flags & kUnknownFlags) != 0;
  bool is_whole = crc32c(stored_) == header_.payload_crc;
  if (is_whole && !is_opaque) {
    is_whole = is_compressed ? decompressor_.decompress(stored_, header_.raw_bytes, raw_)
                             : stored_.size() == header_.raw_bytes;
  }
  if (!is_whole) {
    trouble_.count("payload_damaged", offset_);
    return false;
  }
  payload_ = is_opaque ? std::string_view() : std::string_view(is_compressed ? raw_ : stored_);
  return true;
}

bool ChunkReader::next() {
  for (;;) {
    offset_ = next_offset_;
    char byte = 0;
    if (bytes_->read_at(offset_, &byte, 1) == 0) return false;
    if (!header_at(offset_, header_)) {
      const std::optional<std::int64_t> found = find_chunk(offset_);
      char beginning[kChunkHeaderBytes];
      // The cut of a killed writer: too few bytes for a header, and nothing wrong with those that are there.
      const std::size_t left = bytes_->read_at(offset_, beginning, sizeof beginning);
      const std::string_view start(beginning, std::min(left, kChunkMagic.size()));
      const bool is_cut = !found && left < kChunkHeaderBytes && kChunkMagic.substr(0, start.size()) == start;
      trouble_.count(is_cut ? "cut_short" : "chunk_header_damaged", offset_);
      if (!found) return false;
      next_offset_ = *found;
      continue;
    }
    if (!read_payload()) {
      // Bytes may be missing from the middle, so the next chunk is looked for within this one too.
      const std::optional<std::int64_t> found = find_chunk(offset_ + static_cast<std::int64_t>(kChunkHeaderBytes));
      if (!found) return false;
      next_offset_ = *found;
      continue;
    }
    next_offset_ = offset_ + static_cast<std::int64_t>(kChunkHeaderBytes + header_.stored_bytes);
    if (header_.sequence != (sequence_ ? *sequence_ + 1 : 0)) trouble_.count("sequence_gap", offset_);
    sequence_ = header_.sequence;
    return true;
  }
}

}  // namespace vramscope::recording
