// Drawing a random detour.
#pragma once

#include <vector>

#include "core/parameter_set.hpp"
#include "routing/route_context.hpp"

namespace dragonfly {

// Hops of the longest path with such a detour, where groups are full meshes.
[[nodiscard]] constexpr std::uint8_t longest_path_hops(DetourKind kind) noexcept {
  switch (kind) {
    case DetourKind::kLgl:
      return 6;
    case DetourKind::kLg:
    case DetourKind::kGl:
      return 5;
    case DetourKind::kG:
    case DetourKind::kL:  // as a minimal path with one more local hop
      break;
  }
  return 4;
}

// Whether a packet that stands in `group` may take such a detour: one to another group as long as it is on a
// minimal path out of its own, one inside a group where it goes from here to its destination or has entered
// the group of its detour.
[[nodiscard]] inline bool may_take(DetourKind kind, const Packet& packet, std::uint32_t group) noexcept {
  const bool leaves = packet.destination_group != group;
  if (kind == DetourKind::kL) return !leaves || !packet.goes_straight();
  return leaves && packet.goes_straight();
}

// A uniformly random detour of this kind for a packet that leaves its group, the next one of
// `random` (see RouteContext::detour_stream):
//   lgl  a router of any group but the present one (and, if asked, the destination's)
//   lg   such a group
//   gl   one of the router's own global links, then a router of the group behind it
//   g    one of the router's own global links
//   l    another router of the present group, not the destination
// Does not exist (`!exists()`) where the topology offers none: two groups with
// `avoid_destination_group`, or a router without a suitable global link.
// Source: LIA (TACO 2025) sections 2.2.1, 2.2.2; Kang et al. (HPDC 2021) section 2.2.
[[nodiscard]] Detour draw_detour(const RouteContext& context, RandomStream& random, DetourKind kind,
                                 bool avoid_destination_group);

// Whether it would exist, which no draw decides.
[[nodiscard]] bool has_detour(const RouteContext& context, DetourKind kind,
                              bool avoid_destination_group) noexcept;

// What every policy with random detours has.
struct DetourParams : ParameterSet {
  using ParameterSet::ParameterSet;
  Flag avoid_destination_group{this,
                               {"avoid_destination_group", std::string{"network"}, "",
                                "whether detours avoid the destination group too, not only the source group; "
                                "unset: as the network says "
                                "(detours_avoid_destination_group)"}};
};
[[nodiscard]] std::vector<ParameterInfo> detour_parameters();

}  // namespace dragonfly
