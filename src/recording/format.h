#pragma once
// The numbers of the .vrs file: docs/recording-format.md describes it to the byte, and the two must agree.
// All numbers are little-endian. What is written once is readable for ever: numbers here are added, never changed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::recording {

inline constexpr std::string_view kFileMagic("\x89VRS\r\n\x1a\n", 8);
inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::string_view kChunkMagic("\xF1VRC", 4);

inline constexpr std::size_t kFileHeadBytes = 16;        // before the body of the file header
inline constexpr std::size_t kMaxFileBodyBytes = 65536;  // of the file header
inline constexpr std::size_t kChunkHeaderBytes = 64;
inline constexpr std::size_t kColumnEntryBytes = 8;
inline constexpr std::uint32_t kMaxRawBytes = 16U << 20;  // payload of a chunk, also as stored
inline constexpr std::uint32_t kMaxRows = 1U << 20;       // of a chunk
inline constexpr std::uint32_t kMaxTextBytes = 65536;     // of one text; writers cut longer ones

enum class ChunkKind : std::uint16_t {
  strings = 1,
  subjects = 2,
  attributes = 3,
  series = 4,
  clocks = 5,
  samples = 6,
  events = 7,
  checkpoint = 8,
  end = 9,
  // 16 to 63 are for traces: also 20 live allocations, 21 flows, 22 modules, none of which is written yet.
  threads = 16,
  stacks = 17,
  spans = 18,
  memory_events = 19,
  tallies = 23,
  losses = 24
};
inline constexpr ChunkKind kTraceKinds[] = {ChunkKind::threads,       ChunkKind::stacks,  ChunkKind::spans,
                                            ChunkKind::memory_events, ChunkKind::tallies, ChunkKind::losses};

// Bits of ChunkHeader::flags. Unknown low bits (0 to 7) mean nothing; with an unknown high bit (8 to 15) a chunk is
// treated as one of an unknown kind.
inline constexpr std::uint16_t kMustUnderstand = 1;  // a reader that does not know this kind must stop here
inline constexpr std::uint16_t kRepeats = 2;         // part of a checkpoint: repeats what was defined before
inline constexpr std::uint16_t kCompressed = 4;      // the payload is one zstd frame
inline constexpr std::uint16_t kUnknownFlags = 0xFF00;

// A column id with this bit: a reader that does not know the column must skip the chunk.
inline constexpr std::uint16_t kColumnMustUnderstand = 0x8000;

enum class ColumnType : std::uint8_t { integer = 1, text = 2 };
enum class Encoding : std::uint8_t { raw = 0, constant = 1, varint = 2, delta = 3, delta2 = 4, runs = 5 };

// Column ids, each within its kind.
namespace column {
inline constexpr std::uint16_t kStringId = 1, kStringText = 2;
inline constexpr std::uint16_t kSubjectId = 1, kSubjectKind = 2, kSubjectKey = 3, kSubjectParent = 4;
inline constexpr std::uint16_t kAttributeSubject = 1, kAttributeName = 2, kAttributeValue = 3;
inline constexpr std::uint16_t kSeriesId = 1, kSeriesSubject = 2, kSeriesMetric = 3, kSeriesUnit = 4;
inline constexpr std::uint16_t kClockId = 1, kClockTime = 2, kClockValue = 3;
inline constexpr std::uint16_t kSampleSeries = 1, kSampleTime = 2, kSampleStep = 3, kSampleValidity = 4,
                               kSampleBase = 5, kSampleShift = 6;
inline constexpr std::uint16_t kEventTime = 1, kEventKind = 2, kEventSubject = 3, kEventCode = 4, kEventText = 5;
inline constexpr std::uint16_t kCheckpointChunks = 1;
inline constexpr std::uint16_t kTotalChunks = 1, kTotalSamples = 2, kTotalEvents = 3, kTotalDropped = 4,
                               kTotalBytes = 5, kTotalTraceRows = 6;
inline constexpr std::uint16_t kThreadId = 1, kThreadProcess = 2, kThreadTid = 3, kThreadName = 4;
inline constexpr std::uint16_t kStackId = 1, kStackParent = 2, kStackFrame = 3;
inline constexpr std::uint16_t kSpanThread = 1, kSpanEnd = 2, kSpanDuration = 3, kSpanKind = 4, kSpanName = 5,
                               kSpanFlags = 6, kSpanDomain = 7, kSpanCategory = 8, kSpanPayloadType = 9,
                               kSpanPayload = 10, kSpanCorrelation = 11, kSpanResult = 12, kSpanBytes = 13,
                               kSpanStack = 14, kSpanDevice = 15, kSpanStream = 16;
inline constexpr std::uint16_t kMemoryTime = 1, kMemoryThread = 2, kMemoryAction = 3, kMemoryAddress = 4,
                               kMemoryBytes = 5, kMemoryRequested = 6, kMemoryDevice = 7, kMemoryPool = 8,
                               kMemoryStream = 9, kMemoryStack = 10, kMemoryOrigin = 11;
inline constexpr std::uint16_t kTallyTime = 1, kTallyThread = 2, kTallyKind = 3, kTallyName = 4, kTallyCount = 5,
                               kTallyDuration = 6;
inline constexpr std::uint16_t kLossTime = 1, kLossSince = 2, kLossProcess = 3, kLossKind = 4, kLossCount = 5,
                               kLossReason = 6;
}  // namespace column

// Columns of a kind for traces, numbered from 1. 0: no such kind.
std::uint16_t trace_columns(ChunkKind kind);
// The column with the times of its rows, 0 where rows have none.
std::uint16_t trace_time_column(ChunkKind kind);

struct ChunkHeader {
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  std::uint64_t sequence = 0;  // 0, 1, 2, … in file order
  std::uint32_t rows = 0;
  std::uint16_t columns = 0;
  std::int64_t min_time_ns = INT64_MAX;  // min > max: no row has a time
  std::int64_t max_time_ns = INT64_MIN;
  std::uint64_t drops = 0;         // rows that were lost between the chunk before and this one
  std::uint32_t raw_bytes = 0;     // payload, not compressed
  std::uint32_t stored_bytes = 0;  // that follow the header
  std::uint32_t payload_crc = 0;   // CRC-32C of the stored bytes
};

// Appends kChunkHeaderBytes, the header's own CRC at their end.
void append_header(const ChunkHeader& header, std::string& out);
// `bytes`: kChunkHeaderBytes. False: no chunk header, a wrong CRC, or sizes beyond the limits.
bool parse_header(const char* bytes, ChunkHeader& header);

// What the file header holds.
struct RunInfo {
  std::string uuid;           // of the recording, 16 bytes; the writer makes one when it is empty
  std::int64_t start_ns = 0;  // CLOCK_REALTIME
  std::string host_name;
  std::string boot_id;  // as in /proc/sys/kernel/random/boot_id
  std::string program;  // "vramscope 0.1.0"
  std::string command;  // the command line that is recorded; empty: none
};

// Magic, version, body, CRC.
std::string file_header(const RunInfo& run);
// The body alone. False when it is too short for its own lengths; what was there is kept.
bool parse_file_body(std::string_view body, RunInfo& run);

}  // namespace vramscope::recording
