#include "topology/dragonfly.hpp"

#include <algorithm>

namespace dragonfly {

std::vector<Port> Dragonfly::minimal_ports(std::uint32_t router, std::uint32_t destination) const {
  std::vector<Port> ports;
  if (router == destination || !is_alive(router) || !is_alive(destination)) return ports;
  if (has_meshes() && params_.trunking == 1) return {minimal_port(router, destination)};
  const std::uint32_t hops = minimal_hops(router, destination);
  for (Port port = first_local_port(); port < radix(); ++port) {
    const Endpoint next = neighbor(router, port);
    if (next.port != kNoPort && minimal_hops(next.router, destination) + 1 == hops) ports.push_back(port);
  }
  return ports;
}

std::uint32_t Dragonfly::trunked_minimal_hops(std::uint32_t router, std::uint32_t from,
                                              std::uint32_t destination, std::uint32_t to) const noexcept {
  const auto near = links_between(from, to);
  const auto far = far_routers_between(from, to);
  std::uint32_t best = 3;
  for (std::uint32_t k = 0; k < near.size(); ++k) {
    best = std::min(best, 1U + (near[k].router != router ? 1U : 0U) + (far[k] != destination ? 1U : 0U));
  }
  return best;
}

// A link counts as equally short whether its local hop comes before or after the global one. A step along a
// shortest link leaves that link one hop shorter and no other can be shorter still (that link would have been
// a shorter path before the step), so the distance falls by exactly one.
Port Dragonfly::trunked_minimal_port(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                     std::uint32_t to, std::uint32_t choice) const noexcept {
  const auto near = links_between(from, to);
  const auto far = far_routers_between(from, to);
  const auto hops = [&](std::uint32_t k) {
    return 1U + (near[k].router != router ? 1U : 0U) + (far[k] != destination ? 1U : 0U);
  };
  std::uint32_t best = 3;
  for (std::uint32_t k = 0; k < near.size(); ++k) best = std::min(best, hops(k));
  // Among equally short links those of the router itself, if there are any: only they never need a second
  // local hop in this group.
  const bool own =
      best < 3 && std::ranges::any_of(near, [&](const Endpoint& end) { return end.router == router; });
  const auto eligible = [&](std::uint32_t k) {
    return hops(k) == best && (!own || near[k].router == router);
  };
  std::uint32_t count = 0;
  std::uint32_t near_rank = router - from * params_.a;
  std::uint32_t far_rank = destination - to * params_.a;
  for (std::uint32_t k = 0; k < near.size(); ++k) {
    count += eligible(k) ? 1U : 0U;
    near_rank -= near[k].router < router ? 1U : 0U;
    far_rank -= far[k] < destination ? 1U : 0U;
  }
  // Ranks among the routers without a link of their own: every link then carries the same number of (router,
  // destination) pairs, or one more.
  std::uint32_t pick = (near_rank + far_rank + choice) % count;
  std::uint32_t k = 0;
  while (!eligible(k) || pick-- != 0) ++k;
  return port_towards(near[k], router, from);
}

Port Dragonfly::trunked_port_towards_group(std::uint32_t router, std::uint32_t from, std::uint32_t group,
                                           std::uint32_t choice) const noexcept {
  const auto near = links_between(from, group);
  const auto own = static_cast<std::uint32_t>(
      std::ranges::count_if(near, [&](const Endpoint& end) { return end.router == router; }));
  if (own == 0) return port_towards(near[choice % near.size()], router, from);
  std::uint32_t pick = choice % own;
  std::uint32_t k = 0;
  while (near[k].router != router || pick-- != 0) ++k;
  return near[k].port;
}

}  // namespace dragonfly
