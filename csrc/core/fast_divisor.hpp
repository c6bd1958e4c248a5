// Division by a number fixed at run time, as one multiplication and one shift.
//
// Exact for dividends below 2^31: with L = ceil(log2 d) and M = ceil(2^(31+L) / d), the error
// e = M*d - 2^(31+L) is below d <= 2^L, which is the condition for floor(n*M / 2^(31+L)) = floor(n/d).
// Source: Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

namespace dragonfly {

class FastDivisor {
 public:
  constexpr FastDivisor() noexcept = default;
  // Precondition: 1 <= divisor < 2^31.
  constexpr explicit FastDivisor(std::uint32_t divisor) noexcept
      : shift_{31U + static_cast<std::uint32_t>(std::bit_width(divisor - 1U))},
        multiplier_{((std::uint64_t{1} << shift_) + divisor - 1U) / divisor} {
    assert(divisor >= 1 && divisor < (1U << 31));
  }

  // floor(dividend / divisor); precondition: dividend < 2^31.
  [[nodiscard]] constexpr std::uint32_t divide(std::uint32_t dividend) const noexcept {
    return static_cast<std::uint32_t>((dividend * multiplier_) >> shift_);
  }

 private:
  std::uint32_t shift_ = 31;
  std::uint64_t multiplier_ = std::uint64_t{1} << 31;
};

}  // namespace dragonfly
