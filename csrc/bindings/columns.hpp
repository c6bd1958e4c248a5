// Columns of the core as NumPy arrays: copies that belong to the caller.
#pragma once

#include <pybind11/numpy.h>

#include <vector>

namespace dragonfly {

template <class T, class Rows, class Get>
pybind11::array_t<T> column(const Rows& rows, Get get) {
  pybind11::array_t<T> array(static_cast<pybind11::ssize_t>(rows.size()));
  T* out = array.mutable_data();
  for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<T>(get(rows[i]));
  return array;
}

template <class T, class V>
pybind11::array_t<T> to_array(const std::vector<V>& values) {
  return column<T>(values, [](const V& value) { return value; });
}

}  // namespace dragonfly
