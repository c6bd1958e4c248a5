// States as arrays of bytes (core/archive.hpp).
#pragma once

#include <pybind11/numpy.h>

#include <memory>

#include "core/archive.hpp"

namespace dragonfly {

using ArchivedState = pybind11::array_t<std::uint8_t, pybind11::array::c_style>;

// A read-only array that owns its memory.
template <class Owner>
ArchivedState archived(Owner& owner) {
  auto bytes = std::make_unique<ArchiveBytes>();
  {
    const pybind11::gil_scoped_release release;
    *bytes = Archive::of(owner);
  }
  const auto size = static_cast<pybind11::ssize_t>(bytes->all().size());
  const auto* const memory = reinterpret_cast<const std::uint8_t*>(bytes->all().data());
  const pybind11::capsule base{bytes.get(), [](void* p) { delete static_cast<ArchiveBytes*>(p); }};
  (void)bytes.release();  // the capsule owns the bytes
  ArchivedState array{{size}, {pybind11::ssize_t{1}}, memory, base};
  array.attr("flags").attr("writeable") = false;
  return array;
}

// Reads a state into an owner that was just made of the same configuration. If the call throws, the owner is
// of no use any more.
template <class Owner>
void load_archived(Owner& owner, const ArchivedState& state) {
  const std::span<const std::byte> bytes{reinterpret_cast<const std::byte*>(state.data()),
                                         static_cast<std::size_t>(state.size())};
  const pybind11::gil_scoped_release release;
  Archive archive{bytes};
  archive(owner);
  archive.require_end();
}

}  // namespace dragonfly
