// The local hops of a path behind its first group, and its last one wherever that is, by type.
#pragma once

#include <array>
#include <cstdint>

#include "routing/last_router.hpp"
#include "routing/path_follower.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// The type of a local link is how many routers ahead in its group it leads, modulo the size of the group; 0:
// there is no such hop. With trunking: by the first of the links between two groups. On grids: the difference
// of the two routers, for every path between them.
struct RemoteHops {
  std::array<std::uint32_t, 2> between{};  // types of the hops in the intermediate group
  std::uint32_t last = 0;                  // type of the hop to the destination router
};

// The hops of a packet at `router`, by that non-minimal path or, if there is none, by a shortest path.
[[nodiscard]] inline RemoteHops remote_hops(const Dragonfly& topology, std::uint32_t router,
                                            std::uint32_t destination_router, std::uint32_t destination_group,
                                            const NonMinimalPath& nonminimal) noexcept {
  RemoteHops hops;
  const std::uint32_t own = topology.group_of(router);
  if (nonminimal.exists() && nonminimal.kind != NonMinimalKind::kL && nonminimal.group != own) {
    std::uint32_t at = topology.links_between(nonminimal.group, own).front().router;
    // A visit to the destination itself is the last hop.
    if (visits_router(nonminimal.kind) && nonminimal.router != destination_router) {
      hops.between[0] = topology.places_ahead(at, nonminimal.router);
      at = nonminimal.router;
    }
    if (nonminimal.group != destination_group) {
      hops.between[1] = topology.places_ahead(
          at, topology.links_between(nonminimal.group, destination_group).front().router);
    }
  }
  const std::uint32_t last_router =
      last_router_before(topology, router, destination_router, destination_group, nonminimal);
  hops.last = topology.places_ahead(last_router, destination_router);
  return hops;
}

}  // namespace dragonfly
