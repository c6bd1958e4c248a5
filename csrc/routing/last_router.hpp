// The router before the last one of a path, inside the destination's group.
#pragma once

#include <cstdint>
#include <optional>

#include "routing/path_follower.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// The non-minimal path of a packet that its source router has just sent; a path that does not exist: the
// packet goes minimally. None if the source router does not fix the path: on prescribed routes, or with
// ports.
[[nodiscard]] inline std::optional<NonMinimalPath> sent_by(const Packet& packet) noexcept {
  if (packet.plan == Plan::kToIntermediate) {
    return NonMinimalPath{.kind = packet.nonminimal_kind,
                          .router = packet.intermediate_router,
                          .group = packet.intermediate_group};
  }
  if (packet.plan == Plan::kRouted || packet.non_minimal) return std::nullopt;
  return NonMinimalPath{};
}

// The router of the destination's group from which a packet at `router` comes to its destination router, by
// that non-minimal path (or, if there is none, by a shortest path): the router by which it enters the group,
// or which it visits there. Equal to the destination if no local hop is left. With trunking: by the first of
// the links between two groups. On grids: the router behind which only the path between these two is left.
// Equal to the destination, too, if no link joins the groups: the relay is not drawn yet.
[[nodiscard]] inline std::uint32_t last_router_before(const Dragonfly& topology, std::uint32_t router,
                                                      std::uint32_t destination_router,
                                                      std::uint32_t destination_group,
                                                      const NonMinimalPath& nonminimal) noexcept {
  const std::uint32_t own = topology.group_of(router);
  std::uint32_t from = own;
  if (nonminimal.exists()) {
    if (nonminimal.group != destination_group) {
      from = nonminimal.group;
    } else if (visits_router(nonminimal.kind) && nonminimal.router != destination_router) {
      return nonminimal.router;
    }
  }
  if (from == destination_group) return router;
  const auto links = topology.links_between(destination_group, from);
  return links.empty() ? destination_router : links.front().router;
}

}  // namespace dragonfly
