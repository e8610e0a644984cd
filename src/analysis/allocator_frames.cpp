#include <algorithm>
#include <iterator>
#include <string_view>

#include "analysis/allocator_live.h"
#include "analysis/frames.h"

namespace vramscope {

namespace {

struct FrameParts {
  std::string_view file;  // empty where the frame names none
  std::string_view line;  // digits
  std::string_view function;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "path(12): name" taken apart; a frame without file is its function.
FrameParts parts_of(std::string_view frame) {
  for (std::size_t end = frame.find("): "); end != std::string_view::npos; end = frame.find("): ", end + 1)) {
    std::size_t digits = end;
    while (digits > 0 && is_digit(frame[digits - 1])) --digits;
    if (digits == end || digits == 0 || frame[digits - 1] != '(') continue;
    return {frame.substr(0, digits - 1), frame.substr(digits, end - digits), frame.substr(end + 3)};
  }
  return {{}, {}, frame};
}

// Native frames have no line: the unwinder knows addresses and symbols alone, or a file that is C or C++.
bool is_native(const FrameParts& parts) {
  if (parts.line.empty() || parts.line == "0") return true;
  constexpr std::string_view kSuffixes[] = {".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".inc", ".S"};
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](std::string_view suffix) {
    return parts.file.size() > suffix.size() && parts.file.substr(parts.file.size() - suffix.size()) == suffix;
  });
}

// What the profiler and the interpreter put on the stack themselves, by the beginning of the function's name.
constexpr std::string_view kMachinery[] = {"torch::unwind::",
                                           "torch::CapturedTraceback::",
                                           "torch::cuda::(anonymous namespace)::gather",
                                           "pybind11::",
                                           "_Py",
                                           "PyCFunction_",
                                           "PyCell_",
                                           "PyCode_",
                                           "PyErr_",
                                           "PyEval_",
                                           "PyFile_",
                                           "PyFunction_",
                                           "PyImport_",
                                           "PyIter_",
                                           "PyLong_",
                                           "PyMethod_",
                                           "PyNumber_",
                                           "PyObject_",
                                           "PyRun_",
                                           "PySequence_",
                                           "PyUnicode_",
                                           "PyVectorcall_",
                                           "Py_",
                                           "pymain_",
                                           "pyrun_",
                                           "run_eval_code_obj",
                                           "run_mod",
                                           "builtin_exec",
                                           "cfunction_",
                                           "method_vectorcall",
                                           "partial_call",
                                           "partial_vectorcall",
                                           "slot_",
                                           "type_call",
                                           "vectorcall_",
                                           "dynamo_custom_eval_frame",
                                           "__libc_",
                                           "_start",
                                           "start_thread",
                                           "clone",
                                           "??"};

bool is_machinery(std::string_view frame) {
  const FrameParts parts = parts_of(frame);
  if (!is_native(parts)) return false;
  return parts.function.empty() ||
         std::any_of(std::begin(kMachinery), std::end(kMachinery),
                     [&](std::string_view begin) { return parts.function.substr(0, begin.size()) == begin; });
}

std::vector<StringId> frames_of(const Source& source, StackId stack) {
  std::vector<StringId> frames;
  const auto& nodes = source.trace.stacks.nodes;
  while (stack != 0 && stack < nodes.size()) {
    frames.push_back(nodes[stack].frame);
    if (nodes[stack].parent >= stack) break;  // callers come before what they call
    stack = nodes[stack].parent;
  }
  return frames;
}

}  // namespace

bool is_own_frame(std::string_view frame) {
  constexpr std::string_view kCell = "<ipython-input-";  // notebooks before ipykernel 6
  if (frame.substr(0, kCell.size()) == kCell) return true;
  return is_user_frame(frame) && !is_native(parts_of(frame));
}

std::vector<StringId> readable_frames(const Source& source, StackId stack) {
  const std::vector<StringId> all = frames_of(source, stack);
  std::vector<StringId> readable;
  std::copy_if(all.begin(), all.end(), std::back_inserter(readable),
               [&](StringId frame) { return !is_machinery(source.trace.strings.view(frame)); });
  return readable.empty() ? all : readable;
}

StringId user_frame(const Source& source, StackId stack) {
  for (const StringId frame : frames_of(source, stack)) {
    if (is_own_frame(source.trace.strings.view(frame))) return frame;
  }
  return 0;
}

}  // namespace vramscope
