#pragma once
// A number over time, as a scenario writes it (docs/scenarios.md): "80GiB", "0:8GiB 3h:79GiB", "0:10 20s:90 every 20s
// + noise 3".
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace vramscope::sim {

class Curve {
 public:
  Curve() = default;
  explicit Curve(std::int64_t constant);
  // nullopt for what is no curve.
  static std::optional<Curve> parse(std::string_view text);
  // The value at a time, never below 0. `seed` makes the noise of two curves differ; the same arguments give the same
  // value always.
  std::int64_t at(std::int64_t time_ns, std::uint64_t seed) const;

 private:
  struct Point {
    std::int64_t time_ns;
    std::int64_t value;
  };
  struct Term {
    std::vector<Point> points;  // by time, at least one, but for noise
    std::int64_t period_ns = 0;
    std::int64_t noise = 0;
  };
  static std::optional<Term> parse_term(std::string_view text);
  std::vector<Term> terms_;
};

// "3h", "20s", "150ms", "5m", "2" (seconds), in ns.
std::optional<std::int64_t> parse_time(std::string_view text);
// "80GiB", "250W" (in milliwatts), "97", "1.5GiB".
std::optional<std::int64_t> parse_amount(std::string_view text);

// Takes the next word off the front.
std::string_view next_word(std::string_view& text);
std::string_view trimmed(std::string_view text);

}  // namespace vramscope::sim
