// Shortest paths where a group is no full mesh. Each choice is a number below kChoices: scaled by the number
// of possibilities its whole part picks one, and its fraction makes the next choice.
#include <algorithm>

#include "topology/dragonfly.hpp"

namespace dragonfly {

std::uint32_t Dragonfly::shaped_minimal_hops(std::uint32_t router, std::uint32_t from,
                                             std::uint32_t destination, std::uint32_t to) const noexcept {
  if (has_single_links() && are_linked(from, to)) {
    return 1U + (links_between(from, to).front().router != router ? 1U : 0U) +
           (far_routers_between(from, to).front() != destination ? 1U : 0U);
  }
  const LocalPaths& here = local_paths(from);
  const std::uint32_t index = router - from * params_.a;
  const std::uint32_t target = destination - to * params_.a;
  if (from == to) return here.hops(index, target);
  std::uint32_t best = diameter();
  if (is_relayed(from, to)) {
    for (const RelayLink& link : relay_links(from, to)) {
      best = std::min(best, here.hops(index, link.router - from * params_.a) + 1U +
                                shaped_minimal_hops(link.far_router, link.group, destination, to));
    }
    return best;
  }
  const LocalPaths& there = local_paths(to);
  const auto near = links_between(from, to);
  const auto far = far_routers_between(from, to);
  for (std::uint32_t k = 0; k < near.size(); ++k) {
    best = std::min(best, here.hops(index, near[k].router - from * params_.a) + 1U +
                              there.hops(far[k] - to * params_.a, target));
  }
  return best;
}

std::uint32_t Dragonfly::hops_towards_group(std::uint32_t router, std::uint32_t from,
                                            std::uint32_t group) const noexcept {
  std::uint32_t best = diameter();
  for (const Endpoint& near : links_between(from, group)) {
    best = std::min(best, local_paths(from).hops(router - from * params_.a, near.router - from * params_.a));
  }
  return best;
}

NextHop Dragonfly::shaped_local_path(std::uint32_t group, std::uint32_t from_index, std::uint32_t to_index,
                                     std::uint32_t choice) const noexcept {
  const LocalPaths& paths = local_paths(group);
  const auto slots = paths.slots(from_index, to_index);
  const std::size_t pick = choice * slots.size() / kChoices;
  const std::uint32_t after = paths.hops(from_index, to_index);
  const std::uint32_t position = longest_local().vcs > 1 ? longest_local().vcs - after : 0;
  return {static_cast<Port>(params_.p + slots[pick]), static_cast<std::uint8_t>(position)};
}

// The place of one of the links that have the least cost, all alike. Scales `choice` to its rest.
template <class Cost>
std::uint32_t Dragonfly::cheapest(std::size_t links, std::uint32_t& choice, Cost cost) noexcept {
  if (links == 1) {
    choice %= kChoices;
    return 0;
  }
  std::uint32_t least = cost(0);
  std::uint32_t count = 1;
  for (std::uint32_t k = 1; k < links; ++k) {
    const std::uint32_t other = cost(k);
    if (other > least) continue;
    count = other < least ? 1 : count + 1;
    least = other;
  }
  const std::uint32_t scaled = (choice % kChoices) * count;
  choice = scaled % kChoices;
  std::uint32_t pick = scaled / kChoices;
  std::uint32_t k = 0;
  while (cost(k) != least || pick-- != 0) ++k;
  return k;
}

// Leads over one of the links at `near` that have the least cost, all alike.
template <class Link, class Cost>
NextHop Dragonfly::through_cheapest(std::span<const Link> near, std::uint32_t index, std::uint32_t group,
                                    std::uint32_t choice, Cost cost) const noexcept {
  const Link& link = near[cheapest(near.size(), choice, cost)];
  const std::uint32_t gateway = link.router - group * params_.a;
  if (gateway == index) return {link.port, 0};
  return shaped_local_path(group, index, gateway, choice);
}

// Among the shortest paths those that leave the group soonest. The next router is one hop nearer to that
// link, and no link that it may choose is farther away: so local hops get ever lower distances, and positions
// rise.
NextHop Dragonfly::shaped_minimal_path(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                       std::uint32_t to, std::uint32_t choice) const noexcept {
  if (has_single_links()) {
    const Port port = only_port(router, from, destination, to);
    if (port != kNoPort) return {port, 0};
  }
  const std::uint32_t first = from * params_.a;
  const std::uint32_t index = router - first;
  const std::uint32_t target = destination - to * params_.a;
  if (from == to) return shaped_local_path(from, index, target, choice % kChoices);
  const LocalPaths& here = local_paths(from);
  if (is_relayed(from, to)) {
    const auto near = relay_links(from, to);
    return through_cheapest(near, index, from, choice, relay_cost(near, index, from, destination, to));
  }
  const LocalPaths& there = local_paths(to);
  const auto near = links_between(from, to);
  const auto far = far_routers_between(from, to);
  return through_cheapest(near, index, from, choice, [&](std::uint32_t k) {
    const std::uint32_t before = here.hops(index, near[k].router - first);
    return (before + there.hops(far[k] - to * params_.a, target)) << 8 | before;
  });
}

NextHop Dragonfly::shaped_path_towards_group(std::uint32_t router, std::uint32_t from, std::uint32_t group,
                                             std::uint32_t choice) const noexcept {
  if (has_single_links()) {
    const Port port = only_port_out(router, group);
    if (port != kNoPort) return {port, 0};
  }
  const std::uint32_t first = from * params_.a;
  const std::uint32_t index = router - first;
  const LocalPaths& here = local_paths(from);
  if (is_relayed(from, group)) {
    const auto near = relay_links(from, group);
    return through_cheapest(near, index, from, choice, [&](std::uint32_t k) {
      const std::uint32_t before = here.hops(index, near[k].router - first);
      return (before + hops_towards_group(near[k].far_router, near[k].group, group)) << 8 | before;
    });
  }
  const auto near = links_between(from, group);
  return through_cheapest(near, index, from, choice,
                          [&](std::uint32_t k) { return here.hops(index, near[k].router - first); });
}

Dragonfly::Relay Dragonfly::relay_between(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                          std::uint32_t to, std::uint32_t choice) const noexcept {
  const auto near = relay_links(from, to);
  const std::uint32_t index = router - from * params_.a;
  const std::uint32_t link = cheapest(near.size(), choice, relay_cost(near, index, from, destination, to));
  return {near[link].group, choice};
}

Dragonfly::Gateway Dragonfly::any_gateway(std::uint32_t from, std::uint32_t to,
                                          std::uint32_t choice) const noexcept {
  const auto near = links_between(from, to);
  const std::uint32_t choices = num_choices();
  const std::uint32_t scaled = (choice % choices) * static_cast<std::uint32_t>(near.size());
  return {near[scaled / choices].router, scaled % choices};
}

std::uint32_t Dragonfly::hops_by_gateway(std::uint32_t router, std::uint32_t from, std::uint32_t gateway,
                                         std::uint32_t destination, std::uint32_t to) const noexcept {
  const auto near = links_between(from, to);
  const auto far = far_routers_between(from, to);
  std::uint32_t behind = local_path_hops();
  for (std::uint32_t k = 0; k < near.size(); ++k) {
    if (near[k].router == gateway) behind = std::min(behind, hops_behind(far[k], destination, to));
  }
  const std::uint32_t first = from * params_.a;
  return local_hops(from, router - first, gateway - first) + 1 + behind;
}

NextHop Dragonfly::path_by_gateway(std::uint32_t router, std::uint32_t from, std::uint32_t gateway,
                                   std::uint32_t destination, std::uint32_t to,
                                   std::uint32_t choice) const noexcept {
  const std::uint32_t first = from * params_.a;
  if (router != gateway) {
    if (has_meshes()) return {local_port_between(router, gateway, from), 0};
    return shaped_local_path(from, router - first, gateway - first, choice % kChoices);
  }
  const auto near = links_between(from, to);
  const auto far = far_routers_between(from, to);
  return through_cheapest(near, router - first, from, choice, [&](std::uint32_t k) {
    return near[k].router == gateway ? hops_behind(far[k], destination, to) : ~0U;
  });
}

}  // namespace dragonfly
