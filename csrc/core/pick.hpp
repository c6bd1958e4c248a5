// Choosing without a branch.
#pragma once

#include <concepts>

namespace dragonfly {

// `one` if so, else `other`; both are worked out. For conditions that a processor cannot foresee: a wrong
// guess costs more than both sides. Written as arithmetic, because compilers make branches of ?:.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T pick(bool so, T one, T other) noexcept {
  const T mask = static_cast<T>(T{0} - static_cast<T>(so));
  return static_cast<T>((one & mask) | (other & static_cast<T>(~mask)));
}

}  // namespace dragonfly
