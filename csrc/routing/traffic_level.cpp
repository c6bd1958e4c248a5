#include "routing/traffic_level.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"

namespace dragonfly {

namespace {

// Share of a router in the paper's 5,256 hosts: 200 ns of a global link are 20 packets, which 12 routers
// share.
constexpr double kPaperShare = 5.0 / 3;

// At least 1: a counter of 0 is always benign.
double threshold(double of_paper, double share) noexcept {
  const double above = (of_paper - kPaperShare) * std::sqrt(share / kPaperShare);
  return std::max(1.0, std::floor(share + above));
}

}  // namespace

TrafficThresholds thresholds_of(const ParameterOwner& owner, const Parameters& given, double share_packets) {
  check_thresholds(owner, given);
  const auto low = number_or_network(owner, given, "low_packets");
  const auto high = number_or_network(owner, given, "high_packets");
  const double low_here = threshold(3, share_packets);
  const double high_here = threshold(5, share_packets);
  // A threshold that is given alone moves the other one along.
  return {.low_packets = low.value_or(std::min(low_here, high.value_or(low_here))),
          .high_packets = high.value_or(std::max(high_here, low.value_or(high_here))),
          .saturated_packets = number_or_network(owner, given, "saturated_packets").value_or(high_here)};
}

void check_thresholds(const ParameterOwner& owner, const Parameters& given) {
  const auto low = number_or_network(owner, given, "low_packets");
  const auto high = number_or_network(owner, given, "high_packets");
  if (low && high && *low > *high) {
    throw ConfigError{"low_packets", std::to_string(*low),
                      "must be at most high_packets, " + std::to_string(*high)};
  }
}

std::vector<ParameterInfo> threshold_parameters() {
  const auto row = [](const char* name, const std::string& doc, const char* symbol, const char* values) {
    return ParameterInfo{name, std::string{"network"}, "packets",
                         doc + "; unset: by the router's share of the links to a group, " + values +
                             " with 72, 342, 1,056 and 5,256 hosts. Source: " + symbol +
                             " of LIA, TACO 2025, table 1, for 5,256 hosts",
                         between(0, 1e6)};
  };
  return {row("low_packets",
              "packets of the router in the window below which traffic to a group is benign; at most "
              "high_packets",
              "LI_l", "7, 5, 4 and 3"),
          row("high_packets",
              "packets of the router in the window above which traffic to a group is adverse; between "
              "low_packets and high_packets, traffic is mixed",
              "LI_h", "10, 8, 6 and 5"),
          row("saturated_packets",
              "value of a group's counter above which the router's global links to the group are saturated",
              "GPSTh", "10, 8, 6 and 5")};
}

std::vector<ParameterInfo> bias_parameters() {
  const auto bias = [](const char* name, double packets, const std::string& level) {
    return ParameterInfo{name, packets, "packets",
                         "T of UGAL's comparison where traffic is " + level +
                             ": above 0 favors minimal paths. Source: LIA, TACO 2025, table 1",
                         between(-1e9, 1e9)};
  };
  return {bias("benign_bias_packets", 15, "benign"),
          bias("mixed_bias_packets", -3, "mixed"),
          bias("adverse_bias_packets", -15, "adverse"),
          {"congestion_metric", std::string{"queued"}, "",
           "congestion that the router compares, for the VC that a path would use first: the packets queued "
           "in the router, or the VC's occupancy, which also counts packets whose credits are not back. The "
           "biases suit queued packets: the packets in flight on a loaded global link alone outweigh a bias. "
           "Source: Q of LIA, TACO 2025, equation 1",
           among({"queued", "occupancy"})}};
}

LevelBiases read_biases(const PolicyInfo& info, const Parameters& given) {
  const auto bias = [&](const char* name) { return number_parameter(info, given, name); };
  return {.benign_packets = bias("benign_bias_packets"),
          .mixed_packets = bias("mixed_bias_packets"),
          .adverse_packets = bias("adverse_bias_packets"),
          .metric = choice_parameter(info, given, "congestion_metric") == 0 ? CongestionMetric::kVcQueue
                                                                            : CongestionMetric::kVc};
}

}  // namespace dragonfly
