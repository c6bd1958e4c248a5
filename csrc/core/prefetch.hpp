// Prefetching of cache lines.
#pragma once

#include <cstddef>

namespace dragonfly {

// The empty volatile statement is there because GCC takes a function that does nothing but prefetch for one
// without effects, and leaves calls of it out.
[[gnu::always_inline]] inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

// Prefetches all lines of an array.
inline void prefetch(const void* address, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64;
  const auto* const first = static_cast<const std::byte*>(address);
  for (std::size_t at = 0; at < bytes; at += kLine) prefetch(first + at);
  if (bytes > 0) prefetch(first + bytes - 1);
}

}  // namespace dragonfly
