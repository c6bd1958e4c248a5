// Arithmetic on a few floats, each on its own: how many are computed together changes no bit.
#pragma once

#include <cstddef>
#include <cstring>

namespace dragonfly {

// Writes of(from[i]) to to[i] for `count` floats; `of` takes a float, or four in a vector. From four to eight
// floats are two vectors that may overlap: loops that GCC makes for any count take five times as many
// instructions. `to` may be `from`.
template <class Of>
[[gnu::always_inline]] inline void for_few_floats(const float* from, std::size_t count, float* to,
                                                  Of of) noexcept {
  using Four [[gnu::vector_size(4 * sizeof(float))]] = float;
  if (count < 4 || count > 8) {
    for (std::size_t i = 0; i < count; ++i) to[i] = of(from[i]);
    return;
  }
  Four first;
  Four last;
  std::memcpy(&first, from, sizeof first);
  std::memcpy(&last, from + count - 4, sizeof last);
  first = of(first);
  last = of(last);
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + count - 4, &last, sizeof last);
}

}  // namespace dragonfly
