#include "recording/format.h"

#include "recording/crc32c.h"
#include "recording/little_endian.h"

namespace vramscope::recording {

namespace {

constexpr std::size_t kUuidBytes = 16;
constexpr std::size_t kMaxRunTextBytes = 16000;  // four of them fit in kMaxFileBodyBytes

void append_run_text(std::string& body, std::string_view text) {
  text = text.substr(0, kMaxRunTextBytes);
  append_number(body, static_cast<std::uint16_t>(text.size()));
  body.append(text);
}

bool take_run_text(std::string_view& body, std::string& text) {
  if (body.size() < 2) return false;
  const std::size_t size = number_at<std::uint16_t>(body.data());
  body.remove_prefix(2);
  text = body.substr(0, size);
  const bool whole = body.size() >= size;
  body.remove_prefix(text.size());
  return whole;
}

}  // namespace

void append_header(const ChunkHeader& header, std::string& out) {
  const std::size_t start = out.size();
  out.append(kChunkMagic);
  append_number(out, header.kind);
  append_number(out, header.flags);
  append_number(out, header.sequence);
  append_number(out, header.rows);
  append_number(out, header.columns);
  append_number(out, std::uint16_t{0});
  append_number(out, header.min_time_ns);
  append_number(out, header.max_time_ns);
  append_number(out, header.drops);
  append_number(out, header.raw_bytes);
  append_number(out, header.stored_bytes);
  append_number(out, header.payload_crc);
  append_number(out, crc32c(std::string_view(out).substr(start)));
}

bool parse_header(const char* bytes, ChunkHeader& header) {
  if (std::string_view(bytes, kChunkMagic.size()) != kChunkMagic) return false;
  if (crc32c({bytes, kChunkHeaderBytes - 4}) != number_at<std::uint32_t>(bytes + kChunkHeaderBytes - 4)) return false;
  header.kind = number_at<std::uint16_t>(bytes + 4);
  header.flags = number_at<std::uint16_t>(bytes + 6);
  header.sequence = number_at<std::uint64_t>(bytes + 8);
  header.rows = number_at<std::uint32_t>(bytes + 16);
  header.columns = number_at<std::uint16_t>(bytes + 20);
  header.min_time_ns = number_at<std::int64_t>(bytes + 24);
  header.max_time_ns = number_at<std::int64_t>(bytes + 32);
  header.drops = number_at<std::uint64_t>(bytes + 40);
  header.raw_bytes = number_at<std::uint32_t>(bytes + 48);
  header.stored_bytes = number_at<std::uint32_t>(bytes + 52);
  header.payload_crc = number_at<std::uint32_t>(bytes + 56);
  return header.raw_bytes <= kMaxRawBytes && header.stored_bytes <= kMaxRawBytes && header.rows <= kMaxRows;
}

std::string file_header(const RunInfo& run) {
  std::string body = run.uuid;
  body.resize(kUuidBytes);
  append_number(body, run.start_ns);
  append_run_text(body, run.host_name);
  append_run_text(body, run.boot_id);
  append_run_text(body, run.program);
  append_run_text(body, run.command);

  std::string out(kFileMagic);
  append_number(out, kVersion);
  append_number(out, std::uint16_t{0});
  append_number(out, static_cast<std::uint32_t>(body.size()));
  out += body;
  append_number(out, crc32c(out));
  return out;
}

bool parse_file_body(std::string_view body, RunInfo& run) {
  if (body.size() < kUuidBytes + 8) return false;
  run.uuid = body.substr(0, kUuidBytes);
  run.start_ns = number_at<std::int64_t>(body.data() + kUuidBytes);
  body.remove_prefix(kUuidBytes + 8);
  return take_run_text(body, run.host_name) && take_run_text(body, run.boot_id) && take_run_text(body, run.program) &&
         take_run_text(body, run.command);
}

std::uint16_t trace_columns(ChunkKind kind) {
  switch (kind) {
    case ChunkKind::threads:
      return column::kThreadName;
    case ChunkKind::stacks:
      return column::kStackFrame;
    case ChunkKind::spans:
      return column::kSpanStream;
    case ChunkKind::memory_events:
      return column::kMemoryOrigin;
    case ChunkKind::tallies:
      return column::kTallyDuration;
    case ChunkKind::losses:
      return column::kLossReason;
    default:
      return 0;
  }
}

std::uint16_t trace_time_column(ChunkKind kind) {
  switch (kind) {
    case ChunkKind::spans:
      return column::kSpanEnd;
    case ChunkKind::memory_events:
      return column::kMemoryTime;
    case ChunkKind::tallies:
      return column::kTallyTime;
    case ChunkKind::losses:
      return column::kLossTime;
    default:
      return 0;
  }
}

}  // namespace vramscope::recording
