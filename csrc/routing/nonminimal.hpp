// Drawing a random non-minimal path.
#pragma once

#include <algorithm>
#include <vector>

#include "core/parameter_set.hpp"
#include "routing/route_context.hpp"

namespace dragonfly {

// Hops of the longest path with such a non-minimal path, where groups are full meshes.
[[nodiscard]] constexpr std::uint8_t longest_path_hops(NonMinimalKind kind) noexcept {
  switch (kind) {
    case NonMinimalKind::kLgl:
      return 6;
    case NonMinimalKind::kLg:
    case NonMinimalKind::kGl:
      return 5;
    case NonMinimalKind::kG:
    case NonMinimalKind::kL:  // a minimal path with one more local hop
      break;
  }
  return 4;
}

// Whether packets to their own group may pass other groups.
enum class OwnGroup : std::uint8_t { kStays, kMayLeave };

// Whether a packet that is in `group` may take such a non-minimal path: one to another group as long as it is
// on a minimal path out of its own, or is at its source router and `own_group` allows it; one inside a group
// where it goes from here to its destination or has entered the intermediate group.
[[nodiscard]] inline bool may_take(NonMinimalKind kind, const Packet& packet, std::uint32_t group,
                                   OwnGroup own_group = OwnGroup::kStays) noexcept {
  const bool leaves = packet.destination_group != group;
  if (kind == NonMinimalKind::kL) return !leaves || !packet.is_on_minimal_plan();
  return packet.is_on_minimal_plan() && (leaves || (own_group == OwnGroup::kMayLeave && packet.hops == 0));
}

namespace detail {

// Uniform over the groups except the present one and, if `avoid_destination`, the destination's; kNoGroup:
// there is none. Links between groups do not matter.
[[nodiscard]] inline std::uint16_t draw_any_group(const RouteContext& context, RandomStream& random,
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
// Uniform over those that the packet can pass on its way to the destination, and whose routers with hosts are
// not all dead.
[[nodiscard]] std::uint16_t draw_group_around_damage(const RouteContext& context, RandomStream& random,
                                                     bool avoid_destination);
[[nodiscard]] inline std::uint16_t draw_group(const RouteContext& context, RandomStream& random,
                                              bool avoid_destination) {
  return context.topology().is_damaged() ? draw_group_around_damage(context, random, avoid_destination)
                                         : draw_any_group(context, random, avoid_destination);
}
// Uniform over the live routers with hosts of a group that has some, of which some are dead.
[[nodiscard]] std::uint32_t draw_live_router(const Dragonfly& topology, std::uint32_t group,
                                             RandomStream& random);
// Uniform over those behind the router's own global links.
[[nodiscard]] std::uint16_t draw_own_link(const RouteContext& context, RandomStream& random,
                                          bool avoid_destination);
// Uniform over the routers with hosts of the present group except this router and the destination; kNil:
// there is none.
[[nodiscard]] std::uint32_t draw_own_router(const RouteContext& context, RandomStream& random);

}  // namespace detail

// A uniformly random non-minimal path of this kind for a packet that may take one (may_take), the next one of
// `random` (see RouteContext::nonminimal_stream):
//   lgl  a live router with hosts of any group but the present one (and, if set, the destination's)
//   lg   such a group
//   gl   one of the router's own global links, then a router with hosts of the group behind it
//   g    one of the router's own global links
//   l    another router with hosts of the present group, not the destination
// Groups without links to the present group, or to the destination's, are left out.
// Does not exist (`!exists()`) where the topology offers none: two groups with `avoid_destination_group`, or
// a router without a suitable global link.
// Source: LIA (TACO 2025) sections 2.2.1, 2.2.2; Kang et al. (HPDC 2021) section 2.2.
// Inlined everywhere, because returning a non-minimal path from a function costs as much as drawing it.
// Precondition: may_take().
[[nodiscard]] [[gnu::always_inline]] inline NonMinimalPath draw_allowed(const RouteContext& context,
                                                                        RandomStream& random,
                                                                        NonMinimalKind kind,
                                                                        bool avoid_destination_group) {
  NonMinimalPath nonminimal{.kind = kind};
  if (kind == NonMinimalKind::kL) {
    nonminimal.router = detail::draw_own_router(context, random);
    if (nonminimal.router != kNil) nonminimal.group = static_cast<std::uint16_t>(context.group());
    return nonminimal;
  }
  const bool own_link = kind == NonMinimalKind::kGl || kind == NonMinimalKind::kG;
  nonminimal.group = own_link ? detail::draw_own_link(context, random, avoid_destination_group)
                              : detail::draw_group(context, random, avoid_destination_group);
  if (nonminimal.exists() && visits_router(kind)) {
    const Dragonfly& topology = context.topology();
    nonminimal.router = topology.num_dead_routers() > 0
                            ? detail::draw_live_router(topology, nonminimal.group, random)
                            : topology.router_at(nonminimal.group, random.below(topology.host_routers()));
  }
  return nonminimal;
}

// Draws for any packet: the path does not exist (`!exists()`) if the packet may take none.
[[nodiscard]] [[gnu::always_inline]] inline NonMinimalPath draw_nonminimal(
    const RouteContext& context, RandomStream& random, NonMinimalKind kind, bool avoid_destination_group,
    OwnGroup own_group = OwnGroup::kStays) {
  if (!may_take(kind, context.packet(), context.group(), own_group)) return {.kind = kind};
  return draw_allowed(context, random, kind, avoid_destination_group);
}

// Whether it would exist, which no draw decides.
[[nodiscard]] bool has_nonminimal(const RouteContext& context, NonMinimalKind kind,
                                  bool avoid_destination_group,
                                  OwnGroup own_group = OwnGroup::kStays) noexcept;

// Parameters of every policy with random non-minimal paths.
struct NonMinimalParams : ParameterSet {
  using ParameterSet::ParameterSet;
  Flag avoid_destination_group{
      this,
      {"avoid_destination_group", std::string{"network"}, "",
       "whether non-minimal paths avoid the destination group, too, not only the source group; unset: as the "
       "network says (nonminimal_avoid_destination_group)"}};
};
[[nodiscard]] std::vector<ParameterInfo> nonminimal_parameters();

}  // namespace dragonfly
