// What the reader of CUDA memory snapshots makes of each shape that a file may have.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "import/reader.h"

namespace vramscope {
namespace {

using namespace std::string_literals;

// A pickle, put together: each function gives the opcodes of one value.
std::string text(std::string_view value) {
  std::string made = "X";
  for (int shift = 0; shift < 32; shift += 8) made += static_cast<char>(value.size() >> shift & 0xff);
  return made.append(value);
}
std::string number(std::string_view digits) {
  return "L" + std::string(digits) + "L\n";
}
std::string list(const std::vector<std::string>& items) {
  std::string made = "](";
  for (const std::string& item : items) made += item;
  return made + "e";
}
std::string dict(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string made = "}(";
  for (const auto& [key, value] : pairs) made += text(key) + value;
  return made + "u";
}
std::string frame(std::string_view file, std::string_view line, std::string_view name) {
  return dict({{"filename", text(file)}, {"line", number(line)}, {"name", text(name)}});
}
using Pairs = std::vector<std::pair<std::string, std::string>>;
std::string entry(std::string_view action, std::string_view address, std::string_view bytes, Pairs more = {}) {
  Pairs pairs = {{"action", text(action)}, {"addr", number(address)}, {"size", number(bytes)}, {"stream", number("0")}};
  pairs.insert(pairs.end(), more.begin(), more.end());
  return dict(pairs);
}
std::string segment(std::string_view address, const std::vector<std::string>& blocks, Pairs more = {}) {
  Pairs pairs = {{"device", number("0")}, {"address", number(address)},    {"total_size", number("2097152")},
                 {"stream", number("0")}, {"segment_type", text("small")}, {"blocks", list(blocks)}};
  pairs.insert(pairs.end(), more.begin(), more.end());
  return dict(pairs);
}
std::string block(std::string_view bytes, std::string_view state, Pairs more = {}) {
  Pairs pairs = {{"size", number(bytes)}, {"state", text(state)}};
  pairs.insert(pairs.end(), more.begin(), more.end());
  return dict(pairs);
}

Result<Source> open(const std::string& body, bool is_whole = true) {
  const std::string bytes = "\x80\x02" + body + (is_whole ? "." : "");
  const std::unique_ptr<ByteStream> stream = memory_stream(bytes, 5);
  return read_source(*stream, "input");
}
Source opened(const std::string& body, bool is_whole = true) {
  Result<Source> source = open(body, is_whole);
  EXPECT_TRUE(source) << source.error().message;
  return source ? std::move(*source) : Source{};
}
std::string snapshot(const std::vector<std::string>& segments, const std::vector<std::string>& entries) {
  return dict({{"segments", list(segments)}, {"device_traces", list({list(entries)})}});
}
std::int64_t trouble(const Source& source, std::string_view name) {
  for (const Trouble& one : source.trouble) {
    if (one.name == name) return one.count;
  }
  return 0;
}
std::vector<std::string> stack_of(const Source& source, StackId id) {
  std::vector<std::string> frames;
  const Trace& trace = source.trace;
  for (; id != 0; id = trace.stacks.nodes[id].parent)
    frames.emplace_back(trace.strings.view(trace.stacks.nodes[id].frame));
  return frames;
}

TEST(CudaSnapshot, EntriesKeepEveryField) {
  const std::string frames = list({frame("a.py", "3", "inner"), frame("??", "0", "native()")});
  const Source source = opened(snapshot({}, {entry("alloc", "4096", "512",
                                                   {{"time_us", number("1700000000000001")},
                                                    {"frames", frames},
                                                    {"compile_context", text("N/A")},
                                                    {"user_metadata", text("step 3")},
                                                    {"category", text("weights")},
                                                    {"pool_id", number("0") + number("1") + "\x86"}})}));
  const MemoryState& state = *source.memory_state;
  ASSERT_EQ(state.devices.size(), 1u);
  const AllocatorLog& log = state.devices[0].log;
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log.action[0], AllocatorAction::alloc);
  EXPECT_EQ(log.time_ns[0], 1700000000000001000);
  EXPECT_EQ(log.address[0], 4096u);
  EXPECT_EQ(log.bytes[0], 512);
  EXPECT_EQ(stack_of(source, log.stack[0]), (std::vector<std::string>{"a.py(3): inner", "native()"}));
  ASSERT_EQ(log.note[0], 0u);
  const StringPool& strings = source.trace.strings;
  EXPECT_EQ(strings.view(state.notes[0].user_metadata), "step 3");
  EXPECT_EQ(strings.view(state.notes[0].category), "weights");
  EXPECT_EQ(strings.view(state.notes[0].pool), "(0, 1)");
  EXPECT_EQ(state.notes[0].compile_context, 0u);
  EXPECT_EQ(source.start_ns, source.end_ns);
  EXPECT_TRUE(source.trouble.empty());
}

TEST(CudaSnapshot, WhatTheFileDoesNotSayIsUnknown) {
  const Source source = opened(snapshot({}, {entry("alloc", "4096", "512"), dict({{"action", text("snapshot")}})}));
  const AllocatorLog& log = source.memory_state->devices[0].log;
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log.time_ns[0], kUnknown);
  EXPECT_EQ(log.stack[0], 0u);
  EXPECT_EQ(log.note[0], kNone);
  EXPECT_EQ(log.bytes[1], kUnknown);
  EXPECT_EQ(log.address[1], kUnknownAddress);
  EXPECT_FALSE(source.start_ns.has_value());
}

TEST(CudaSnapshot, AnOutOfMemoryEntryHasTheDriversRest) {
  const Source source = opened(snapshot(
      {},
      {dict(
          {{"action", text("oom")}, {"device_free", number("77")}, {"size", number("5")}, {"stream", number("0")}})}));
  const AllocatorLog& log = source.memory_state->devices[0].log;
  EXPECT_EQ(log.action[0], AllocatorAction::oom);
  EXPECT_EQ(log.address[0], kUnknownAddress);
  EXPECT_EQ(source.memory_state->notes[log.note[0]].device_free_bytes, 77);
}

TEST(CudaSnapshot, UnknownActionsKeepTheirNames) {
  const Source source = opened(snapshot({}, {entry("defragment", "1", "2"), entry("free", "1", "2")}));
  const AllocatorLog& log = source.memory_state->devices[0].log;
  EXPECT_EQ(log.action[0], AllocatorAction::other);
  EXPECT_EQ(log.action[1], AllocatorAction::free_completed);
  ASSERT_EQ(source.events_by_category.size(), 2u);
  EXPECT_EQ(source.events_by_category[0].name, "defragment");
}

TEST(CudaSnapshot, AddressesAbove63BitsAreExact) {
  const Source source = opened(snapshot({segment("18446744073707454464", {block("2097152", "inactive")})},
                                        {entry("alloc", "18446744073707454464", "512")}));
  const AllocatorDevice& device = source.memory_state->devices[0];
  EXPECT_EQ(device.log.address[0], 18446744073707454464u);
  EXPECT_EQ(device.segments[0].address, 18446744073707454464u);
  EXPECT_EQ(device.blocks[0].address, 18446744073707454464u);
}

TEST(CudaSnapshot, SegmentsAreSortedWithTheirBlocks) {
  const Source source = opened(snapshot(
      {segment("8388608",
               {block("512", "active_allocated", {{"requested_size", number("400")}}), block("1024", "inactive")}),
       segment("4194304", {block("2048", "active_pending_free"), block("4096", "active_awaiting_free")})},
      {}));
  const AllocatorDevice& device = source.memory_state->devices[0];
  ASSERT_EQ(device.segments.size(), 2u);
  EXPECT_EQ(device.segments[0].address, 4194304u);
  EXPECT_EQ(device.segments[0].type, SegmentPool::small);
  EXPECT_EQ(device.segments[0].allocated_bytes, kUnknown);
  EXPECT_EQ(device.blocks[device.segments[0].first_block].bytes, 2048);
  EXPECT_EQ(device.blocks[0].state, BlockState::pending_free);
  EXPECT_EQ(device.blocks[1].state, BlockState::pending_free);
  const Block& allocated = device.blocks[device.segments[1].first_block];
  EXPECT_EQ(allocated.requested_bytes, 400);
  EXPECT_EQ(allocated.state, BlockState::allocated);
  // Blocks without an address lie one behind the other.
  EXPECT_EQ(device.blocks[3].address, 8388608u + 512);
  EXPECT_EQ(device.segments[1].last_block, 4u);
}

TEST(CudaSnapshot, BlocksWithHistoryOfTorch20) {
  const std::string history = list(
      {dict({{"addr", number("4194304")}, {"real_size", number("300")}, {"frames", list({frame("m.py", "1", "f")})}})});
  const Source source = opened(snapshot({segment("4194304", {block("512", "active_allocated", {{"history", history}}),
                                                             block("512", "inactive", {{"history", history}})})},
                                        {}));
  const std::vector<Block>& blocks = source.memory_state->devices[0].blocks;
  EXPECT_EQ(blocks[0].requested_bytes, 300);
  EXPECT_EQ(blocks[1].requested_bytes, kUnknown);
  EXPECT_EQ(stack_of(source, blocks[0].stack), std::vector<std::string>{"m.py(1): f"});
}

TEST(CudaSnapshot, ABareListOfSegmentsIsASnapshot) {
  const Source source = opened(list({segment("4194304", {block("512", "inactive")})}));
  EXPECT_EQ(source.memory_state->devices[0].segments.size(), 1u);
  EXPECT_EQ(source.events, 0);
}

TEST(CudaSnapshot, TheHostComesLast) {
  const Source source = opened(dict({{"host_segments", list({segment("4096", {})})},
                                     {"host_traces", list({entry("alloc", "4096", "8")})},
                                     {"segments", list({segment("4096", {}, {{"device", number("3")}})})},
                                     {"device_traces", list({list({}), list({entry("alloc", "1", "2")})})}}));
  const std::vector<AllocatorDevice>& devices = source.memory_state->devices;
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(devices[0].name(), "cuda:0");
  EXPECT_EQ(devices[1].log.size(), 1u);
  EXPECT_EQ(devices[1].log.bytes[0], 2);
  EXPECT_EQ(devices[2].index, 3);
  EXPECT_EQ(devices[3].name(), "host");
  EXPECT_EQ(devices[3].log.bytes[0], 8);
  EXPECT_EQ(devices[3].segments.size(), 1u);
  EXPECT_EQ(source.environment.devices.size(), 3u);
}

TEST(CudaSnapshot, LogsOfSeveralDevicesAreTakenApart) {
  const Source source =
      opened(dict({{"device_traces", list({list({entry("alloc", "1", "10")}),
                                           list({entry("alloc", "2", "20"), entry("free", "2", "21")}),
                                           list({entry("oom", "3", "30")})})}}));
  const std::vector<AllocatorDevice>& devices = source.memory_state->devices;
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].log.bytes[0], 10);
  ASSERT_EQ(devices[1].log.size(), 2u);
  EXPECT_EQ(devices[1].log.bytes[1], 21);
  EXPECT_EQ(devices[2].log.bytes[0], 30);
  EXPECT_EQ(devices[2].log.action[0], AllocatorAction::oom);
}

TEST(CudaSnapshot, SettingsAndAnnotations) {
  const Source source = opened(dict({{"segments", list({})},
                                     {"allocator_settings", dict({{"expandable_segments", "\x88"},
                                                                  {"max_split_size", number("-1")},
                                                                  {"roundup", dict({{"1024", number("0")}})}})},
                                     {"external_annotations", list({dict({{"stage", text("START")},
                                                                          {"name", text("step")},
                                                                          {"device", number("0")},
                                                                          {"time_us", number("5")}})})}}));
  const std::map<std::string, std::string> settings = {
      {"expandable_segments", "True"}, {"max_split_size", "-1"}, {"roundup.1024", "0"}};
  EXPECT_EQ(source.memory_state->settings, settings);
  ASSERT_EQ(source.memory_state->annotations.size(), 1u);
  EXPECT_TRUE(source.memory_state->annotations[0].is_begin);
  EXPECT_EQ(source.start_ns, 5000);
}

TEST(CudaSnapshot, WrongTypesAreCounted) {
  const Source source =
      opened(snapshot({segment("4096", {text("x"), block("-5", "odd")}), number("3")}, {dict({{"action", number("1")},
                                                                                              {"addr", text("a")},
                                                                                              {"size", text("b")},
                                                                                              {"stream", "N"},
                                                                                              {"time_us", "]"},
                                                                                              {"frames", text("c")}}),
                                                                                        text("entry")}));
  EXPECT_EQ(trouble(source, "wrong_type"), 7);  // block, segment, addr, size, time, frames, entry
  EXPECT_EQ(trouble(source, "negative_size"), 1);
  EXPECT_EQ(trouble(source, "unknown_block_state"), 1);
  EXPECT_EQ(source.events, 1);
}

TEST(CudaSnapshot, NumbersBeyondTheirRange) {
  const Source source =
      opened(snapshot({}, {entry("alloc", "1", "99999999999999999999", {{"time_us", number("9223372036854775807")}})}));
  EXPECT_EQ(trouble(source, "number_too_large"), 1);
  EXPECT_EQ(trouble(source, "time_overflow"), 1);
  EXPECT_EQ(source.memory_state->devices[0].log.time_ns[0], kUnknown);
}

TEST(CudaSnapshot, AListThatManyUseIsTakenOnce) {
  const std::string entries = list({entry("alloc", "1", "2")}) + "q\x01";
  std::string traces = "](" + entries;
  for (int i = 0; i < 1000; ++i) traces += "h\x01";
  const std::string blocks = list({block("512", "inactive")}) + "q\x02";
  std::string segments = "](" + dict({{"total_size", number("512")}, {"blocks", blocks}});
  for (int i = 0; i < 1000; ++i) segments += dict({{"total_size", number("512")}, {"blocks", "h\x02"}});
  const Source source = opened(dict({{"segments", segments + "e"}, {"device_traces", traces + "e"}}));
  EXPECT_EQ(source.events, 1);
  EXPECT_EQ(source.memory_state->devices[0].blocks.size(), 1u);
  EXPECT_EQ(trouble(source, "list_used_twice"), 2000);
}

TEST(CudaSnapshot, MetadataThatHoldsItselfEnds) {
  const Source source =
      opened(snapshot({}, {entry("alloc", "1", "2", {{"user_metadata", "}q\x01(" + text("me") + "h\x01u"}})}));
  EXPECT_EQ(source.events, 1);
  const AllocatorLog& log = source.memory_state->devices[0].log;
  const std::string_view shown = source.trace.strings.view(source.memory_state->notes[log.note[0]].user_metadata);
  EXPECT_EQ(shown.substr(0, 13), "{\"me\": {\"me\":");
  EXPECT_LT(shown.size(), 200u);
}

TEST(CudaSnapshot, EqualStacksAreOne) {
  const auto frames = [] { return list({frame("a.py", "1", "f"), frame("a.py", "2", "g")}); };
  const Source source = opened(snapshot({segment("4096", {block("512", "active_allocated", {{"frames", frames()}})})},
                                        {entry("alloc", "1", "2", {{"frames", frames()}}),
                                         entry("alloc", "1", "2", {{"frames", list({frame("a.py", "2", "g")})}})}));
  const AllocatorDevice& device = source.memory_state->devices[0];
  EXPECT_EQ(device.log.stack[0], device.blocks[0].stack);
  EXPECT_EQ(source.trace.stacks.nodes[device.log.stack[0]].parent, device.log.stack[1]) << "callers are shared";
  EXPECT_EQ(source.trace.stacks.nodes.size(), 3u);
}

TEST(CudaSnapshot, StacksThatAreWrittenInPartsAreWhole) {
  std::string frames = "](" + frame("a.py", "1", "f") + "eq\x01(" + frame("a.py", "2", "g") + "e";
  const Source source = opened(snapshot({}, {entry("alloc", "1", "2", {{"frames", frames}})}));
  // The second part comes after the list was taken for a stack: it is lost and counted.
  EXPECT_EQ(trouble(source, "changed_after_use"), 1);
  std::string lines = "](";
  for (int i = 0; i < 1000; ++i) lines += frame("a.py", std::to_string(i), "f");
  lines += "e" + frame("a.py", "1000", "f") + "a";
  const Source deep = opened(snapshot({}, {entry("alloc", "1", "2", {{"frames", lines}})}));
  EXPECT_EQ(stack_of(deep, deep.memory_state->devices[0].log.stack[0]).size(), 1001u);
  EXPECT_TRUE(deep.trouble.empty());
}

TEST(CudaSnapshot, ACutKeepsWholeEntries) {
  const std::string body = "}(" + text("segments") + list({segment("4096", {block("512", "inactive")})}) +
                           text("device_traces") + "](](" + entry("alloc", "1", "2") + entry("alloc", "3", "4");
  const Source source = opened(body.substr(0, body.size() - 3), false);
  EXPECT_EQ(source.events, 1) << "the second entry is half";
  EXPECT_EQ(source.memory_state->devices[0].segments.size(), 1u);
  EXPECT_EQ(trouble(source, "cut_file"), 1);
}

TEST(CudaSnapshot, DamageKeepsWhatCameBefore) {
  const std::string body = "}(" + text("segments") + list({segment("4096", {block("512", "inactive")})}) + "\xff";
  const Source source = opened(body, false);
  EXPECT_EQ(source.memory_state->devices[0].segments.size(), 1u);
  EXPECT_EQ(trouble(source, "damaged_pickle"), 1);
}

TEST(CudaSnapshot, RefusalsAreOneSentence) {
  const auto message = [](const std::string& body, bool is_whole = true) {
    const Result<Source> source = open(body, is_whole);
    EXPECT_FALSE(source);
    return source ? std::string() : source.error().message;
  };
  EXPECT_NE(message("cos\nsystem\n" + text("id") + "\x85R").find("asks for os.system (opcode GLOBAL at byte 2)"),
            std::string::npos);
  EXPECT_NE(message(dict({{"weights", list({})}})).find("a pickle of a dictionary and no CUDA memory snapshot"),
            std::string::npos);
  EXPECT_NE(message(number("3")).find("a pickle of a number"), std::string::npos);
  EXPECT_NE(message("", false).find("it breaks off"), std::string::npos);
  EXPECT_NE(message(std::string(2'000'000, '(')).find("nested more deeply"), std::string::npos);
}

TEST(CudaSnapshot, BytesBehindThePickleAreCounted) {
  const Source source = opened(snapshot({}, {entry("alloc", "1", "2")}) + ".more", false);
  EXPECT_EQ(trouble(source, "bytes_behind_pickle"), 1);
}

}  // namespace
}  // namespace vramscope
