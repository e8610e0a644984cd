#pragma once
// Runs a few independent pieces of work on the machine's cores.
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace vramscope {

// Threads worth starting for CPU-bound work: at least 1, at most 16.
inline unsigned worker_count() {
  const unsigned cores = std::thread::hardware_concurrency();
  return cores < 1 ? 1 : (cores > 16 ? 16 : cores);
}

// The same for work on so many events: starting threads takes longer than a few thousand of them.
inline unsigned worker_count_for(std::size_t events) {
  constexpr std::size_t kFew = 10000;
  return events < kFew ? 1 : worker_count();
}

// Calls work(i) once for every i in [0, count), on up to `threads` threads; returns when all are done.
// Calls for different i must not share state. The first exception is rethrown here.
template <typename Work>
void parallel_for(std::size_t count, const Work& work, std::size_t threads = worker_count()) {
  if (threads > count) threads = count;
  if (threads <= 1) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> guard(failure_lock);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> pool;
  for (std::size_t t = 1; t < threads; ++t) pool.emplace_back(loop);
  loop();
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace vramscope
