// Simulated time: integer picoseconds outside, integer quanta inside.
#pragma once

#include <cstdint>

namespace dragonfly {

using TimePs = std::int64_t;

inline constexpr TimePs kPsPerNs = 1000;
// Later than anything that happens; sums of it and a delay do not overflow.
inline constexpr TimePs kNever = INT64_MAX / 4;

// Time in quanta: a common divisor of all delays (network/params.hpp), so that every event falls exactly on a
// tick.
using Tick = std::int64_t;

// Events, and packets, keep the low bits of a time. That is enough for all times that are less than 2^32
// quanta apart.
using LowTick = std::uint32_t;
[[nodiscard]] constexpr LowTick low_of(Tick time) noexcept { return static_cast<LowTick>(time); }
// The time that is not before `now` and has these low bits; the time that is not after it.
[[nodiscard]] constexpr Tick time_from(Tick now, LowTick low) noexcept {
  return now + static_cast<Tick>(low - low_of(now));
}
[[nodiscard]] constexpr Tick time_until(Tick now, LowTick low) noexcept {
  return now - static_cast<Tick>(low_of(now) - low);
}

}  // namespace dragonfly
