#include "routing/traffic_level.hpp"

#include "core/error.hpp"

namespace dragonfly {

std::vector<ParameterInfo> level_parameters() {
  return {{"low_packets", 3.0, "packets",
           "LI_l: traffic towards a group is benign below so many packets of the router in the window"},
          {"high_packets", 5.0, "packets", "LI_h: and adverse above so many; in between it is mixed"},
          {"benign_bias_packets", 15.0, "packets", "T of UGAL's comparison where traffic is benign"},
          {"mixed_bias_packets", -3.0, "packets", "T where it is mixed"},
          {"adverse_bias_packets", -15.0, "packets", "T where it is adverse"}};
}

TrafficLevels read_levels(const PolicyInfo& info, const Parameters& given) {
  const auto threshold = [&](const char* name) { return real_parameter(info, given, name, 0, 1e6); };
  const TrafficLevels levels{.low_packets = threshold("low_packets"),
                             .high_packets = threshold("high_packets"),
                             .benign_bias_packets = number_parameter(info, given, "benign_bias_packets"),
                             .mixed_bias_packets = number_parameter(info, given, "mixed_bias_packets"),
                             .adverse_bias_packets = number_parameter(info, given, "adverse_bias_packets")};
  if (levels.low_packets > levels.high_packets) {
    throw ConfigError{"low_packets", std::to_string(levels.low_packets),
                      "must be at most high_packets, " + std::to_string(levels.high_packets)};
  }
  return levels;
}

}  // namespace dragonfly
