// Single-precision functions as fixed formulas, so that every machine, and the reference implementation in
// NumPy, gets the same bits: additions, multiplications and divisions in the order written, none of them
// fused.
#pragma once

#include <bit>
#include <cstdint>

namespace dragonfly::neural {

// The hyperbolic tangent, within 4e-7 of the true one; 1 minus a little where |x| > 7.9. Not a number: as
// -7.9. Source: the rational approximation of the Eigen library (Eigen/src/Core/MathFunctionsImpl.h, generic
// tanh).
[[nodiscard]] inline float tanh(float x) noexcept {
  constexpr float kMost = 7.90531110763549805F;
  const float y = x > -kMost ? (x < kMost ? x : kMost) : -kMost;
  const float y2 = y * y;
  float p = y2 * -2.76076847742355e-16F + 2.00018790482477e-13F;
  p = y2 * p + -8.60467152213735e-11F;
  p = y2 * p + 5.12229709037114e-08F;
  p = y2 * p + 1.48572235717979e-05F;
  p = y2 * p + 6.37261928875436e-04F;
  p = y2 * p + 4.89352455891786e-03F;
  p = y * p;
  float q = y2 * 1.19825839466702e-06F + 1.18534705686654e-04F;
  q = y2 * q + 2.26843463243900e-03F;
  q = y2 * q + 4.89352518554385e-03F;
  return p / q;
}

inline constexpr float kLeastExponent = -87.0F;

// e^x for x <= 0, within 1e-7 of its value relatively; values below e^-87 count as e^-87.
// Source: range reduction and polynomial of the Cephes library (expf).
[[nodiscard]] inline float exp_of_negative(float x) noexcept {
  const float y = x > kLeastExponent ? x : kLeastExponent;
  const auto n = static_cast<std::int32_t>(y * 1.44269504088896341F - 0.5F);  // nearest, towards zero
  const auto whole = static_cast<float>(n);
  float r = y - whole * 0.693359375F;
  r = r - whole * -2.12194440e-4F;
  float p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = r * p + 8.3334519073e-3F;
  p = r * p + 4.1665795894e-2F;
  p = r * p + 1.6666665459e-1F;
  p = r * p + 5.0000001201e-1F;
  p = p * (r * r);
  p = p + r;
  p = p + 1.0F;
  return p * std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

// The natural logarithm of x >= 1, within 1e-7 of its value or of 1, whichever is more.
// Source: range reduction and polynomial of the Cephes library (logf).
[[nodiscard]] inline float log(float x) noexcept {
  constexpr float kHalfRoot = 0.707106781186547524F;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  auto exponent = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 126);
  float m = std::bit_cast<float>((bits & 0x7fffffU) | 0x3f000000U);  // x = m * 2^exponent, m in [0.5, 1)
  if (m < kHalfRoot) {
    exponent = exponent - 1.0F;
    m = m + m;
  }
  m = m - 1.0F;
  const float square = m * m;
  float p = m * 7.0376836292e-2F + -1.1514610310e-1F;
  p = m * p + 1.1676998740e-1F;
  p = m * p + -1.2420140846e-1F;
  p = m * p + 1.4249322787e-1F;
  p = m * p + -1.6668057665e-1F;
  p = m * p + 2.0000714765e-1F;
  p = m * p + -2.4999993993e-1F;
  p = m * p + 3.3333331174e-1F;
  p = p * m * square;
  p = p + exponent * -2.12194440e-4F;
  p = p + square * -0.5F;
  return (m + p) + exponent * 0.693359375F;
}

}  // namespace dragonfly::neural
