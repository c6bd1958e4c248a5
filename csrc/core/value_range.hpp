// The values that a setting may have: a part of the setting's row, for the core and for Python.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace dragonfly {

struct ValueRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool whole = false;
  std::vector<std::string> names{};  // texts that are allowed
};

[[nodiscard]] inline ValueRange between(double low, double high) { return {low, high, false, {}}; }
[[nodiscard]] inline ValueRange whole(double low, double high) { return {low, high, true, {}}; }
[[nodiscard]] inline ValueRange among(std::vector<std::string> names) {
  ValueRange range;
  range.names = std::move(names);
  return range;
}

// Throws ConfigError.
void check_value(const std::string& field, double value, const ValueRange& range);

}  // namespace dragonfly
