#include "core/value_range.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/error.hpp"

namespace dragonfly {

namespace {

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

void check_value(const std::string& field, double value, const ValueRange& range) {
  if (std::isfinite(value) && value >= range.low && value <= range.high &&
      (!range.whole || value == std::floor(value))) {
    return;
  }
  const std::string kind = range.whole ? "a whole number" : "a number";
  throw ConfigError{field, shortest(value),
                    kind + " from " + shortest(range.low) + " to " + shortest(range.high)};
}

}  // namespace dragonfly
