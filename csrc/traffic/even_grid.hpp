// Equally spaced times whose spacing need not be a whole number of picoseconds.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/time.hpp"

namespace dragonfly {

// The k-th time, k = 0, 1, 2, ..., is k * T rounded to the nearest ps. T is kept with 64 binary places: gaps
// differ by at most 1 ps, and the k-th time is that of the true T to within k * 2^-64 ps, with no drift
// beyond that.
class EvenGrid {
 public:
  // T = spacing_ps >= 1.
  explicit constexpr EvenGrid(TimePs spacing_ps) noexcept : whole_{spacing_ps} {}

  // T = packets * packet_ps / load, 0 < load <= 1; kNever if T is too long to matter. The quotient of the
  // exact arguments: no intermediate value is rounded.
  static EvenGrid quotient(TimePs packet_ps, std::uint32_t packets, double load) noexcept {
    const Wide message_ps = static_cast<Wide>(packet_ps) * packets;
    EvenGrid grid{kNever};
    if (static_cast<double>(message_ps) / load >= static_cast<double>(kNever)) return grid;
    int exponent = 0;  // load = divisor * 2^(exponent - 53)
    const auto divisor = static_cast<std::uint64_t>(std::ldexp(std::frexp(load, &exponent), 53));
    const Wide dividend = message_ps << (53 - exponent);  // = T * divisor < 2^61 * 2^53
    grid.whole_ = static_cast<TimePs>(dividend / divisor);
    grid.fraction_ = static_cast<std::uint64_t>(((dividend % divisor) << 64) / divisor);
    return grid;
  }

  [[nodiscard]] constexpr TimePs at(std::uint64_t k) const noexcept {
    return static_cast<TimePs>(k) * whole_ +
           static_cast<TimePs>((static_cast<Wide>(k) * fraction_ + kHalf) >> 64);
  }

  // at(k) - at(k - 1): one ps more than T's whole part where the running sum of the fractions passes a whole
  // number. It cannot overflow, however large k is.
  [[nodiscard]] constexpr TimePs gap_before(std::uint64_t k) const noexcept {
    return whole_ + (k * fraction_ + kHalf < fraction_ ? 1 : 0);  // modulo 2^64
  }

  // The smallest k with at(k) >= from_ps >= 0.
  [[nodiscard]] constexpr std::uint64_t first_from(TimePs from_ps) const noexcept {
    if (from_ps <= 0) return 0;
    const Wide spacing = (static_cast<Wide>(whole_) << 64) | fraction_;
    const Wide least = (static_cast<Wide>(from_ps) << 64) - kHalf;
    return static_cast<std::uint64_t>((least + spacing - 1) / spacing);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

  TimePs whole_;
  std::uint64_t fraction_ = 0;  // fraction in units of 2^-64 ps
};

}  // namespace dragonfly
