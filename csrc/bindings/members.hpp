// Settings as Python passes them, read by name.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>

#include "core/value_range.hpp"

namespace dragonfly {

// Throws KeyError if there is none of that name.
template <class T>
T member(const pybind11::dict& given, const char* name) {
  return pybind11::cast<T>(given[name]);
}

// Describes the allowed values of a setting for Python: low, high (None: no limit), whole and names.
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
