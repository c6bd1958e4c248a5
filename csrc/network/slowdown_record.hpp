// Slowdowns and reordering of closed-loop messages by size: one record per job and partition, merged exactly.
//
// A message's slowdown is its latency over its time in an idle network by a minimal path
// (network/zero_load_message.hpp). Messages of 2^k to 2^(k+1) - 1 packets are class k.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/histogram.hpp"

namespace dragonfly {

struct SlowdownRecord {
  static constexpr std::uint64_t kUnit = 256;  // a slowdown of 1 in the histogram
  using Histogram = LogHistogram<8, 0>;

  struct SizeClass {
    std::uint64_t messages = 0;  // complete
    std::uint64_t packets = 0;   // arrived
    std::uint64_t late = 0;      // arrived after a later packet of their message
    std::uint32_t farthest =
        0;                  // the largest distance of a late packet to the last one before it, in packets
    Histogram slowdowns{};  // in units of 1 / kUnit
    void archive(Archive& archive) { archive(messages, packets, late, farthest, slowdowns); }
  };

  // Precondition: packets > 0.
  [[nodiscard]] SizeClass& of(std::uint32_t packets) {
    const auto size = static_cast<std::size_t>(std::bit_width(packets));
    if (size > classes.size()) classes.resize(size);
    return classes[size - 1];
  }
  void merge(const SlowdownRecord& other) {
    classes.resize(std::max(classes.size(), other.classes.size()));
    for (std::size_t i = 0; i < other.classes.size(); ++i) {
      classes[i].messages += other.classes[i].messages;
      classes[i].packets += other.classes[i].packets;
      classes[i].late += other.classes[i].late;
      classes[i].farthest = std::max(classes[i].farthest, other.classes[i].farthest);
      classes[i].slowdowns.merge(other.classes[i].slowdowns);
    }
  }
  void archive(Archive& archive) { archive(classes); }

  std::vector<SizeClass> classes{};  // [k]
};

}  // namespace dragonfly
