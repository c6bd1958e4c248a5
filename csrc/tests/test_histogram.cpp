// The latency histogram: its error, and that merging is exact.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/histogram.hpp"
#include "core/random.hpp"
#include "tests/check.hpp"

namespace {

using dragonfly::LatencyHistogram;

TEST(the_middle_of_a_bucket_is_within_a_thousandth_of_every_value_in_it) {
  double worst = 0.0;
  const auto look = [&worst](std::uint64_t value) {
    const double middle = LatencyHistogram::middle_of(LatencyHistogram::bucket_of(value));
    worst = std::max(worst, std::fabs(middle - static_cast<double>(value)) /
                                static_cast<double>(std::max<std::uint64_t>(1, value)));
  };
  for (std::uint64_t value = 0; value < 100'000; ++value) look(value);
  for (std::uint32_t shift = 17; shift < 62; ++shift) {
    for (const std::uint64_t value :
         {(1ULL << shift) - 1, 1ULL << shift, (1ULL << shift) + 1, 3ULL << (shift - 1)}) {
      look(value);
    }
  }
  CHECK(worst <= 0.001);
}

TEST(buckets_follow_each_other_without_gap_or_overlap) {
  std::size_t bucket = 0;
  bool adjacent = true;
  for (std::uint64_t value = 0; value < 1'000'000; ++value) {
    const std::size_t next = LatencyHistogram::bucket_of(value);
    adjacent = adjacent && (next == bucket || next == bucket + 1);
    bucket = next;
  }
  CHECK(adjacent);
  for (std::uint32_t shift = 10; shift < 62; ++shift) {
    CHECK_EQ(LatencyHistogram::bucket_of(1ULL << shift),
             LatencyHistogram::bucket_of((1ULL << shift) - 1) + 1);
  }
}

TEST(merging_gives_the_histogram_of_all_values_in_any_order) {
  LatencyHistogram whole;
  LatencyHistogram parts[3];
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    dragonfly::RandomStream random{3, dragonfly::Purpose::kPattern, 0, i};
    const std::uint64_t value = random.next_u64() >> random.below(60);
    whole.add(value);
    parts[i % 3].add(value);
  }
  LatencyHistogram forwards;
  LatencyHistogram backwards;
  for (const auto& part : parts) forwards.merge(part);
  for (int i = 2; i >= 0; --i) backwards.merge(parts[i]);
  const auto trimmed = [](const LatencyHistogram& histogram) {
    auto counts = histogram.counts();
    while (!counts.empty() && counts.back() == 0) counts.pop_back();
    return counts;
  };
  CHECK(trimmed(forwards) == trimmed(whole));
  CHECK(trimmed(backwards) == trimmed(whole));
  whole.clear();
  CHECK(trimmed(whole).empty());
}

}  // namespace
