// Three levels of the router's traffic to the packet's destination group, and UGAL's threshold T at each: TPR
// and LIA.
#pragma once

#include <cstdint>
#include <vector>

#include "routing/ugal_rule.hpp"

namespace dragonfly {

enum class TrafficLevel : std::uint8_t { kBenign, kMixed, kAdverse };

// The thresholds for a counter of traffic to one group.
struct TrafficThresholds {
  double low_packets = 3;        // below it traffic is benign
  double high_packets = 5;       // above it traffic is adverse
  double saturated_packets = 5;  // above it the links to the group count as saturated

  [[nodiscard]] TrafficLevel level_of(double counter) const noexcept {
    if (counter < low_packets) return TrafficLevel::kBenign;
    return counter > high_packets ? TrafficLevel::kAdverse : TrafficLevel::kMixed;
  }
};

// The thresholds given, and of the others those of a network where a router's share of the links to another
// group carries `share_packets` in the window. Throws ConfigError.
//
// Table 1 has LI_l = 3, LI_h = 5 and GPSTh = 5 for 5,256 hosts, where the share is 5/3 packets: a counter
// shows as many under uniform traffic at full load, and minimal paths under adversarial traffic are full when
// it does. Counters of random traffic scatter by the root of what they show. So each threshold lies as many
// standard deviations above the share as for 5,256 hosts, rounded down to whole packets: chance takes the
// same part of uniform traffic above it, and benign traffic fills minimal paths as far, in systems of every
// size.
[[nodiscard]] TrafficThresholds thresholds_of(const ParameterOwner& owner, const Parameters& given,
                                              double share_packets);
// Throws ConfigError if both levels are given in the wrong order.
void check_thresholds(const ParameterOwner& owner, const Parameters& given);
// The rows of LI_l and LI_h, and of GPSTh.
[[nodiscard]] std::vector<ParameterInfo> threshold_parameters();

// T by the level of the traffic. Source: LIA (TACO 2025), sections 2.2.3, 4.1 and table 1.
struct LevelBiases {
  double benign_packets = 15;
  double mixed_packets = -3;
  double adverse_packets = -15;
  CongestionMetric metric = CongestionMetric::kVcQueue;  // the metric to which T is added

  [[nodiscard]] double packets(TrafficLevel level) const noexcept {
    if (level == TrafficLevel::kBenign) return benign_packets;
    return level == TrafficLevel::kAdverse ? adverse_packets : mixed_packets;
  }
};

[[nodiscard]] std::vector<ParameterInfo> bias_parameters();
[[nodiscard]] LevelBiases read_biases(const PolicyInfo& info, const Parameters& given);

}  // namespace dragonfly
