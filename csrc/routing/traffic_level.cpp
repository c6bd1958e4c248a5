#include "routing/traffic_level.hpp"

#include <string>

#include "core/error.hpp"

namespace dragonfly {

std::vector<ParameterInfo> level_parameters() {
  const auto threshold = [](const char* name, double packets, const char* doc) {
    return ParameterInfo{name, packets, "packets", doc, between(0, 1e6)};
  };
  const auto bias = [](const char* name, double packets, const std::string& level) {
    return ParameterInfo{name, packets, "packets",
                         "T of UGAL's comparison where traffic is " + level +
                             ": above 0 favours minimal paths. Source: LIA, TACO 2025, table 1",
                         between(-1e9, 1e9)};
  };
  return {
      threshold(
          "low_packets", 3,
          "traffic towards a group is benign below so many packets of the router in the window; at most "
          "high_packets. Source: LI_l of LIA, TACO 2025, table 1"),
      threshold("high_packets", 5,
                "and adverse above so many; in between it is mixed. Source: LI_h of LIA, TACO 2025, table 1"),
      bias("benign_bias_packets", 15, "benign"),
      bias("mixed_bias_packets", -3, "mixed"),
      bias("adverse_bias_packets", -15, "adverse"),
      {"weighed", std::string{"queued"}, "",
       "what the two paths are compared by: the packets queued in the router for the VC that a path would "
       "use first, "
       "or its occupancy, which counts those that were sent and whose credit is not back, too. T fits the "
       "first: "
       "what is in flight on a loaded global link alone outweighs it. Source: Q of LIA, TACO 2025, equation "
       "1",
       among({"queued", "occupancy"})}};
}

TrafficLevels read_levels(const PolicyInfo& info, const Parameters& given) {
  const auto threshold = [&](const char* name) { return number_parameter(info, given, name); };
  const TrafficLevels levels{
      .low_packets = threshold("low_packets"),
      .high_packets = threshold("high_packets"),
      .benign_bias_packets = number_parameter(info, given, "benign_bias_packets"),
      .mixed_bias_packets = number_parameter(info, given, "mixed_bias_packets"),
      .adverse_bias_packets = number_parameter(info, given, "adverse_bias_packets"),
      .weighed = choice_parameter(info, given, "weighed") == 0 ? Weighed::kVcQueue : Weighed::kVc};
  if (levels.low_packets > levels.high_packets) {
    throw ConfigError{"low_packets", std::to_string(levels.low_packets),
                      "must be at most high_packets, " + std::to_string(levels.high_packets)};
  }
  return levels;
}

}  // namespace dragonfly
