// The logarithm of random gaps: accurate, exact where it can be, the same bits everywhere.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/log.hpp"
#include "core/random.hpp"
#include "tests/check.hpp"

namespace {

using dragonfly::deterministic_log;
using dragonfly::deterministic_log1p;

// The error of `value` in units of the last place of the exact result.
double error_ulp(double value, long double exact) {
  const double near = std::fabs(static_cast<double>(exact));
  const double ulp = std::nextafter(near, std::numeric_limits<double>::infinity()) - near;
  return static_cast<double>(std::fabs((static_cast<long double>(value) - exact) / ulp));
}

TEST(log_of_one_is_exactly_zero) { CHECK_EQ(deterministic_log(1.0), 0.0); }

TEST(log_is_within_one_ulp_of_the_exact_value) {
  double worst = 0.0;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    dragonfly::RandomStream random{7, dragonfly::Purpose::kInjection, 0, i};
    const double u = random.uniform();
    const double near_one = 1.0 - u * u * 0x1.0p-8;
    const double tiny = std::ldexp(0.5 + u / 2, -static_cast<int>(random.below(1070)));
    for (const double x : {u + 0x1.0p-53, near_one, tiny}) {
      worst = std::fmax(worst, error_ulp(deterministic_log(x), std::log(static_cast<long double>(x))));
    }
  }
  CHECK(worst < 1.0);
}

TEST(log_of_powers_of_two_is_the_rounded_multiple_of_ln_2) {
  for (int k = 0; k <= 53; ++k) {
    CHECK(error_ulp(deterministic_log(std::ldexp(1.0, -k)), -k * 0.693147180559945309417232L) <= 0.51 ||
          k == 0);
  }
}

TEST(log_rises_across_the_seams_of_its_ranges) {
  for (const double seam : {std::sqrt(0.5), 0.5, std::sqrt(0.125), 0x1.0p-1022}) {
    const double below = std::nextafter(seam, 0.0);
    const double above = std::nextafter(seam, 1.0);
    CHECK(deterministic_log(below) <= deterministic_log(seam));
    CHECK(deterministic_log(seam) <= deterministic_log(above));
  }
}

TEST(log1p_is_accurate_for_tiny_arguments) {
  double worst = 0.0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    dragonfly::RandomStream random{8, dragonfly::Purpose::kInjection, 0, i};
    const double x = -random.uniform() * std::ldexp(1.0, -static_cast<int>(random.below(60)));
    if (x <= -1.0 || x == 0.0) continue;
    worst = std::fmax(worst, error_ulp(deterministic_log1p(x), std::log1p(static_cast<long double>(x))));
  }
  CHECK(worst < 4.0);
}

// FNV-1a over the bits of many results. A compiler that fuses or reorders operations changes it, and
// with it every random inter-arrival time.
TEST(log_has_the_same_bits_on_every_machine) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    dragonfly::RandomStream random{9, dragonfly::Purpose::kInjection, 0, i};
    hash = (hash ^ std::bit_cast<std::uint64_t>(deterministic_log(random.uniform() + 0x1.0p-53))) *
           0x100000001b3ULL;
  }
  CHECK_EQ(hash, 1748966281815222289ULL);
}

}  // namespace
