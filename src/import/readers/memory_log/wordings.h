#pragma once
// The sentences in which programs say that memory ran out, and the figures in them. Pure; any text is safe.
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "model/out_of_memory.h"

namespace vramscope::memory_log {

// A stretch of some lines of a log as plain() makes them, and where in it the words begin that may be a message.
struct Place {
  std::string_view text;
  std::size_t line_end;  // of the first of the lines
  std::size_t at;

  std::string_view line() const { return text.substr(0, line_end); }
  std::string_view rest() const { return text.substr(at); }
};

// How a message goes with the one before it.
enum class Tie {
  none,
  same_failure,   // another wording of a failure that was told just before, when the figures agree
  smaller_retry,  // the same again with less, until it fits
  same_kill,      // several lines about one killed process
  retold,         // without figures: the same failure, as another layer names it
};

struct Message {
  OutOfMemory event;  // text, count, offset and line are set by others
  std::size_t begin = 0;
  std::size_t end = 0;  // in Place::text
  Tie tie = Tie::none;
};

// The messages whose words begin on the first of some lines, from left to right.
class MessageFinder {
 public:
  MessageFinder(std::string_view text, std::size_t line_end);
  // The next one, behind the end of the one before.
  std::optional<Message> next();

 private:
  std::string_view text_;
  std::size_t line_end_;
  std::size_t from_ = 0;
  std::vector<std::size_t> places_;  // where the next words of each kind begin
};
// Whether the line has words that find_message() looks for: cheap, and may be wrong.
bool may_hold_message(std::string_view line);

// One family of wordings: whether the words at the place are one of its messages.
using Wording = bool (*)(const Place& place, Message& message);
bool read_pytorch(const Place& place, Message& message);
bool read_pytorch_async(const Place& place, Message& message);  // its allocator on top of cudaMallocAsync
bool read_pytorch_mps(const Place& place, Message& message);
bool read_pytorch_cpu(const Place& place, Message& message);
bool read_bfc_allocator(const Place& place, Message& message);  // TensorFlow's, and JAX's
bool read_tensorflow(const Place& place, Message& message);
bool read_xla(const Place& place, Message& message);
bool read_xla_request(const Place& place, Message& message);
bool read_tpu(const Place& place, Message& message);
bool read_tpu_compiler(const Place& place, Message& message);
bool read_cupy(const Place& place, Message& message);
bool read_paddle(const Place& place, Message& message);
bool read_vllm_no_cache(const Place& place, Message& message);
bool read_vllm_startup(const Place& place, Message& message);
bool read_vllm_context(const Place& place, Message& message);
bool read_vllm_cache_size(const Place& place, Message& message);
bool read_ggml(const Place& place, Message& message);
bool read_ggml_buffer(const Place& place, Message& message);
bool read_onnxruntime(const Place& place, Message& message);
bool read_triton(const Place& place, Message& message);
bool read_tensorrt(const Place& place, Message& message);
bool read_numpy(const Place& place, Message& message);
bool read_cuda(const Place& place, Message& message);
bool read_linux(const Place& place, Message& message);
bool read_shell(const Place& place, Message& message);
bool read_ray(const Place& place, Message& message);

}  // namespace vramscope::memory_log
