#pragma once
// A growing array of plain values, contiguous, for the columns of a trace.
//
// Growth goes through realloc: for large blocks glibc moves pages instead of copying bytes, so a column of
// hundreds of megabytes never exists twice while it grows, and untouched capacity costs no memory.
// Not thread-safe. Running out of memory throws std::bad_alloc, as std::vector does.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace vramscope {

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>, "realloc moves the bytes of the values");

 public:
  Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Column() { std::free(data_); }

  void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ < kFirst ? kFirst : capacity_ + capacity_ / 2);
    data_[size_++] = value;
  }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void* grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }
  // New elements get `value`; fewer elements keep the block.
  void resize(std::size_t size, T value = T{}) {
    reserve(size);
    for (std::size_t i = size_; i < size; ++i) data_[i] = value;
    size_ = size;
  }
  // New elements have any value, and their pages are not touched.
  void resize_for_overwrite(std::size_t size) {
    reserve(size);
    size_ = size;
  }
  // Gives the block back to the system.
  void clear() {
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static constexpr std::size_t kFirst = 64;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace vramscope
