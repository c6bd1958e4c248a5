// The fields of the tracker "offered-traffic", for the policies that read them.
#pragma once

#include <cstdint>

namespace dragonfly {

inline constexpr const char* kOfferedTraffic = "offered-traffic";

enum class Offered : std::uint32_t {
  kOffered,       // of the group so far ahead
  kOfferedThere,  // of the destination group
  kSaturatedLinks,
  kOwnLinks,
  kDemandThere,  // of the destination group, as a share of the capacity of the links to it
  kGroupDemandThere,
  kLevelThere  // of traffic to the destination group, a TrafficLevel
};

}  // namespace dragonfly
