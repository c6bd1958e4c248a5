// Drawing a random non-minimal path.
#pragma once

#include <algorithm>
#include <vector>

#include "core/parameter_set.hpp"
#include "routing/route_context.hpp"

namespace dragonfly {

// Hops of the longest path with such a non-minimal path, where groups are full meshes.
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

// Whether packets to their own group may pass other groups.
enum class OwnGroup : std::uint8_t { kStays, kMayLeave };

// Whether a packet that is in `group` may take such a non-minimal path: one to another group as long as it is
// on a minimal path out of its own, or is at its source router and `own_group` allows it; one inside a group
// where it goes from here to its destination or has entered the intermediate group.
[[nodiscard]] inline bool may_take(DetourKind kind, const Packet& packet, std::uint32_t group,
                                   OwnGroup own_group = OwnGroup::kStays) noexcept {
  const bool leaves = packet.destination_group != group;
  if (kind == DetourKind::kL) return !leaves || !packet.goes_straight();
  return packet.goes_straight() && (leaves || (own_group == OwnGroup::kMayLeave && packet.hops == 0));
}

namespace detail {

// Uniform over the groups except the present one and, if `avoid_destination`, the destination's; kNoGroup:
// there is none.
[[nodiscard]] inline std::uint16_t draw_group(const RouteContext& context, RandomStream& random,
                                              bool avoid_destination) {
  const std::uint32_t own = context.group();
  const std::uint32_t destination = context.packet().destination_group;
  if (destination == own) avoid_destination = false;  // it is left out already
  const std::uint32_t excluded = avoid_destination ? 2 : 1;
  const std::uint32_t groups = context.topology().num_groups();
  if (groups <= excluded) return kNoGroup;
  std::uint32_t group = random.below(groups - excluded);
  const std::uint32_t low = avoid_destination ? std::min(own, destination) : own;
  if (group >= low) ++group;
  if (avoid_destination && group >= std::max(own, destination)) ++group;
  return static_cast<std::uint16_t>(group);
}
// Uniform over those behind the router's own global links.
[[nodiscard]] std::uint16_t draw_own_link(const RouteContext& context, RandomStream& random,
                                          bool avoid_destination);
// Uniform over the routers of the present group except this router and the destination; kNil: there is none.
[[nodiscard]] std::uint32_t draw_own_router(const RouteContext& context, RandomStream& random);

}  // namespace detail

// A uniformly random non-minimal path of this kind for a packet that may take one (may_take), the next one of
// `random` (see RouteContext::detour_stream):
//   lgl  a router of any group but the present one (and, if set, the destination's)
//   lg   such a group
//   gl   one of the router's own global links, then a router of the group behind it
//   g    one of the router's own global links
//   l    another router of the present group, not the destination
// Does not exist (`!exists()`) where the topology offers none: two groups with `avoid_destination_group`, or
// a router without a suitable global link.
// Source: LIA (TACO 2025) sections 2.2.1, 2.2.2; Kang et al. (HPDC 2021) section 2.2.
// Defined in the header, because returning a non-minimal path from a function costs as much as drawing it.
[[nodiscard]] inline Detour draw_detour(const RouteContext& context, RandomStream& random, DetourKind kind,
                                        bool avoid_destination_group, OwnGroup own_group = OwnGroup::kStays) {
  Detour detour{.kind = kind};
  if (!may_take(kind, context.packet(), context.group(), own_group)) return detour;
  if (kind == DetourKind::kL) {
    detour.router = detail::draw_own_router(context, random);
    if (detour.router != kNil) detour.group = static_cast<std::uint16_t>(context.group());
    return detour;
  }
  const bool own_link = kind == DetourKind::kGl || kind == DetourKind::kG;
  detour.group = own_link ? detail::draw_own_link(context, random, avoid_destination_group)
                          : detail::draw_group(context, random, avoid_destination_group);
  if (detour.exists() && visits_router(kind)) {
    const std::uint32_t a = context.topology().a();
    detour.router = detour.group * a + random.below(a);
  }
  return detour;
}

// Whether it would exist, which no draw decides.
[[nodiscard]] bool has_detour(const RouteContext& context, DetourKind kind, bool avoid_destination_group,
                              OwnGroup own_group = OwnGroup::kStays) noexcept;

// Parameters of every policy with random non-minimal paths.
struct DetourParams : ParameterSet {
  using ParameterSet::ParameterSet;
  Flag avoid_destination_group{
      this,
      {"avoid_destination_group", std::string{"network"}, "",
       "whether non-minimal paths avoid the destination group too, not only the source group; "
       "unset: as the network says "
       "(detours_avoid_destination_group)"}};
};
[[nodiscard]] std::vector<ParameterInfo> detour_parameters();

}  // namespace dragonfly
