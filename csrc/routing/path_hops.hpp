// The number of hops of a path, counted from a router to the destination router.
#pragma once

#include <cstdint>

#include "routing/path_follower.hpp"

namespace dragonfly {

// Hops from `router` through `first` and minimally on to `target`, both included, counting from a hop
// out of `router`.
[[nodiscard]] inline std::uint32_t hops_through(const Dragonfly& topology, std::uint32_t router, Port first,
                                                std::uint32_t target) noexcept {
  return 1U + topology.minimal_hops(topology.neighbor(router, first).router, target);
}

// Hops of a non-minimal path from `router`, which it leaves by the port `first`.
[[nodiscard]] inline std::uint32_t nonminimal_hops(const Dragonfly& topology, const Packet& packet,
                                                   const NonMinimalPath& nonminimal, std::uint32_t router,
                                                   Port first) noexcept {
  if (visits_router(nonminimal.kind)) {
    return hops_through(topology, router, first, nonminimal.router) +
           topology.minimal_hops(nonminimal.router, packet.destination_router);
  }
  // Counts hops to the group, wherever the path enters it, then minimally on. With draws: on a path that
  // starts like that.
  std::uint32_t entry = topology.neighbor(router, first).router;
  std::uint32_t hops = 1;
  while (topology.group_of(entry) != nonminimal.group) {
    const std::uint32_t choice = topology.draws_paths() ? 0U : packet.number;
    entry = topology.neighbor(entry, topology.port_towards_group(entry, nonminimal.group, choice)).router;
    ++hops;
  }
  return hops + topology.minimal_hops(entry, packet.destination_router);
}

// Hops of a non-minimal path by another group, from `router` of `group`, where the topology
// has_single_links().
[[nodiscard]] inline std::uint32_t only_nonminimal_hops(const Wiring::LinkEnds& links, const Packet& packet,
                                                        const NonMinimalPath& nonminimal,
                                                        std::uint32_t router, std::uint32_t group) noexcept {
  const auto near_end = [&](std::uint32_t from, std::uint32_t to) { return links(from, to).router; };
  std::uint32_t hops = 1U + (near_end(group, nonminimal.group) != router ? 1U : 0U);
  std::uint32_t at = near_end(nonminimal.group, group);
  if (visits_router(nonminimal.kind)) {
    hops += at != nonminimal.router ? 1U : 0U;
    at = nonminimal.router;
  }
  const std::uint32_t to = packet.destination_group;
  if (to == nonminimal.group) return hops + (at != packet.destination_router ? 1U : 0U);
  return hops + 1U + (near_end(nonminimal.group, to) != at ? 1U : 0U) +
         (near_end(to, nonminimal.group) != packet.destination_router ? 1U : 0U);
}

}  // namespace dragonfly
