// Plain data as bytes, for packets that move to another partition.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace dragonfly {

inline void append_bytes(std::vector<std::byte>& into, const void* from, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(from);
  into.insert(into.end(), bytes, bytes + size);
}
template <class T>
void append(std::vector<std::byte>& into, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  append_bytes(into, &value, sizeof(T));
}
// Returns the position behind the item.
template <class T>
const std::byte* take(const std::byte* from, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(&value, from, sizeof(T));
  return from + sizeof(T);
}

}  // namespace dragonfly
