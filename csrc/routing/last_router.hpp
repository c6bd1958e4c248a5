// The router before the last one of a path, inside the destination's group.
#pragma once

#include <cstdint>
#include <optional>

#include "routing/path_follower.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// The non-minimal path that a packet takes which its source router has just sent on; one that does not exist:
// it goes straight. None where its way is not known there: it follows a prescribed route, or goes by ports.
[[nodiscard]] inline std::optional<Detour> sent_by(const Packet& packet) noexcept {
  if (packet.plan == Plan::kToDetour) {
    return Detour{.kind = packet.detour_kind, .router = packet.detour_router, .group = packet.detour_group};
  }
  if (packet.plan == Plan::kRouted || packet.non_minimal) return std::nullopt;
  return Detour{};
}

// From which router of the destination's group a packet that is at `router` comes to its own, by that
// non-minimal path (or, if there is none, by a shortest path): the one by which it enters the group, or which
// it visits there. That is the destination itself if no local hop is left. With trunking: by the first of the
// links between two groups. On grids: the router behind which only the way between these two is left.
[[nodiscard]] inline std::uint32_t last_router_before(const Dragonfly& topology, std::uint32_t router,
                                                      std::uint32_t destination_router,
                                                      std::uint32_t destination_group,
                                                      const Detour& detour) noexcept {
  const std::uint32_t own = topology.group_of(router);
  std::uint32_t from = own;
  if (detour.exists()) {
    if (detour.group != destination_group) {
      from = detour.group;
    } else if (visits_router(detour.kind) && detour.router != destination_router) {
      return detour.router;
    }
  }
  return from == destination_group ? router : topology.links_between(destination_group, from)->router;
}

}  // namespace dragonfly
