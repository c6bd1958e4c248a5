// UGAL's threshold T by how much the router sends to the packet's destination group: TPR and LIA.
#pragma once

#include <vector>

#include "routing/ugal_rule.hpp"

namespace dragonfly {

// Three levels of traffic towards a group: below `low_packets` it is benign, above `high_packets` adverse.
// Source: LIA (TACO 2025), sections 2.2.3, 4.1 and table 1.
struct TrafficLevels {
  double low_packets = 3;
  double high_packets = 5;
  double benign_bias_packets = 15;
  double mixed_bias_packets = -3;
  double adverse_bias_packets = -15;
  Weighed weighed = Weighed::kVcQueue;  // what T is added to

  [[nodiscard]] double bias_packets(double counter) const noexcept {
    if (counter < low_packets) return benign_bias_packets;
    return counter > high_packets ? adverse_bias_packets : mixed_bias_packets;
  }
};

[[nodiscard]] std::vector<ParameterInfo> level_parameters();
[[nodiscard]] TrafficLevels read_levels(const PolicyInfo& info, const Parameters& given);

}  // namespace dragonfly
