// Integers from Python with their range checked, so that a wrong one is a ConfigError and never wraps.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace dragonfly {

// `value` as an unsigned number in [low, high]; ConfigError names the field, the value and the range.
inline std::uint32_t checked_u32(const pybind11::int_& value, const char* field, std::uint64_t low,
                                 std::uint64_t high) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0 && number == -1 && PyErr_Occurred() != nullptr) throw pybind11::error_already_set{};
  const bool inside = overflow == 0 && number >= 0 && static_cast<std::uint64_t>(number) >= low &&
                      static_cast<std::uint64_t>(number) <= high && number <= INT64_C(0xffffffff);
  if (!inside) {
    throw ConfigError{field, pybind11::str(value).cast<std::string>(),
                      "must lie in [" + std::to_string(low) + ", " + std::to_string(high) + "]"};
  }
  return static_cast<std::uint32_t>(number);
}

}  // namespace dragonfly
