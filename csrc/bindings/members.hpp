// Settings as Python passes them, read by name.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "core/value_range.hpp"

namespace dragonfly {

// Throws ConfigError if there is none of that name and type.
template <class T>
T member(const pybind11::dict& given, const char* name) {
  if (!given.contains(name)) throw ConfigError{name, "nothing", "must be given"};
  const pybind11::object value = given[name];
  try {
    return pybind11::cast<T>(value);
  } catch (const pybind11::cast_error&) {
    throw ConfigError{name, pybind11::repr(value).cast<std::string>().substr(0, 200), "has another type"};
  }
}

// Throws ConfigError for a name that nobody reads, with the nearest match.
inline void require_known(const pybind11::dict& given, const std::vector<std::string>& known) {
  for (const auto& [key, value] : given) {
    const auto name = pybind11::str(key).cast<std::string>();
    if (std::ranges::find(known, name) == known.end())
      throw ConfigError{name, "given", suggestion(name, known)};
  }
}

// What a setting may be, for Python: low, high (None: no limit), whole and names.
inline void write_range(pybind11::dict& row, const ValueRange& range) {
  const auto limit = [](double value) -> pybind11::object {
    if (!std::isfinite(value)) return pybind11::none();
    return pybind11::float_(value);
  };
  row["low"] = limit(range.low);
  row["high"] = limit(range.high);
  row["whole"] = range.whole;
  row["names"] = range.names;
}

}  // namespace dragonfly
