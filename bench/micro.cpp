// Parts of the work on a trace, one by one, and JSON libraries on the same text (docs/performance.md): `./dev bench
// --micro FILE`. The libraries do less: they count events and add up durations and bytes, with the whole text in
// memory; our reader builds the columns of a Trace from it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "analysis/memory_pairs.h"
#include "analysis/ops.h"
#include "benchmark/benchmark.h"
#include "import/byte_stream.h"
#include "import/reader.h"
#include "rapidjson/reader.h"
#include "simdjson.h"

namespace vramscope {

namespace {

std::string text_of(const std::string& path) {
  auto stream = open_stream(path);
  if (!stream) {
    std::fprintf(stderr, "%s\n", stream.error().message.c_str());
    std::exit(4);
  }
  std::string text(1 << 20, '\0');
  std::size_t size = 0;
  for (;;) {
    const std::size_t got = (*stream)->read(text.data() + size, text.size() - size);
    if (got == 0) break;
    size += got;
    if (size == text.size()) text.resize(text.size() * 2);
  }
  text.resize(size);
  return text;
}

void count_bytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(text.size()));
}

Source read_text(const std::string& text) {
  const auto stream = memory_stream(text, 1 << 20);
  auto source = read_source(*stream, "trace");
  if (!source) {
    std::fprintf(stderr, "%s\n", source.error().message.c_str());
    std::exit(4);
  }
  return std::move(*source);
}

void our_reader(benchmark::State& state, const std::string& text) {
  for (auto _ : state) benchmark::DoNotOptimize(read_text(text).events);
  count_bytes(state, text);
}

// Adds up "dur" and "Bytes" of whatever object holds them, as the libraries below do.
struct SumHandler : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, SumHandler> {
  double duration = 0;
  double bytes = 0;
  double* next = nullptr;
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view key(text, size);
    next = key == "dur" ? &duration : key == "Bytes" ? &bytes : nullptr;
    return true;
  }
  bool take(double number) {
    if (next != nullptr) *next += number;
    next = nullptr;
    return true;
  }
  bool Int(int number) { return take(number); }
  bool Uint(unsigned number) { return take(number); }
  bool Int64(std::int64_t number) { return take(static_cast<double>(number)); }
  bool Uint64(std::uint64_t number) { return take(static_cast<double>(number)); }
  bool Double(double number) { return take(number); }
};

void rapidjson_sax(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    SumHandler handler;
    rapidjson::Reader reader;
    rapidjson::StringStream stream(text.c_str());
    const auto result = reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag>(stream, handler);
    if (!result) state.SkipWithError("RapidJSON cannot read this file");
    benchmark::DoNotOptimize(handler.duration + handler.bytes);
  }
  count_bytes(state, text);
}

void simdjson_on_demand(benchmark::State& state, const std::string& text) {
  const simdjson::padded_string padded(text);
  simdjson::ondemand::parser parser;
  for (auto _ : state) {
    double sum = 0;
    try {
      auto document = parser.iterate(padded);
      for (auto event : document["traceEvents"].get_array()) {
        auto object = event.get_object();
        double number = 0;
        if (object["dur"].get(number) == simdjson::SUCCESS) sum += number;
        simdjson::ondemand::object args;
        if (object["args"].get(args) == simdjson::SUCCESS && args["Bytes"].get(number) == simdjson::SUCCESS) {
          sum += number;
        }
      }
    } catch (const simdjson::simdjson_error& error) {
      state.SkipWithError(error.what());
    }
    benchmark::DoNotOptimize(sum);
  }
  count_bytes(state, text);
}

void pair_allocations(benchmark::State& state, const Source& source) {
  for (auto _ : state) benchmark::DoNotOptimize(pair_memory(source.trace).partner.size());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(source.trace.memory.size()));
}

}  // namespace

}  // namespace vramscope

int main(int argc, char** argv) {
  using namespace vramscope;
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: micro_bench TRACE [--benchmark_…]\n");
    return 2;
  }
  const std::string text = text_of(argv[1]);
  const Source source = read_text(text);
  benchmark::RegisterBenchmark("vramscope: the reader, all cores", [&](auto& state) {
    our_reader(state, text);
  })->UseRealTime();
  benchmark::RegisterBenchmark("RapidJSON: SAX", [&](auto& state) { rapidjson_sax(state, text); })->UseRealTime();
  benchmark::RegisterBenchmark("simdjson: on demand", [&](auto& state) {
    simdjson_on_demand(state, text);
  })->UseRealTime();
  benchmark::RegisterBenchmark("vramscope: pairing of allocations", [&](auto& state) {
    pair_allocations(state, source);
  })->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
