// The natural logarithm from IEEE basic operations only, so that every machine draws the same gaps.
//
// Mathematical libraries differ in the last bit; a random inter-arrival time that is rounded to picoseconds
// would then differ between platforms, and with it the whole simulation. The functions here need only that +
// - * / round correctly and that the compiler neither fuses nor reorders them (-ffp-contract=off, no
// -ffast-math; test_log.cpp holds a fingerprint that notices).
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

namespace dragonfly {

// ln(x) for 0 < x < infinity, within 2 ulp (measured: 1 ulp).
//
// x = 2^k * (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). With s = f / (2 + f),
//   ln(1 + f) = 2 atanh(s) = 2 s + s R,  R = 2 (s^2/3 + s^4/5 + ...),  and 2 s = f - s f,
// so ln(1 + f) = f - s (f - R), in which only a small correction to f is rounded.
constexpr double deterministic_log(double x) noexcept {
  assert(x > 0.0);
  constexpr std::uint64_t kMantissa = 0x000fffffffffffffULL;
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdULL;  // bits of sqrt(1/2)
  constexpr std::uint64_t kOne = 0x3ff0000000000000ULL;
  // ln 2 in two parts; the first has 32 trailing zero bits, so k * kLn2High is exact.
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

  int exponent = 0;
  if (x < 0x1.0p-1022) {  // subnormal
    x *= 0x1.0p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t shifted = bits - kSqrtHalf + kOne;
  exponent += static_cast<int>(shifted >> 52) - 1023;
  const double f = std::bit_cast<double>((shifted & kMantissa) + kSqrtHalf) - 1.0;

  const double s = f / (2.0 + f);
  const double z = s * s;  // at most 0.0295: the first term left out is below 2^-61
  const double z2 = z * z;
  const double even = 2.0 / 3 + z2 * (2.0 / 7 + z2 * (2.0 / 11 + z2 * (2.0 / 15 + z2 * (2.0 / 19))));
  const double odd = 2.0 / 5 + z2 * (2.0 / 9 + z2 * (2.0 / 13 + z2 * (2.0 / 17 + z2 * (2.0 / 21))));
  const double r = z * (even + z * odd);
  const double k = exponent;
  return k * kLn2High + (f - (s * (f - r) - k * kLn2Low));
}

// ln(1 + x) for -1 < x, accurate for small x too (Kahan: the rounding of 1 + x cancels).
constexpr double deterministic_log1p(double x) noexcept {
  const double u = 1.0 + x;
  return u == 1.0 ? x : deterministic_log(u) * (x / (u - 1.0));
}

}  // namespace dragonfly
