#pragma once
// Result<T>: a value, or the one sentence that says what went wrong and what to do next.
//
//   Result<Source> loaded = load(path);
//   if (!loaded) return loaded.error();
//   use(*loaded);
#include <string>
#include <utility>
#include <variant>

namespace vramscope {

// Exit codes of the command line (design: "Exit codes"). An error carries the one that it ends in.
enum class ExitCode : int { ok = 0, findings = 1, usage = 2, machine = 3, bad_input = 4 };

struct Error {
  ExitCode code = ExitCode::bad_input;
  std::string message;  // one full sentence, already in the user's language
  int driver_code = 0;  // of a device backend: the driver's own code, which `smi` exits with; 0: none
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace vramscope
