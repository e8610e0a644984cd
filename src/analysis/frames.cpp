#include "analysis/frames.h"

#include <algorithm>
#include <iterator>

namespace vramscope {

namespace {

constexpr std::string_view kInstalled[] = {"site-packages/",  "dist-packages/",  "lib/python", "/pytorch/torch/",
                                           "/torchinductor_", "site-packages\\", "\\lib\\",    "\\Lib\\"};

// Paths that are left when the profiler has cut the folder of installed packages or of the standard library off.
constexpr std::string_view kFamily[] = {"torch/",     "torchvision/", "torchaudio/", "torchtext/",
                                        "functorch/", "triton/",      "numpy/",      "torch\\"};

// The standard library's modules that stand between user code and operators in real traces. Sorted.
constexpr std::string_view kStandardFiles[] = {"_collections_abc.py",
                                               "_weakrefset.py",
                                               "abc.py",
                                               "argparse.py",
                                               "bdb.py",
                                               "codecs.py",
                                               "collections",
                                               "concurrent",
                                               "contextlib.py",
                                               "contextvars.py",
                                               "copy.py",
                                               "copyreg.py",
                                               "dataclasses.py",
                                               "enum.py",
                                               "functools.py",
                                               "genericpath.py",
                                               "importlib",
                                               "inspect.py",
                                               "logging",
                                               "multiprocessing",
                                               "os.py",
                                               "pickle.py",
                                               "posixpath.py",
                                               "queue.py",
                                               "re.py",
                                               "runpy.py",
                                               "selectors.py",
                                               "shutil.py",
                                               "socket.py",
                                               "subprocess.py",
                                               "tempfile.py",
                                               "threading.py",
                                               "tokenize.py",
                                               "traceback.py",
                                               "typing.py",
                                               "unittest",
                                               "uuid.py",
                                               "warnings.py",
                                               "weakref.py"};
static_assert(std::is_sorted(std::begin(kStandardFiles), std::end(kStandardFiles)));

// "threading.py" of "threading.py(890): _bootstrap", "concurrent" of "concurrent/futures/thread.py(52): run".
std::string_view first_part(std::string_view frame) {
  return frame.substr(0, frame.find_first_of("/\\("));
}

}  // namespace

bool is_user_frame(std::string_view frame) {
  if (frame.empty() || frame.front() == '<') return false;  // <built-in …>, <frozen …>, <eval_with_key>
  if (frame.substr(0, 10) == "nn.Module:") return false;
  const auto is_inside = [&](std::string_view part) { return frame.find(part) != std::string_view::npos; };
  if (std::any_of(std::begin(kInstalled), std::end(kInstalled), is_inside)) return false;
  const auto is_start = [&](std::string_view part) { return frame.substr(0, part.size()) == part; };
  if (std::any_of(std::begin(kFamily), std::end(kFamily), is_start)) return false;
  return !std::binary_search(std::begin(kStandardFiles), std::end(kStandardFiles), first_part(frame));
}

StringId first_user_frame(const StringPool& strings, const std::vector<StringId>& frames) {
  const auto found =
      std::find_if(frames.begin(), frames.end(), [&](StringId frame) { return is_user_frame(strings.view(frame)); });
  return found == frames.end() ? 0 : *found;
}

}  // namespace vramscope
