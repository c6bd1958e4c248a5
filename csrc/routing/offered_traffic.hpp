// The fields of the tracker "offered-traffic", for the policies that read them.
#pragma once

#include <cstdint>

namespace dragonfly {

inline constexpr const char* kOfferedTraffic = "offered-traffic";

enum class Offered : std::uint32_t {
  kOffered,       // packets to the group so far ahead
  kOfferedThere,  // packets to the destination group
  kSaturatedLinks,
  kOwnLinks,
  kDemandThere,  // packets to the destination group, as a share of the capacity of the links to it
  kGroupDemandThere,
  kLevelThere,  // TrafficLevel of the traffic to the destination group
  kGroupDemandThereDelayed
};

}  // namespace dragonfly
