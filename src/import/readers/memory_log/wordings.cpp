#include "import/readers/memory_log/wordings.h"

#include <algorithm>
#include <array>

#include "import/readers/memory_log/fields.h"
#include "text/word_search.h"

namespace vramscope::memory_log {

namespace {

// What must stand on the first line, and who looks closer. Of two heads at one place the upper one is asked first.
struct Head {
  std::string_view words;
  Wording read;
};

constexpr std::string_view kOutOfMemory = "out of memory";

constexpr auto kHeads = std::to_array<Head>({
    {"ran out of memory trying to allocate", read_bfc_allocator},
    {"Allocation on device", read_pytorch_async},
    {kOutOfMemory, read_pytorch},
    {kOutOfMemory, read_pytorch_mps},
    {kOutOfMemory, read_xla},
    {kOutOfMemory, read_cupy},
    {kOutOfMemory, read_paddle},
    {kOutOfMemory, read_tpu_compiler},
    {kOutOfMemory, read_linux},
    {kOutOfMemory, read_cuda},
    {"you tried to allocate", read_pytorch_cpu},
    {"OOM when allocating tensor", read_tensorflow},
    {"Failed to allocate request for ", read_xla_request},
    {"Attempting to allocate ", read_tpu},
    {"Attempting to reserve ", read_tpu},
    {"No available memory for the cache blocks", read_vllm_no_cache},
    {"Free memory on device", read_vllm_startup},
    {"max seq len (", read_vllm_context},
    {"KV cache is needed", read_vllm_cache_size},
    {"alloc_buffer: allocating ", read_ggml},
    {"Device memory allocation of size ", read_ggml},
    {"failed to allocate buffer, size =", read_ggml},
    {" buffer of size ", read_ggml_buffer},
    {"Failed to allocate memory for requested buffer of size ", read_onnxruntime},
    {"is smaller than requested bytes of ", read_onnxruntime},
    {"Failed to allocate CUDA memory with byte size ", read_triton},
    {"Requested amount of GPU memory (", read_tensorrt},
    {": OutOfMemory", read_tensorrt},
    {"Unable to allocate ", read_numpy},
    {"CUDA_ERROR_OUT_OF_MEMORY", read_cuda},
    {"cudaErrorMemoryAllocation", read_cuda},
    {"hipErrorOutOfMemory", read_cuda},
    {"hipErrorMemoryAllocation", read_cuda},
    {"CUBLAS_STATUS_ALLOC_FAILED", read_cuda},
    {"CUDNN_STATUS_ALLOC_FAILED", read_cuda},
    {"CUSPARSE_STATUS_ALLOC_FAILED", read_cuda},
    {"CUSOLVER_STATUS_ALLOC_FAILED", read_cuda},
    {"cuMemCreate failed", read_cuda},
    {"Killed process ", read_linux},
    {"invoked oom-killer", read_linux},
    {"oom-kill:", read_linux},
    {"oom-kill event", read_linux},
    {"oom_kill event", read_linux},
    {"OOMKilled", read_linux},
    {"killed by signal: Killed", read_linux},
    {"Killed", read_shell},
    {"killed due to the node running low on memory", read_ray},
    {"killed due to memory pressure (OOM)", read_ray},
});

constexpr std::array<std::string_view, kHeads.size()> words_of_heads() {
  std::array<std::string_view, kHeads.size()> words;
  for (std::size_t i = 0; i < kHeads.size(); ++i) words[i] = kHeads[i].words;
  return words;
}
constexpr WordSearch kSearch(words_of_heads());

std::size_t find_head(std::string_view line, std::string_view words, std::size_t from) {
  if (words != kOutOfMemory) return line.find(words, from);
  // It begins sentences, too; all other words have one spelling.
  const std::string_view tail = words.substr(1);
  for (std::size_t at = line.find(tail, from + 1); at != std::string_view::npos; at = line.find(tail, at + 1)) {
    if (line[at - 1] == 'o' || line[at - 1] == 'O') return at - 1;
  }
  return std::string_view::npos;
}

}  // namespace

bool may_hold_message(std::string_view line) {
  return kSearch.find(line, 0) != std::string_view::npos;
}

MessageFinder::MessageFinder(std::string_view text, std::size_t line_end) : text_(text), line_end_(line_end) {
  for (const Head& head : kHeads) places_.push_back(find_head(text.substr(0, line_end), head.words, 0));
}

std::optional<Message> MessageFinder::next() {
  // What is looked at around the words: more than any message has.
  constexpr std::size_t kBefore = 2048;
  constexpr std::size_t kBehind = 4096;
  const std::string_view line = text_.substr(0, line_end_);
  while (true) {
    const auto first = std::min_element(places_.begin(), places_.end());
    const std::size_t at = *first;
    if (at == std::string_view::npos) return std::nullopt;
    const Head& head = kHeads[static_cast<std::size_t>(first - places_.begin())];
    *first = find_head(line, head.words, at + 1);
    if (at < from_) continue;
    const std::size_t base = at > kBefore ? at - kBefore : 0;
    const std::string_view stretch = text_.substr(base, at - base + kBehind);
    Message message;
    message.begin = at - base;
    message.end = message.begin + head.words.size();
    if (!head.read(Place{stretch, std::min(line_end_ - base, stretch.size()), at - base}, message)) continue;
    message.begin = base + std::min(message.begin, stretch.size());
    message.end = std::clamp(base + message.end, message.begin, base + stretch.size());
    from_ = std::max(message.end, at + 1);
    return message;
  }
}

}  // namespace vramscope::memory_log
