// Asking for a cache line before it is needed.
#pragma once

namespace dragonfly {

// The empty volatile statement is there because GCC takes a function that does nothing but prefetch for one
// without effects, and leaves calls of it out.
[[gnu::always_inline]] inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace dragonfly
