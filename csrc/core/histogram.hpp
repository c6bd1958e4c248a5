// Latency histogram with bounded relative error, exact to merge.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/archive.hpp"

namespace dragonfly {

// Log-linear buckets: values below 2^kBits have a bucket each, above that every octave has 2^kBits buckets.
// A bucket is at most 2^-kBits of its value wide, so its middle is within half of that of every value in it:
// 0.1 % with nine bits. Counts are integers: merging partitions in any order gives the same histogram.
template <std::uint32_t kBits, std::size_t kFirstOctaves>
class LogHistogram {
 public:
  static constexpr std::uint32_t kSubBits = kBits;
  static constexpr std::uint64_t kSubCount = std::uint64_t{1} << kSubBits;

  static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < kSubCount) return static_cast<std::size_t>(value);
    const auto exponent = static_cast<std::uint32_t>(std::bit_width(value)) - kSubBits - 1;
    return static_cast<std::size_t>(exponent * kSubCount + (value >> exponent));
  }

  // The middle of a bucket.
  static constexpr double middle_of(std::size_t bucket) noexcept {
    if (bucket < 2 * kSubCount) return static_cast<double>(bucket);
    const std::uint64_t exponent = bucket / kSubCount - 1;
    const std::uint64_t low = (bucket - exponent * kSubCount) << exponent;
    return static_cast<double>(low) + static_cast<double>((std::uint64_t{1} << exponent) - 1) / 2.0;
  }

  void add(std::uint64_t value) {
    const std::size_t bucket = bucket_of(value);
    if (bucket >= counts_.size()) counts_.resize(bucket + kSubCount, 0);
    ++counts_[bucket];
  }

  void merge(const LogHistogram& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size(), 0);
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

  void clear() { counts_.assign(counts_.size(), 0); }

  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  void archive(Archive& archive) { archive(counts_); }

 private:
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(kSubCount * kFirstOctaves, 0);
};

using LatencyHistogram = LogHistogram<9, 16>;

}  // namespace dragonfly
