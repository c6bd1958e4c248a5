// Simulated time: integer picoseconds.
#pragma once

#include <cstdint>

namespace dragonfly {

using TimePs = std::int64_t;

inline constexpr TimePs kPsPerNs = 1000;
// Later than anything that happens; sums of it and a delay do not overflow.
inline constexpr TimePs kNever = INT64_MAX / 4;

}  // namespace dragonfly
