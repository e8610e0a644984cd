#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/memory_stats.h"
#include "import/reader.h"
#include "import/readers/memory_log/anchors.h"
#include "import/readers/memory_log/context.h"
#include "import/readers/memory_log/fields.h"

namespace vramscope {
namespace {

const Reader& log_reader() {
  const auto& all = readers();
  return *std::find_if(all.begin(), all.end(),
                       [](const Reader& reader) { return reader.name == std::string("memory_log"); });
}

Source read_log(const std::string& text, std::size_t piece = 1 << 20) {
  const std::unique_ptr<ByteStream> stream = memory_stream(text, piece);
  Result<Source> result = log_reader().read(*stream, "log.txt", {});
  return result ? std::move(*result) : Source{};
}

bool is_claimed(std::string_view text) {
  return log_reader().claims(Head{text, true});
}

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;
// Of a size with two digits behind the point, in hundredths of the unit; rounded as the reader rounds.
std::int64_t hundredths(std::int64_t hundredth, std::int64_t unit) {
  return (hundredth * unit + 50) / 100;
}

std::string figures(const OutOfMemory& event) {
  std::string text = event.framework;
  const auto add = [&](const char* name, const auto& value) {
    if (value) text += std::string(" ") + name + "=" + std::to_string(*value);
  };
  add("device", event.device);
  add("asked", event.asked_bytes);
  add("total", event.total_bytes);
  add("free", event.free_bytes);
  add("allocated", event.allocated_bytes);
  add("reserved", event.reserved_bytes);
  add("process", event.process_bytes);
  add("allowed", event.allowed_bytes);
  add("hole", event.largest_hole_bytes);
  add("pools", event.private_pool_bytes);
  add("program", event.program_bytes);
  add("tokens", event.asked_tokens);
  add("fitting", event.fitting_tokens);
  for (const ProcessMemory& other : event.others) {
    text += " pid" + std::to_string(other.pid) + "=" + std::to_string(other.bytes);
  }
  if (event.count != 1) text += " count=" + std::to_string(event.count);
  return text;
}

struct Wording {
  const char* text;
  const char* figures;  // as figures() writes them, "" for no message; (N*M) marks are spelled out
};

void expect_all(const std::vector<Wording>& table) {
  for (const Wording& each : table) {
    SCOPED_TRACE(each.text);
    const Source source = read_log(std::string(each.text) + "\n");
    if (*each.figures == '\0') {
      EXPECT_TRUE(source.out_of_memory.empty()) << figures(source.out_of_memory.front());
      continue;
    }
    ASSERT_EQ(source.out_of_memory.size(), 1U);
    EXPECT_EQ(figures(source.out_of_memory[0]), each.figures);
    EXPECT_EQ(source.out_of_memory[0].line, 1);
    EXPECT_FALSE(source.out_of_memory[0].text.empty());
  }
}

TEST(OutOfMemoryWordings, PyTorch) {
  expect_all({
      // 1.0 to 1.3: what is cached is not allocated
      {"RuntimeError: CUDA out of memory. Tried to allocate 12.50 MiB (GPU 0; 10.00 GiB total capacity; 8.50 MiB "
       "already "
       "allocated; 9.00 GiB free; 4.50 MiB cached)",
       "pytorch device=0 asked=13107200 total=10737418240 free=9663676416 allocated=8912896 reserved=13631488"},
      {"CUDA out of memory. Tried to allocate 10.75 GiB (GPU 3; 8.00 GiB total capacity; 17.25 GiB already allocated; "
       "0 "
       "bytes free; 19.25 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting "
       "max_split_size_mb to avoid fragmentation.",
       "pytorch device=3 asked=11542724608 total=8589934592 free=0 allocated=18522046464 reserved=20669530112"},
      // with set_per_process_memory_fraction
      {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 8.00 GiB total capacity; "
       "1.00 "
       "GiB already allocated; 6.00 GiB free; 2.00 GiB allowed; 1.50 GiB reserved in total by PyTorch)",
       "pytorch device=0 asked=20971520 total=8589934592 free=6442450944 allocated=1073741824 reserved=1610612736 "
       "allowed=2147483648"},
      // 2.1: misspelled
      {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacty of 6.00 "
       "GiB "
       "of which 0 bytes is free. Of the allocated memory 2.50 GiB is allocated by PyTorch, and 2.25 GiB is reserved "
       "by "
       "PyTorch but unallocated.",
       "pytorch device=0 asked=1610612736 total=6442450944 free=0 allocated=2684354560 reserved=5100273664"},
      {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 86.00 MiB. GPU 1 has a total capacity of 23.50 "
       "GiB of "
       "which 264.00 MiB is free. Process 2086283 has 419.50 MiB memory in use. Including non-PyTorch memory, this "
       "process "
       "has 8.25 GiB memory in use. Process 2797307 has 14.75 GiB memory in use. Of the allocated memory 7.50 GiB is "
       "allocated by PyTorch, and 40.50 MiB is reserved by PyTorch but unallocated.",
       "pytorch device=1 asked=90177536 total=25232932864 free=276824064 allocated=8053063680 reserved=8095531008 "
       "process=8858370048 pid2086283=439877632 pid2797307=15837691904"},
      // a cap, and graphs; the wrapped number of a driver that does not know
      {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 76.00 MiB. GPU 0 has a total capacity of 255.50 "
       "GiB of "
       "which 252.50 GiB is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. "
       "1.25 "
       "GiB allowed; Of the allocated memory 1.00 GiB is allocated by PyTorch, with 17.00 MiB allocated in private "
       "pools "
       "(e.g., HIP Graphs), and 18.50 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory "
       "is "
       "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
       "pytorch device=0 asked=79691776 total=274341036032 free=271119810560 allocated=1073741824 reserved=1093140480 "
       "allowed=1342177280 pools=17825792"},
      {"torch.OutOfMemoryError: XPU out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 12.00 "
       "GiB. Of "
       "the allocated memory 1.00 GiB is allocated by PyTorch, and 2.00 MiB is reserved by PyTorch but unallocated.",
       "pytorch device=0 asked=268435456 total=12884901888 allocated=1073741824 reserved=1075838976"},
      {"RuntimeError: MPS backend out of memory (MPS allocated: 7.50 GiB, other allocations: 68.50 GiB, max allowed: "
       "88.25 "
       "GiB). Tried to allocate 33.75 GiB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0",
       "pytorch asked=36238786560 allocated=8053063680 process=81604378624 allowed=94757715968"},
      {"MPS backend out of memory (MPS allocated: 18.00 GB, other allocations: 384.00 KB, max allowed: 18.25 GB). "
       "Tried to "
       "allocate 512.00 MB on private pool.",
       "pytorch asked=536870912 allocated=19327352832 process=19327746048 allowed=19595788288"},
      {"RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate memory: you "
       "tried to "
       "allocate 38535168 bytes. Error code 12 (Cannot allocate memory)",
       "pytorch asked=38535168"},
      {"[enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried to allocate "
       "1048576 "
       "bytes.",
       "pytorch asked=1048576"},
      {"$ Torch: not enough memory: you tried to allocate 5GB. Buy new RAM!", "pytorch asked=5368709120"},
      // no figures at all, and cut
      {"| WARNING | CUDA out of memory, skipping this batch", "pytorch"},
      {"CUDA out of memory. Tried to allocate 2.00 GiB", "pytorch asked=2147483648"},
      {"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capa", "pytorch device=0 asked=2147483648"},
      // programs that look for it
      {"    if 'CUDA out of memory' in str(e):", ""},
      {"TORCH_CHECK(false, \"CUDA out of memory. Tried to allocate \", format_size(size))", ""},
  });
}

TEST(OutOfMemoryWordings, TensorFlowAndJax) {
  expect_all({
      {"ResourceExhaustedError: OOM when allocating tensor with shape[32,1024,64,64] and type float on "
       "/job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc",
       "tensorflow device=1 asked=536870912"},
      {"OOM when allocating tensor with shape[100,100] and type bfloat16 on /job:localhost/device:CPU:0 by allocator "
       "mklcpu",
       "tensorflow asked=20000"},
      {"OOM when allocating tensor with shape[9223372036854775807,4] and type float", "tensorflow"},
      {"2020-04-29 16:25:35.531989: W tensorflow/core/common_runtime/bfc_allocator.cc:419] Allocator (GPU_0_bfc) ran "
       "out of "
       "memory trying to allocate 1.50GiB (rounded to 1610612736).  Current allocation summary follows.",
       "tensorflow device=0 asked=1610612736"},
      {"W tensorflow/core/common_runtime/bfc_allocator.cc:243] Allocator (GPU_0_bfc) ran out of memory trying to "
       "allocate "
       "880.25MiB with freed_by_count=0. The caller indicates that this is not a failure, but may mean that there "
       "could be "
       "performance gains if more memory were available.",
       ""},
      {"XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 33762398024 bytes.",
       "jax asked=33762398024"},
      {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8.00GiB.", "jax asked=8589934592"},
      {"RESOURCE_EXHAUSTED: Failed to allocate request for 1.25GiB (1342177281B) on device ordinal 2",
       "jax device=2 asked=1342177281"},
      {"RESOURCE_EXHAUSTED: Attempting to allocate 6.50G. That was not possible. There are 5.75G free.; (0x0x0_HBM0)",
       "jax asked=6979321856 free=6174015488"},
      {"Ran out of memory in memory space hbm. Used 26.75G of 15.50G hbm. Exceeded hbm capacity by 11.25G.",
       "jax total=16642998272 program=28722593792"},
  });
}

TEST(OutOfMemoryWordings, RuntimesAndDrivers) {
  expect_all({
      {"RuntimeError: CUDA error: out of memory", "cuda"},
      {"THCudaCheck FAIL file=x.cpp line=1 cuda runtime error (2) : out of memory at THCStorage.cu:58", "cuda"},
      {"failed to allocate 11.00G (11811160064 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
       "cuda asked=11811160064"},
      {"cudaErrorMemoryAllocation: out of memory", "cuda"},
      {"numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY", "cuda"},
      {"hipErrorOutOfMemory: out of memory", "cuda"},
      {"cuMemCreate failed: out of memory", "cuda"},
      {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cuda"},
      {"THCudaCheck FAIL file=/pytorch/torch/lib/THC/generic/THCStorage.cu line=58 error=2 : out of memory", "cuda"},
      {"CUDA failure 2: out of memory ; GPU=1 ; hostname=box ; expr=cudaMalloc((void**)&p, size);", "cuda device=1"},
      {"CUDA error code=2(out of memory)", "cuda"},
      {"HIP failure 2: out of memory", "cuda"},
      {"Cuda failure 2 'out of memory'", "nccl"},
      {"box:77:99 [0] NCCL WARN Cuda failure 'out of memory'", "nccl"},
      {"RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "cuda"},
      {"ncclUnhandledCudaError: Call to CUDA function failed. Last error: Cuda failure 'out of memory'", "nccl"},
      {"a cuda error out of memory is what we feared", ""},
      {"Cuda failure 22 'out of memory'", ""},
      {"    case cudaErrorMemoryAllocation:", ""},
      {"the worker ran out of memory and patience", ""},
  });
}

TEST(OutOfMemoryWordings, ServersAndLibraries) {
  expect_all({
      {"ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
       "initializing the "
       "engine.",
       "vllm"},
      {"ValueError: Free memory on device cuda:2 (12.25/23.50 GiB) on startup is less than desired GPU memory "
       "utilization "
       "(0.92, 21.75 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
       "vllm device=2 total=25232932864 free=13153337344 allowed=23353884672"},
      {"Free memory on device (6.9/8.0 GiB) on startup is less than desired GPU memory utilization (0.9, 7.2 GiB).",
       "vllm total=8589934592 free=7408818586 allowed=7730941133"},
      {"The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache "
       "(93936). "
       "Try increasing `gpu_memory_utilization`",
       "vllm tokens=131072 fitting=93936"},
      {"ValueError: To serve at least one request with the models's max seq len (32768), (8.00 GiB KV cache is needed, "
       "which "
       "is larger than the available KV cache memory (4.50 GiB).",
       "vllm asked=8589934592 allowed=4831838208 tokens=32768"},
      {"To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is "
       "larger than the available KV cache memory (3.00 GiB). Based on the available memory, the estimated maximum "
       "model "
       "length is 26288. Try increasing `gpu_memory_utilization` or decreasing `max_model_len`.",
       "vllm asked=17179869184 allowed=3221225472 tokens=131072 fitting=26288"},
      {"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1291.50 MiB on device 1: cudaMalloc failed: out of "
       "memory",
       "llama.cpp device=1 asked=1354235904"},
      {"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 675,840,000 bytes (allocated so far: "
       "28,275,322,880 "
       "bytes).",
       "cupy asked=675840000 allocated=28275322880"},
      {"Out of memory error on GPU 7. Cannot allocate 120.500000MB memory on GPU 7, 5.750000GB memory has been "
       "allocated and "
       "available memory is only 41.250000MB.",
       "paddle device=7 asked=126353408 free=43253760 allocated=6174015488"},
      {"Failed to allocate CUDA memory with byte size 1048576 on GPU 0: CNMEM_STATUS_OUT_OF_MEMORY, falling back to "
       "pinned "
       "system memory",
       "triton device=0 asked=1048576"},
      {"BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 805306368",
       "onnxruntime asked=805306368"},
      {"[E] Error[2]: Requested amount of GPU memory (4294967296 bytes) could not be allocated.",
       "tensorrt asked=4294967296"},
      {"numpy.core._exceptions.MemoryError: Unable to allocate 1.50 GiB for an array with shape (402653184,) and data "
       "type "
       "float32",
       "numpy asked=1610612736"},
  });
}

TEST(OutOfMemoryWordings, Linux) {
  expect_all({
      {"[4068414.99] Out of memory: Killed process 5155 (pip) total-vm:1573532kB, anon-rss:798816kB, file-rss:8kB, "
       "shmem-rss:0kB, UID:0",
       "linux process=817995776"},
      {"slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0.", "linux"},
      {"Killed", "linux"},
      {"./run.sh: line 3: 12345 Killed                  python train.py", "linux"},
      {"RuntimeError: DataLoader worker (pid 123) is killed by signal: Killed.", "linux"},
      {"  Reason: OOMKilled", "linux"},
      {"Killed the old job", ""},
      {"Killed process 12 by request", ""},
  });
}

TEST(OutOfMemoryWordings, RayWatchesTheNode) {
  const Source source = read_log(
      "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n"
      "Memory on the node (IP: 10.0.0.1, ID: abc) where the task (task ID: x, name=train) was running was 62.50GB / "
      "64.00GB (0.97), which exceeds the memory usage threshold of 0.95.\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(figures(source.out_of_memory[0]),
            "ray total=" + std::to_string(64 * kGiB) + " free=" + std::to_string(kGiB + kGiB / 2));
}

TEST(OutOfMemoryWordings, CudaMallocAsyncTellsAFigureALine) {
  const std::string text =
      "OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)\n"
      "Currently allocated     : 7.25 GiB\n"
      "Requested               : 1.00 GiB\n"
      "Device limit            : 8.00 GiB\n"
      "Free (according to CUDA): 0 bytes\n"
      "PyTorch limit (set by user-supplied memory fraction)\n"
      "                        : ";
  const std::string all = "pytorch device=1 asked=1073741824 total=8589934592 free=0 allocated=7784628224";
  const Source unlimited = read_log(text + "17179869184.00 GiB\n");
  ASSERT_EQ(unlimited.out_of_memory.size(), 1U);
  EXPECT_EQ(figures(unlimited.out_of_memory[0]), all);
  const Source limited = read_log(text + "7.50 GiB\n");
  ASSERT_EQ(limited.out_of_memory.size(), 1U);
  EXPECT_EQ(figures(limited.out_of_memory[0]), all + " allowed=" + std::to_string(7 * kGiB + kGiB / 2));
  expect_all(
      {{"torch.OutOfMemoryError: Allocation on device", "pytorch"}, {"Allocation on device 0 is logged below", ""}});
}

TEST(OutOfMemoryWordings, FiguresWithoutSenseAreNone) {
  expect_all({{"CUDA out of memory. Tried to allocate 99999999999999999999999.00 GiB (GPU 0; nan GiB total capacity; "
               "-1 GiB already allocated; 1e999 GiB free; 12.53 QiB reserved in total by PyTorch)",
               "pytorch device=0"},
              {"CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 1e9 bytes free)",
               "pytorch device=0 asked=2147483648 total=8589934592"}});
}

TEST(OutOfMemoryMessages, NameTheirPlatform) {
  const auto event = [](const std::string& text) { return read_log(text + "\n").out_of_memory.at(0); };
  EXPECT_EQ(event("XPU out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB.").device_type,
            "xpu");
  const OutOfMemory hip = event(
      "HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is "
      "free. "
      "If reserved but unallocated memory is large try setting PYTORCH_HIP_ALLOC_CONF=expandable_segments:True");
  EXPECT_EQ(hip.device_type, "cuda");
  EXPECT_EQ(hip.settings_variable, "PYTORCH_HIP_ALLOC_CONF");
  EXPECT_EQ(hip.allocator_settings, "");  // a hint sets nothing
}

TEST(OutOfMemoryMessages, SettingsOfTheLogBeforeThem) {
  const std::string failure =
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB.\n";
  const auto settings = [&](const std::string& before) {
    return read_log(before + "\nstep 1\n" + failure).out_of_memory.at(0).allocator_settings;
  };
  const std::string on = "expandable_segments:True";
  for (const char* before :
       {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py",
        "+ export PYTORCH_CUDA_ALLOC_CONF=\"expandable_segments:True\"", "PYTORCH_ALLOC_CONF: expandable_segments:True",
        "environ({'PYTORCH_HIP_ALLOC_CONF': 'expandable_segments:True', 'HOME': '/root'})",
        "os.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"expandable_segments:True\"",
        "docker run -e PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True;"}) {
    EXPECT_EQ(settings(before), on) << before;
  }
  for (const char* before :
       {"try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
        "If reserved but unallocated memory is large try setting\nPYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "# PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "PYTORCH_CUDA_ALLOC_CONF: not set",
        "PYTORCH_CUDA_ALLOC_CONF=\"expandable_segments:True", "MY_ALLOC_CONF=expandable_segments:True",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nPYTORCH_CUDA_ALLOC_CONF= python train.py"}) {
    EXPECT_EQ(settings(before), "") << before;
  }
  // What comes behind it was not in force then, but is for what comes later.
  const Source source = read_log(failure + "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64,a:b python x.py\n");
  EXPECT_EQ(source.out_of_memory.at(0).allocator_settings, "");
  EXPECT_EQ(source.environment.settings.at("PYTORCH_CUDA_ALLOC_CONF"), "max_split_size_mb:64,a:b");
}

TEST(OutOfMemoryMessages, OneFailureToldByTwoLayersIsOne) {
  const Source source = read_log(
      "CUDA error: cudaErrorMemoryAllocation out of memory at main.cu:12\n"
      "terminate called after throwing an instance of 'thrust::system::detail::bad_alloc'\n"
      "  what():  std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(source.out_of_memory[0].count, 1);
  // The same words again are another failure, and so are other words far below.
  std::string text = "CUDA error: out of memory\nCUDA error: out of memory\n";
  for (int i = 0; i < 100; ++i) text += "step\n";
  const Source apart = read_log(text + "cudaErrorMemoryAllocation: out of memory\n");
  ASSERT_EQ(apart.out_of_memory.size(), 2U);
  EXPECT_EQ(apart.out_of_memory[0].count, 2);
}

TEST(OutOfMemoryMessages, TwoKillLinesAreOne) {
  const Source source = read_log(
      "python invoked oom-killer: gfp_mask=0x0\n"
      "oom-kill:constraint=CONSTRAINT_NONE,task=python,pid=7\n"
      "Out of memory: Killed process 7 (python) total-vm:10kB, anon-rss:4kB, file-rss:1kB\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(source.out_of_memory[0].process_bytes, 5 * kKiB);
}

TEST(OutOfMemoryMessages, OverSeveralLines) {
  const Source source = read_log(
      "Exception: Capture cuda graph failed: CUDA out of memory.\n"
      "Tried to allocate 672.00 MiB.\n\n"
      "GPU 0 has a total capacity of 140.00 GiB of which 200.50 MiB is free.\r\n"
      "Process 1939284 has 139.75 GiB memory in use.\n"
      "Of the allocated memory 128.50 GiB is allocated by PyTorch,\n"
      "with 3.25 GiB allocated in private pools (e.g., CUDA Graphs),\n"
      "and 1.00 GiB is reserved by PyTorch but unallocated.\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  const OutOfMemory& event = source.out_of_memory[0];
  EXPECT_EQ(event.asked_bytes, 672 * kMiB);
  EXPECT_EQ(event.free_bytes, hundredths(20050, kMiB));
  EXPECT_EQ(event.reserved_bytes, hundredths(12950, kGiB));
  ASSERT_EQ(event.others.size(), 1U);
  EXPECT_EQ(event.text.substr(event.text.size() - 12), "unallocated.");
}

TEST(OutOfMemoryMessages, InColourAndWithCarriageReturns) {
  const Source source = read_log(
      " 10%|#         | 1/10\r 20%|##        | 2/10\r\033[31mtorch.OutOfMemoryError\033[0m: \033[1mCUDA out of "
      "\033[0mmemory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 8.00 GiB\033[0m\r\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(figures(source.out_of_memory[0]), "pytorch device=1 asked=2147483648 total=8589934592");
}

TEST(OutOfMemoryMessages, RepeatedOnesAreCounted) {
  const std::string message =
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB.\n";
  const std::string other = "CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total capacity of 8.00 GiB.\n";
  const Source source = read_log("[rank0]: " + message + "[rank1]: " + other + "x\n[rank0]: " + message + message);
  ASSERT_EQ(source.out_of_memory.size(), 2U);
  EXPECT_EQ(source.out_of_memory[0].count, 3);
  EXPECT_EQ(source.out_of_memory[1].count, 1);
  EXPECT_EQ(source.out_of_memory[1].line, 2);
  EXPECT_EQ(source.out_of_memory[1].offset, static_cast<std::int64_t>(9 + message.size()));
  EXPECT_EQ(source.events, 4);
}

TEST(OutOfMemoryMessages, AnArenaTellsItsState) {
  const Source source = read_log(
      "2025-01-05 09:48:28: W external/xla/xla/tsl/framework/bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of "
      "memory "
      "trying to allocate 3.73GiB (rounded to 4000000000)requested by op \n"
      "I external/xla/xla/tsl/framework/bfc_allocator.cc:1133] Stats: \n"
      "Limit:                     18995773440\n"
      "InUse:                     16000000000\n"
      "MaxInUse:                  16000000000\n"
      "NumAllocs:                           4\n"
      "LargestFreeBlock:                 1024\n\n"
      "E0105 09:48:28.755177 110350 pjrt_stream_executor_client.cc:3088] Execution of replica 0 failed: "
      "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4000000000 bytes.\n"
      "ERROR: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4000000000 bytes.\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(figures(source.out_of_memory[0]),
            "jax device=0 asked=4000000000 allocated=16000000000 allowed=18995773440 hole=1024");
}

TEST(OutOfMemoryMessages, SmallerRetriesAreOne) {
  std::string text;
  for (const char* bytes : {"11811160064", "10630043648", "9567039488"}) {
    text += std::string("cuda_driver.cc:936] failed to allocate 9.00G (") + bytes +
            " bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n";
  }
  const Source source = read_log(text);
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(figures(source.out_of_memory[0]), "cuda asked=11811160064 count=3");
}

TEST(OutOfMemoryMessages, GgmlTellsExactBytesBelow) {
  const Source source = read_log(
      "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1291.40 MiB on device 0: cudaMalloc failed: out of "
      "memory\n"
      "alloc_tensor_range: failed to allocate CUDA0 buffer of size 1354132480\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(figures(source.out_of_memory[0]), "llama.cpp device=0 asked=1354132480");
}

// A table in the layout of memory_summary(); `row` makes the four cells of a row.
std::string table_text(int device, const std::string& prefix, const std::string& cells, bool is_abbreviated = false) {
  const std::string rule = prefix + "|" + std::string(75, '-') + "|\n";
  const std::string end = prefix + "|" + std::string(75, '=') + "|\n";
  std::string text = end + prefix + "|                  PyTorch CUDA memory summary, device ID " +
                     std::to_string(device) + "                 |\n" + rule + prefix +
                     "|            CUDA OOMs: 2            |        cudaMalloc retries: 3         |\n" + end + prefix +
                     "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n";
  for (const char* name : {"Allocated memory", "Active memory", "GPU reserved memory"}) {
    text += rule + prefix + "| " + name + std::string(22 - std::string(name).size(), ' ') + "|" + cells + "|\n";
    if (is_abbreviated) continue;
    text += prefix + "|       from large pool |" + cells + "|\n" + prefix + "|       from small pool |" + cells + "|\n";
  }
  text += rule + prefix + "| Allocations           |     231    |     240    |    1234 K  |    1003 K  |\n";
  return text + rule + prefix + "| Oversize allocations  |       0    |       1    |       0    |       0    |\n" + end;
}

constexpr const char* kCells = "   12345 KiB |   12400 KiB |       3 GiB |  123456 KiB ";

TEST(SummaryTables, EveryRow) {
  const Source source = read_log("step 300\n" + table_text(1, "", kCells));
  ASSERT_EQ(source.allocator_stats.size(), 1U);
  const AllocatorStats& stats = source.allocator_stats[0];
  EXPECT_EQ(stats.device, 1);
  EXPECT_EQ(stats.step, 300);
  EXPECT_FALSE(stats.time_ns.has_value());
  EXPECT_EQ(stats.line, 3);
  EXPECT_EQ(stats.values.at("num_ooms"), 2);
  EXPECT_EQ(stats.values.at("num_alloc_retries"), 3);
  EXPECT_EQ(stats.values.at("allocated_bytes.all.current"), 12345 * kKiB);
  EXPECT_EQ(stats.values.at("allocated_bytes.all.allocated"), 3 * kGiB);
  EXPECT_EQ(stats.values.at("reserved_bytes.small_pool.freed"), 123456 * kKiB);
  EXPECT_EQ(stats.values.at("allocation.all.allocated"), 1'234'000);
  EXPECT_EQ(stats.values.at("oversize_allocations.peak"), 1);
  EXPECT_EQ(stats.values.size(), 2U + 3 * 3 * 4 + 4 + 4);
  EXPECT_EQ(stats.resolution_bytes, kGiB);
  EXPECT_TRUE(source.trouble.empty());
}

TEST(SummaryTables, OldUnitsAndAbbreviated) {
  const Source source = read_log(table_text(0, "", "   12345 KB |       7 MB |       3 GB |       0 B  ", true));
  ASSERT_EQ(source.allocator_stats.size(), 1U);
  EXPECT_EQ(source.allocator_stats[0].values.at("active_bytes.all.current"), 12345 * kKiB);
  EXPECT_EQ(source.allocator_stats[0].values.at("active_bytes.all.peak"), 7 * kMiB);
  EXPECT_EQ(source.allocator_stats[0].values.count("active_bytes.large_pool.peak"), 0U);
}

TEST(SummaryTables, StepsAndTimesOfASeries) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += "2024-05-01 12:00:0" + std::to_string(i) + ",250 | INFO | Epoch [1/3], Step [" + std::to_string(i * 100) +
            "/1000], loss 0.5\n";
    text += table_text(0, "", kCells) + table_text(1, "", kCells);
  }
  const Source source = read_log(text);
  ASSERT_EQ(source.allocator_stats.size(), 8U);
  EXPECT_EQ(source.allocator_stats[0].step, 0);
  EXPECT_EQ(source.allocator_stats[1].step, 0);
  EXPECT_EQ(source.allocator_stats[7].step, 300);
  EXPECT_EQ(source.allocator_stats[0].time_ns, 1'714'564'800'250'000'000);
  EXPECT_EQ(source.start_ns, 1'714'564'800'250'000'000);
  EXPECT_EQ(source.end_ns, 1'714'564'803'250'000'000);
}

TEST(SummaryTables, AStepIsUsedOnce) {
  const Source source = read_log("step 7\n" + table_text(0, "", kCells) + table_text(0, "", kCells));
  ASSERT_EQ(source.allocator_stats.size(), 2U);
  EXPECT_EQ(source.allocator_stats[0].step, 7);
  EXPECT_FALSE(source.allocator_stats[1].step.has_value());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

TEST(SummaryTables, RanksInterleavedLineByLine) {
  const std::vector<std::string> a = lines_of(table_text(0, "[rank0]: 2024-01-01 00:00:00,1 | INFO | ", kCells));
  const std::vector<std::string> b = lines_of(table_text(1, "[rank1]: 2024-01-01 00:00:01,2 | INFO | ",
                                                         "       1 MiB |       2 MiB |       3 MiB |       4 MiB "));
  std::string text;
  for (std::size_t i = 0; i < a.size(); ++i) text += a[i] + b[i];
  const Source source = read_log(text);
  ASSERT_EQ(source.allocator_stats.size(), 2U);
  EXPECT_EQ(source.allocator_stats[0].values.at("active_bytes.large_pool.current"), 12345 * kKiB);
  EXPECT_EQ(source.allocator_stats[1].values.at("active_bytes.large_pool.freed"), 4 * kMiB);
  EXPECT_EQ(source.allocator_stats[0].values.size(), source.allocator_stats[1].values.size());
  EXPECT_TRUE(source.trouble.empty());
}

TEST(SummaryTables, CutOnesKeepWholeRows) {
  const std::string whole = table_text(0, "", kCells);
  const std::size_t in_row = whole.find("Active memory") + 60;
  const Source source = read_log(whole.substr(0, in_row));
  ASSERT_EQ(source.allocator_stats.size(), 1U);
  EXPECT_EQ(source.allocator_stats[0].values.count("allocated_bytes.small_pool.freed"), 1U);
  EXPECT_EQ(source.allocator_stats[0].values.count("active_bytes.all.current"), 0U);
  ASSERT_EQ(source.trouble.size(), 2U);
  EXPECT_EQ(source.trouble[0].name, "cut_row");
  EXPECT_EQ(source.trouble[1].name, "cut_table");
}

TEST(SummaryTables, RowsThatCameTwiceAreLeftOut) {
  // Two ranks without a name in front: whose row is whose cannot be told.
  const std::vector<std::string> a = lines_of(table_text(0, "", kCells, true));
  std::string text;
  for (const std::string& line : a) text += line + (line.find("Active memory") == std::string::npos ? "" : line);
  const Source source = read_log(text);
  ASSERT_EQ(source.allocator_stats.size(), 1U);
  EXPECT_EQ(source.allocator_stats[0].values.count("active_bytes.all.current"), 0U);
  EXPECT_EQ(source.allocator_stats[0].values.count("allocated_bytes.all.current"), 1U);
  EXPECT_EQ(source.trouble.at(0).name, "mixed_tables");
}

TEST(StatsDictionaries, EverySpelling) {
  const std::vector<std::string> texts = {
      "OrderedDict([('active.all.allocated', 12), ('active.all.current', 3), ('num_ooms', 1), ('max_split_size', "
      "-1)])\n",
      "{'active.all.allocated': 12, 'active.all.current': 3, 'num_ooms': 1, 'max_split_size': -1}\n",
      "{\"active.all.allocated\": 12, \"active.all.current\": 3, \"num_ooms\": 1, \"max_split_size\": -1}\n",
      "{\"message\": \"{\\\"active.all.allocated\\\": 12, \\\"active.all.current\\\": 3, \\\"num_ooms\\\": 1, "
      "\\\"max_split_size\\\": -1}\"}\n",
      "OrderedDict([('active.all.allocated', 12),\n             ('active.all.current', 3),\n             ('num_ooms', "
      "1),\n"
      "             ('max_split_size', -1)])\n",
      "INFO stats: {'active.all.allocated': 12,\n 'active.all.current': 3,\n 'num_ooms': 1,\n 'max_split_size': -1}\n",
      "active.all.allocated: 12\nactive.all.current: 3\nnum_ooms: 1\nmax_split_size: -1\n",
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const Source source = read_log(text);
    ASSERT_EQ(source.allocator_stats.size(), 1U);
    const std::map<std::string, std::int64_t> expected = {
        {"active.all.allocated", 12}, {"active.all.current", 3}, {"num_ooms", 1}, {"max_split_size", -1}};
    EXPECT_EQ(source.allocator_stats[0].values, expected);
    EXPECT_EQ(source.allocator_stats[0].resolution_bytes, 1);
  }
}

TEST(StatsDictionaries, ASeriesOfLines) {
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += "{\"step\": " + std::to_string(i * 10) +
            ", \"device\": \"cuda:1\", \"allocated_bytes.all.current\": " + std::to_string(1000 + i) +
            ", \"loss\": 0.5}\n";
  }
  const Source source = read_log(text);
  ASSERT_EQ(source.allocator_stats.size(), 5U);
  EXPECT_EQ(source.allocator_stats[4].step, 40);
  EXPECT_EQ(source.allocator_stats[4].device, 1);
  EXPECT_EQ(source.allocator_stats[4].values.at("allocated_bytes.all.current"), 1004);
}

TEST(MemoryLog, Utf16) {
  const std::string text = "step 7\r\nCUDA out of memory. Tried to allocate 2.00 GiB\r\n显存\r\n";
  for (const bool is_big : {false, true}) {
    std::string wide = is_big ? "\xfe\xff" : "\xff\xfe";
    const std::u16string units =
        u"step 7\r\nCUDA out of memory. Tried to allocate 2.00 GiB\r\n\u663e\u5b58\U0001F600\r\n";
    for (const char16_t unit : units) {
      const char low = static_cast<char>(unit & 0xff);
      const char high = static_cast<char>(unit >> 8);
      wide += is_big ? high : low;
      wide += is_big ? low : high;
    }
    EXPECT_TRUE(is_claimed(wide));
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
      const Source source = read_log(wide, piece);
      ASSERT_EQ(source.out_of_memory.size(), 1U);
      EXPECT_EQ(source.out_of_memory[0].asked_bytes, 2 * kGiB);
      EXPECT_EQ(source.out_of_memory[0].line, 2);
    }
  }
}

TEST(MemoryLog, ClaimsTextAndNotDocuments) {
  EXPECT_TRUE(is_claimed("CUDA out of memory."));
  EXPECT_TRUE(is_claimed("anything at all"));
  EXPECT_TRUE(is_claimed("[rank0]: hello\n"));
  EXPECT_TRUE(is_claimed("[0]: hello\n"));
  EXPECT_TRUE(is_claimed("[2024-05-01 12:00:00] hello\n"));
  EXPECT_TRUE(is_claimed("{\"level\":\"info\"}\n{\"level\":\"info\"}\n"));
  EXPECT_TRUE(is_claimed("{\n \"allocated_bytes.all.current\": 12\n}\n"));
  EXPECT_FALSE(is_claimed("{\n \"name\": \"x\"\n}\n"));
  EXPECT_FALSE(is_claimed("[[1, 2], [3, 4]]"));
  EXPECT_FALSE(is_claimed("[1, 2, 3]"));
  EXPECT_FALSE(is_claimed("{}"));
  EXPECT_FALSE(is_claimed(""));
  EXPECT_FALSE(is_claimed(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_claimed("SQLite format 3 without more"));
}

TEST(MemoryLog, FarInAndInPieces) {
  std::string text;
  while (text.size() < 12'000'000) text += "INFO loss 0.12345 lr 1e-3 tokens 4096 gradient norm 1.5 elapsed 12 ms\n";
  const std::int64_t lines = std::count(text.begin(), text.end(), '\n');
  const std::int64_t offset = static_cast<std::int64_t>(text.size());
  text += "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity)\n";
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4099}}) {
    const Source source = read_log(text, piece);
    ASSERT_EQ(source.out_of_memory.size(), 1U);
    EXPECT_EQ(source.out_of_memory[0].offset, offset);
    EXPECT_EQ(source.out_of_memory[0].line, lines + 1);
    EXPECT_EQ(source.bytes, static_cast<std::int64_t>(text.size()));
  }
}

TEST(MemoryLog, LongLinesAreCutAndTold) {
  const std::string filler(3'000'000, 'x');
  const Source source = read_log(filler + " CUDA out of memory. Tried to allocate 2.00 GiB " + filler + " memory\n");
  ASSERT_EQ(source.out_of_memory.size(), 1U);
  EXPECT_EQ(source.out_of_memory[0].asked_bytes, 2 * kGiB);
  ASSERT_FALSE(source.trouble.empty());
  EXPECT_EQ(source.trouble[0].name, "long_line");
}

TEST(Anchors, AgreeWithAPlainSearch) {
  const std::string text =
      "xxMEMORYx allo alloc .all. kv cach KV cache kille Killed oom-kill oom_kill OOMKilled inus InUse: cuMemCreate";
  std::vector<std::size_t> found;
  for (std::size_t at = memory_log::find_anchor(text, 0); at != std::string::npos;
       at = memory_log::find_anchor(text, at + 1)) {
    found.push_back(at);
  }
  std::vector<std::size_t> expected;
  for (const char* word : {"MEMORY", "alloc ", ".all.", "KV cache", "Killed oom", "oom-kill", "oom_kill", "OOMKilled",
                           "Killed inus", "InUse", "cuMemCreate"}) {
    expected.push_back(text.find(word));
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST(Fields, Sizes) {
  const auto size = [](std::string_view text) { return memory_log::take_size(text); };
  EXPECT_EQ(size("1.5 GiB"), kGiB + kGiB / 2);
  EXPECT_EQ(size("0 bytes"), 0);
  EXPECT_EQ(size("10.5G free"), 10 * kGiB + kGiB / 2);
  EXPECT_EQ(size("798816kB"), 798816 * kKiB);
  EXPECT_EQ(size("1,234,567 bytes"), 1234567);
  EXPECT_EQ(size("7 EiB"), std::int64_t{7} << 60);
  EXPECT_EQ(size("8 EiB"), std::nullopt);
  EXPECT_EQ(size("99999999999999999999 B"), std::nullopt);
  EXPECT_EQ(size("12"), std::nullopt);
  EXPECT_EQ(size("-3 GiB"), std::nullopt);
  EXPECT_EQ(size("5 GBps"), std::nullopt);
}

TEST(Context, StepsAndTimes) {
  const auto step = [](std::string_view text) -> std::int64_t {
    const auto found = memory_log::step_before(text);
    return found ? found->number : -1;
  };
  EXPECT_EQ(step("Step 5\n"), 5);
  EXPECT_EQ(step("global_step=17 loss 3\n"), 17);
  EXPECT_EQ(step("Epoch [2/9], Step [100/500]\nother\n"), 100);
  EXPECT_EQ(step("max_steps: 1000\n"), -1);
  EXPECT_EQ(step("step 0.5 s\n"), -1);
  EXPECT_EQ(step("epoch: 3\n"), 3);
  EXPECT_EQ(step("step 5\n1\n2\n3\n4\n5\n6\n7\n8\n"), -1);
  EXPECT_EQ(memory_log::time_in("[2024-05-01T12:00:00.5Z] x"), 1'714'564'800'500'000'000);
  EXPECT_EQ(memory_log::time_in("2024/05/01 14:00:00+02:00"), 1'714'564'800'000'000'000);
  EXPECT_EQ(memory_log::time_in("2024-13-01 12:00:00"), std::nullopt);
}

TEST(MemoryStats, Keys) {
  EXPECT_TRUE(memory_stats::is_key("allocated_bytes.all.current"));
  EXPECT_TRUE(memory_stats::is_key("inactive_split.small_pool.freed"));
  EXPECT_TRUE(memory_stats::is_key("oversize_segments.peak"));
  EXPECT_TRUE(memory_stats::is_key("num_ooms"));
  EXPECT_FALSE(memory_stats::is_key("allocated_bytes.current"));
  EXPECT_FALSE(memory_stats::is_key("oversize_segments.all.peak"));
  EXPECT_FALSE(memory_stats::is_key("loss.all.current"));
}

}  // namespace
}  // namespace vramscope
