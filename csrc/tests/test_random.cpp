// Philox4x32-10 against its published results, and the guarantees of streams.
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "core/random.hpp"
#include "tests/check.hpp"

namespace dragonfly {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Source: kat_vectors of the Random123 distribution (D. E. Shaw Research), lines "philox4x32 10".
TEST(philox_gives_the_published_numbers) {
  CHECK(
      (detail::philox4x32({0, 0, 0, 0}, 0, 0) == Block{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  CHECK((detail::philox4x32({~0U, ~0U, ~0U, ~0U}, ~0U, ~0U) ==
         Block{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  CHECK((detail::philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, 0xa4093822U, 0x299f31d0U) ==
         Block{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(a_stream_is_a_function_of_its_key_alone) {
  RandomStream first{7, Purpose::kDestination, 3, 11};
  RandomStream disturber{7, Purpose::kDestination, 4, 11};
  RandomStream again{7, Purpose::kDestination, 3, 11};
  for (int draw = 0; draw < 100; ++draw) {
    disturber.next_u32();
    CHECK_EQ(first.next_u64(), again.next_u64());
  }
}

TEST(streams_that_differ_in_any_part_of_the_key_share_no_draw) {
  std::set<std::uint64_t> seen;
  const auto add = [&seen](RandomStream stream) {
    for (int draw = 0; draw < 50; ++draw) CHECK(seen.insert(stream.next_u64()).second);
  };
  add({1, Purpose::kDestination, 0, 0});
  add({2, Purpose::kDestination, 0, 0});
  add({std::uint64_t{1} << 32, Purpose::kDestination, 0, 0});
  add({1, Purpose::kInjection, 0, 0});
  add({1, Purpose::kPattern, 0, 0});
  add({1, Purpose::kRouting, 0, 0});
  add({1, Purpose::kLearning, 0, 0});
  add({1, Purpose::kDestination, 1, 0});
  add({1, Purpose::kDestination, 0, 1});
  add({1, Purpose::kDestination, 0, std::uint64_t{1} << 32});
  add({1, Purpose::kDestination, 0, 0, 1});
}

TEST(a_short_draw_run_never_reaches_the_next_sub_stream) {
  RandomStream stream{5, Purpose::kRouting, 0, 0, 0};
  RandomStream next{5, Purpose::kRouting, 0, 0, 1};
  const std::uint64_t first_of_next = next.next_u64();
  for (int draw = 0; draw < 10'000; ++draw) CHECK(stream.next_u64() != first_of_next);
}

TEST(below_stays_in_range_and_reaches_every_value) {
  RandomStream stream{42, Purpose::kPattern, 0, 0};
  for (const std::uint32_t bound : {1U, 2U, 3U, 7U, 33U, 1000U}) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t draw = 0; draw < bound * 20; ++draw) {
      const std::uint32_t value = stream.below(bound);
      CHECK(value < bound);
      seen.insert(value);
    }
    CHECK_EQ(seen.size(), bound);
  }
  for (int draw = 0; draw < 100; ++draw) CHECK(stream.below(0xffffffffU) < 0xffffffffU);
}

// Chi-squared with 99 degrees of freedom: mean 99, standard deviation 14.07; five of them allowed.
TEST(below_is_uniform) {
  constexpr int kDraws = 100'000;
  std::array<int, 100> counts{};
  RandomStream stream{2024, Purpose::kDestination, 17, 5};
  for (int draw = 0; draw < kDraws; ++draw) ++counts.at(stream.below(100));
  double chi_squared = 0;
  for (const int count : counts) chi_squared += std::pow(count - kDraws / 100, 2) / (kDraws / 100.0);
  CHECK(std::abs(chi_squared - 99) < 5 * 14.07);
}

TEST(streams_that_are_begun_together_draw_what_each_would_alone) {
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{4}, (std::uint64_t{1} << 32) - 8, (std::uint64_t{1} << 40) - 8}) {
    std::array<RandomStream, 8> together =
        begun_streams<8>(0x123456789abcdef0, Purpose::kDestination, 77, first);
    for (std::uint64_t i = 0; i < together.size(); ++i) {
      RandomStream alone{0x123456789abcdef0, Purpose::kDestination, 77, first + i};
      for (int draw = 0; draw < 11; ++draw) CHECK_EQ(together[i].next_u32(), alone.next_u32());
    }
  }
}

TEST(any_streams_of_a_seed_may_begin_together) {
  for (std::size_t count = 0; count <= 9; ++count) {
    std::vector<RandomStream> together;
    std::vector<RandomStream> alone;
    for (std::uint32_t i = 0; i < count; ++i) {
      const RandomStream stream{0xfedcba9876543210, i % 2 == 0 ? Purpose::kRouting : Purpose::kLearning,
                                0xfffffff0U + 7 * i, std::uint64_t{i} << 31, i};
      together.push_back(stream);
      alone.push_back(stream);
    }
    begin_together(together);
    for (std::size_t i = 0; i < count; ++i) {
      for (int draw = 0; draw < 11; ++draw) CHECK_EQ(together[i].next_u32(), alone[i].next_u32());
    }
  }
}

// The usage of the simulator: one draw from each of many consecutive streams.
TEST(first_draws_of_consecutive_streams_are_uniform) {
  constexpr int kStreams = 100'000;
  std::array<int, 100> counts{};
  for (std::uint64_t index = 0; index < kStreams; ++index) {
    ++counts.at(RandomStream{1, Purpose::kDestination, 3, index}.below(100));
  }
  double chi_squared = 0;
  for (const int count : counts) chi_squared += std::pow(count - kStreams / 100, 2) / (kStreams / 100.0);
  CHECK(std::abs(chi_squared - 99) < 5 * 14.07);
}

TEST(uniform_lies_in_the_half_open_unit_interval_with_mean_one_half) {
  RandomStream stream{3, Purpose::kInjection, 0, 0};
  double sum = 0;
  for (int draw = 0; draw < 100'000; ++draw) {
    const double value = stream.uniform();
    CHECK(value >= 0.0 && value < 1.0);
    sum += value;
  }
  // The mean of 1e5 draws has a standard deviation of 0.00091.
  CHECK(std::abs(sum / 100'000 - 0.5) < 0.005);
}

}  // namespace
}  // namespace dragonfly
