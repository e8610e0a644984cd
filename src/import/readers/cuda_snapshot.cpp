// PyTorch's CUDA memory snapshots: pickles of torch.cuda.memory._dump_snapshot and of torch.cuda.memory_snapshot.
#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "import/reader.h"
#include "import/readers/cuda_snapshot/convert.h"
#include "import/readers/cuda_snapshot/machine.h"
#include "reader_table.h"
#include "text/catalogue.h"
#include "text/format.h"

namespace vramscope {

namespace {

using pickle::Fault;

using namespace std::string_view_literals;

template <std::size_t N>
bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view begin) { return text.substr(0, begin.size()) == begin; });
}

constexpr bool is_of_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// "cposix\nsystem\n": a name to be imported, with an opcode behind it.
bool begins_with_global(std::string_view text) {
  if (text.empty() || text.front() != 'c') return false;
  std::size_t at = 1;
  for (int line = 0; line < 2; ++line) {
    const std::size_t begin = at;
    while (at < text.size() && is_of_a_name(text[at])) ++at;
    if (at == begin || at >= text.size() || text[at] != '\n') return false;
    ++at;
  }
  return at < text.size() && "(pq)."sv.find(text[at]) != std::string_view::npos;
}

// Any pickle: "device_traces" may come megabytes later, and a pickle of something else gets a sentence of its own.
bool claims(const Head& head) {
  const std::string_view text = head.bytes;
  // Protocols to come, too: they get a sentence that names the opcode.
  constexpr char kHighest = 32;
  if (text.size() >= 2 && text[0] == '\x80') return text[1] >= 2 && text[1] <= kHighest;
  // Protocols 0 and 1 have no mark of their own: a dictionary or a list that is stored under the first number, …
  constexpr std::array kStored = {"(dp0\n"sv, "(lp0\n"sv, "(dp1\n"sv, "(lp1\n"sv,
                                  "}q\0"sv,   "]q\0"sv,   "}q\1"sv,   "]q\1"sv};
  if (begins_with_any(text, kStored)) return true;
  // … or one that is not stored at all and soon has a name that snapshots have.
  constexpr std::array kBare = {"(dV"sv, "(dS"sv, "(lp"sv, "(l("sv, "}("sv, "}X"sv, "}U"sv, "](}"sv, "]}"sv};
  constexpr std::size_t kSoon = 1024;
  const auto soon_has = [&](std::string_view name) {
    return text.substr(0, kSoon).find(name) != std::string_view::npos;
  };
  if (begins_with_any(text, kBare) && (soon_has("segments") || soon_has("device_traces") || soon_has("total_size"))) {
    return true;
  }
  return begins_with_global(text);
}

const char* reason_of(Fault fault) {
  switch (fault) {
    case Fault::cut:
      return N_("it breaks off");
    case Fault::unknown_opcode:
      return N_("unknown opcode");
    case Fault::bad_operand:
      return N_("a number or a text that cannot be read");
    case Fault::stack_empty:
      return N_("an opcode without its values");
    case Fault::no_mark:
      return N_("an opcode without its mark");
    case Fault::no_such_memo:
      return N_("a reference to nothing");
    case Fault::wrong_type:
      return N_("an opcode for another kind of value");
    case Fault::too_deep:
      return N_("more values at a time than any snapshot has");
    case Fault::too_many_marks:
      return N_("nested more deeply than any snapshot");
    case Fault::too_long:
      return N_("a text or a number longer than any snapshot has");
    case Fault::too_many_items:
      return N_("a list longer than vramscope can hold");
    case Fault::none:
    case Fault::stopped:
    case Fault::forbidden:
      break;
  }
  return "";
}

const char* kind_of(const pickle::Store& store, pickle::Value root) {
  if (store.is_dict(root)) return N_("a dictionary");
  if (store.is_list(root)) return N_("a list");
  if (root.is(pickle::Tag::text)) return N_("a text");
  if (root.is(pickle::Tag::integer) || root.is(pickle::Tag::number)) return N_("a number");
  return N_("a single value");
}

template <typename... Places>
Error refusal(const char* msgid, const std::string& path, const Places&... places) {
  return {ExitCode::bad_input, fmt::format(fmt::runtime(tr(msgid)), fmt::arg("path", path), places...)};
}

Error not_readable(const pickle::Machine& machine, Fault fault, const std::string& path) {
  const std::string code = pickle::opcode_name(machine.opcode());
  if (fault == Fault::forbidden) {
    return refusal(
        N_("{path} asks for {name} (opcode {opcode} at byte {offset}), and vramscope runs and imports nothing "
           "from a file; give it a snapshot as torch.cuda.memory._dump_snapshot writes it."),
        path, fmt::arg("name", machine.asked_for()), fmt::arg("opcode", code), fmt::arg("offset", machine.offset()));
  }
  return refusal(N_("{path} is a pickle that cannot be read: {reason} (opcode {opcode} at byte {offset}); write the "
                    "snapshot again or copy it again."),
                 path, fmt::arg("reason", tr(reason_of(fault))), fmt::arg("opcode", code),
                 fmt::arg("offset", machine.offset()));
}

Result<Source> read(ByteStream& stream, const std::string& path, const Progress& progress) {
  Source source;
  source.path = path;
  source.format = "cuda_snapshot";
  pickle::Window window(stream, progress);
  pickle::Store store;
  pickle::Recorder recorder(store, source);
  recorder.expect(stream.file_size());
  pickle::Machine machine(window, store, recorder);
  const Fault fault = machine.run();
  if (pickle::is_refusal(fault)) return not_readable(machine, fault, path);
  const pickle::Value root = machine.result();
  if (!pickle::is_snapshot(store, root)) {
    if (fault != Fault::stopped) return not_readable(machine, fault, path);
    return refusal(N_("{path} is a pickle of {kind} and no CUDA memory snapshot (it has neither segments nor device "
                      "traces); give vramscope a file of torch.cuda.memory._dump_snapshot."),
                   path, fmt::arg("kind", tr(kind_of(store, root))));
  }
  if (fault != Fault::stopped) recorder.note(fault == Fault::cut ? "cut_file" : "damaged_pickle", machine.offset());
  if (!stream.damage().empty()) recorder.note(stream.damage(), stream.damage_offset());
  if (fault == Fault::stopped && window.reach(1)) recorder.note("bytes_behind_pickle", window.offset());
  if (machine.late_changes() > 0)
    recorder.note("changed_after_use", machine.first_late_change(), machine.late_changes());
  pickle::convert(store, recorder, root, machine.offset(), source);
  if (fault != Fault::stopped && source.events == 0 && source.memory_state->devices.empty()) {
    return not_readable(machine, fault, path);
  }
  recorder.give_trouble();
  source.trace.strings.seal();
  source.version = fmt::format("pickle protocol {}", machine.protocol());
  source.compressed = stream.is_compressed();
  source.bytes = window.offset();
  return source;
}

}  // namespace

Reader reader_cuda_snapshot() {
  return {"cuda_snapshot", N_("CUDA memory snapshot of PyTorch (pickle), plain or compressed"), 90, claims, read};
}

}  // namespace vramscope
