// The specification of a traffic pattern: its name and its arguments, checked as they are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dragonfly {

struct PatternPart;

struct Matrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::vector<double> values;  // row by row
};

using Integers = std::vector<std::int64_t>;
using ArgumentValue =
    std::variant<bool, std::int64_t, double, std::string, Integers, Matrix, std::vector<PatternPart>>;

// Named values. Every getter throws ConfigError if the value is of another kind or out of range.
class PatternArguments {
 public:
  // Later settings of one name win.
  void set(std::string name, ArgumentValue value);
  [[nodiscard]] const ArgumentValue* find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const auto& items() const noexcept { return items_; }

  [[nodiscard]] bool flag(std::string_view name, bool fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  // An integer in [low, high].
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback, std::int64_t low,
                                     std::int64_t high) const;
  [[nodiscard]] std::string text(std::string_view name, const std::string& fallback) const;
  // A number in (low, high] if low_open, else in [low, high].
  [[nodiscard]] double number(std::string_view name, double fallback, double low, double high,
                              bool low_open = false) const;
  // nullptr if it is not given.
  [[nodiscard]] const Integers* integers(std::string_view name) const;
  // Arguments without a fallback: a missing value is a ConfigError.
  [[nodiscard]] const Matrix& matrix(std::string_view name) const;
  [[nodiscard]] const std::vector<PatternPart>& parts(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, ArgumentValue>> items_;
};

struct PatternSpec {
  std::string name;
  PatternArguments arguments;
};

// A component of a mixture.
struct PatternPart {
  PatternSpec spec;
  Integers hosts;       // hosts that use it (mixture by host set)
  double weight = 1.0;  // weight of its use (mixture by message)
};

// A list of host numbers as ids; throws ConfigError for one outside [0, num_hosts).
[[nodiscard]] std::vector<std::uint32_t> host_list(const std::string& field, const Integers& hosts,
                                                   std::uint32_t num_hosts);

// The text of a value in a message.
[[nodiscard]] std::string to_text(double value);

}  // namespace dragonfly
