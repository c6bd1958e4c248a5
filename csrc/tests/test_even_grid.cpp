// Equally spaced times: the nearest picosecond to every multiple, over a run of any length.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "tests/check.hpp"
#include "traffic/even_grid.hpp"

namespace {

using namespace dragonfly;

__extension__ using Wide = __int128;

constexpr std::pair<TimePs, double> kAwkward[] = {
    {32'000, 0.9},     {32'000, 0.45},    {32'000, 0.3}, {1'280, 0.9},     {1'280, 1.0 / 3},
    {853, 0.7},        {1, 1.0},          {1, 0.9},      {1, 0.999999999}, {10'000, 0.1},
    {7, 0.011},        {32'000, 1e-6},    {3, 2.0 / 3},  {4'096, 0.8},     {1'000'000'000, 0.03},
    {32'000, 5.0 / 7}, {2, 0x1.fffffep-1}};

// at(k) - k * T in ps, where T = packet_ps / load for the exact value of the double, of which only 2^-10 ps
// are kept.
double miss_ps(const EvenGrid& grid, TimePs packet_ps, double load, std::uint64_t k) {
  int exponent = 0;
  const auto divisor = static_cast<std::int64_t>(std::ldexp(std::frexp(load, &exponent), 53));
  const Wide dividend = static_cast<Wide>(packet_ps) << (53 - exponent);
  // Numerators over `divisor`: below 2^61 ps * 2^53 * 2^10.
  const Wide miss = static_cast<Wide>(grid.at(k)) * divisor - static_cast<Wide>(k) * dividend;
  return static_cast<double>(miss * 1024 / divisor) / 1024.0;
}

TEST(the_kth_time_is_the_picosecond_nearest_to_k_spacings) {
  for (const auto& [packet_ps, load] : kAwkward) {
    const EvenGrid grid = EvenGrid::quotient(packet_ps, 1, load);
    bool nearest = true;
    for (std::uint64_t k = 0; k <= 1'000'000; ++k)
      nearest &= std::fabs(miss_ps(grid, packet_ps, load, k)) <= 0.5;
    CHECK(nearest);
  }
}

TEST(times_do_not_drift_to_the_end_of_the_longest_run) {
  constexpr TimePs kLongest = 1'000'000'000'000'000'000;  // 10^15 ns
  for (const auto& [packet_ps, load] : kAwkward) {
    const EvenGrid grid = EvenGrid::quotient(packet_ps, 1, load);
    const std::uint64_t last = grid.first_from(kLongest);
    CHECK(grid.at(last) >= kLongest && grid.at(last - 1) < kLongest);
    for (const std::uint64_t k : {last, last - 1, last / 2, last / 3}) {
      CHECK(std::fabs(miss_ps(grid, packet_ps, load, k)) <=
            0.5 + 0x1.0p-64 * static_cast<double>(k) + 0x1.0p-9);
    }
  }
}

TEST(gaps_lead_from_one_time_to_the_next_and_differ_by_at_most_a_picosecond) {
  for (const auto& [packet_ps, load] : kAwkward) {
    const EvenGrid grid = EvenGrid::quotient(packet_ps, 1, load);
    TimePs now = grid.at(0);
    CHECK_EQ(now, 0);
    bool meets = true;
    TimePs shortest = kNever;
    TimePs longest = 0;
    for (std::uint64_t k = 1; k <= 100'000; ++k) {
      const TimePs gap = grid.gap_before(k);
      shortest = std::min(shortest, gap);
      longest = std::max(longest, gap);
      now += gap;
      meets &= now == grid.at(k);
    }
    CHECK(meets);
    CHECK(shortest >= 1 && longest - shortest <= 1);
  }
}

TEST(the_first_tick_from_a_time_on_is_found_for_every_time) {
  for (const auto& [packet_ps, load] : kAwkward) {
    const EvenGrid grid = EvenGrid::quotient(packet_ps, 1, load);
    CHECK_EQ(grid.first_from(0), 0U);
    for (const std::uint64_t k : {1ULL, 2ULL, 3ULL, 1'000ULL, 999'999ULL}) {
      CHECK_EQ(grid.first_from(grid.at(k)), k);
      CHECK_EQ(grid.first_from(grid.at(k) + 1), k + 1);
      CHECK_EQ(grid.first_from(grid.at(k - 1) + 1), k);
    }
  }
}

TEST(packets_of_a_message_multiply_the_spacing) {
  const EvenGrid message = EvenGrid::quotient(1'280, 7, 0.9);
  const EvenGrid packet = EvenGrid::quotient(1'280, 1, 0.9);
  for (const std::uint64_t k : {0ULL, 1ULL, 5ULL, 123'456ULL}) CHECK_EQ(message.at(k), packet.at(7 * k));
}

TEST(a_spacing_of_whole_picoseconds_has_equal_gaps) {
  const EvenGrid whole{71'000};
  const EvenGrid quotient = EvenGrid::quotient(32'000, 1, 0.5);
  for (const std::uint64_t k : {1ULL, 2ULL, 1'000'000'007ULL, ~0ULL}) {
    CHECK_EQ(whole.gap_before(k), 71'000);
    CHECK_EQ(quotient.gap_before(k), 64'000);
  }
}

TEST(a_spacing_beyond_all_time_is_never) {
  for (const double load : {5e-324, 1e-300, 1e-15}) {
    const EvenGrid grid = EvenGrid::quotient(32'000, 65'535, load);
    CHECK_EQ(grid.at(0), 0);
    CHECK(grid.gap_before(1) >= kNever);
    CHECK_EQ(grid.first_from(1), 1U);
    CHECK(grid.at(1) >= kNever);
  }
  CHECK(EvenGrid::quotient(kNever / 2, UINT32_MAX, 1.0).gap_before(1) >= kNever);
}

}  // namespace
