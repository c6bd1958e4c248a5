// A Dragonfly: its wiring, and the shortest paths through it.
//
// Distances and first hops are arithmetic where groups are full meshes, here; all other shapes read the
// tables of local_paths.hpp (shaped_paths.cpp). Source: Kim et al., "Technology-driven, highly-scalable
// Dragonfly topology", ISCA 2008.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/wiring.hpp"

namespace dragonfly {

// The next hop of a shortest path.
struct NextHop {
  Port port = kNoPort;
  // Place of a local hop on the path through the group, counted so that the last one is always
  // longest_local().vcs - 1: it rises with every hop, unless the shape needs one VC alone.
  std::uint8_t position = 0;
};

class Dragonfly : public Wiring {
 public:
  explicit Dragonfly(const DragonflyParams& params) : Wiring{params} {}  // throws ConfigError
  // The machine with these links dead, too. Throws ConfigError.
  [[nodiscard]] Dragonfly without(const std::vector<Endpoint>& links) const {
    DragonflyParams params = params_;
    params.damage.links.insert(params.damage.links.end(), links.begin(), links.end());
    return Dragonfly{params};
  }
  // The machine as one state of a run in which links change; `longest`: of all states.
  [[nodiscard]] Dragonfly with_changes(const LocalHops& longest) const {
    Dragonfly state = *this;
    state.set_changing(longest);
    return state;
  }

  // Hops from router to router on a shortest path that uses at most one global link: 0 to diameter().
  [[nodiscard]] std::uint32_t minimal_hops(std::uint32_t router, std::uint32_t destination) const noexcept {
    const std::uint32_t from = group_of(router);
    const std::uint32_t to = group_of(destination);
    if (!has_meshes()) return shaped_minimal_hops(router, from, destination, to);
    if (from == to) return router == destination ? 0U : 1U;
    if (params_.trunking != 1) return trunked_minimal_hops(router, from, destination, to);
    return 1U + (links_between(from, to).front().router != router ? 1U : 0U) +
           (links_between(to, from).front().router != destination ? 1U : 0U);
  }

  // Whether there is one shortest path between any two routers, with at most one hop in each group.
  [[nodiscard]] bool has_single_paths() const noexcept { return has_meshes() && params_.trunking == 1; }
  // The first port of the shortest path; kNoPort: no link joins the groups. Precondition: as for
  // minimal_path(), and has_single_links().
  [[nodiscard]] Port only_port(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                               std::uint32_t to) const noexcept {
    return from == to ? local_port_between(router, destination, from) : only_port_out(router, to);
  }
  // The port to any router of another group; kNoPort: no link joins the groups.
  [[nodiscard]] Port only_port_out(std::uint32_t router, std::uint32_t to) const noexcept {
    return port_out(router, to);
  }

  // The range of `choice`, which selects among several shortest paths.
  [[nodiscard]] std::uint32_t num_choices() const noexcept {
    return has_meshes() ? params_.trunking : kChoices;
  }
  // Whether such a choice is drawn anew at every hop.
  [[nodiscard]] bool draws_paths() const noexcept { return !has_meshes(); }
  // Whether one shortest path leads from any router of a group to the link to another group, or to any router
  // of its own: choices make no difference. Precondition: draws_paths().
  [[nodiscard]] bool has_single_paths_between(std::uint32_t from, std::uint32_t to) const noexcept {
    return local_paths(from).are_single() && (from == to || links_between(from, to).size() == 1);
  }

  // The first hop of a minimal path; router != destination. Every step it names brings the destination
  // exactly one hop closer, and no local hop behind another one in the same group has a lower position.
  // Meshes: where trunking offers several equally short paths, the router's own links come first, and ranks
  // spread the rest evenly; `choice` shifts the pick. Other shapes: of the links between the groups that are
  // on a shortest path, those nearest to the router, all alike; then of the shortest local paths to that link
  // all alike.
  [[nodiscard]] NextHop minimal_path(std::uint32_t router, std::uint32_t destination,
                                     std::uint32_t choice = 0) const noexcept {
    return minimal_path(router, group_of(router), destination, group_of(destination), choice);
  }
  // The first hop if the groups of the two are given: `from` and `to`.
  [[nodiscard]] NextHop minimal_path(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                     std::uint32_t to, std::uint32_t choice) const noexcept {
    assert(router != destination && from == group_of(router) && to == group_of(destination));
    if (!has_meshes()) return shaped_minimal_path(router, from, destination, to, choice);
    if (from == to) return {local_port_between(router, destination, from), 0};
    if (params_.trunking != 1) return {trunked_minimal_port(router, from, destination, to, choice), 0};
    return {port_towards(links_between(from, to).front(), router, from), 0};
  }
  [[nodiscard]] Port minimal_port(std::uint32_t router, std::uint32_t destination,
                                  std::uint32_t choice = 0) const noexcept {
    return minimal_path(router, destination, choice).port;
  }
  // The relay on a shortest path to a router of another group: `choice` picks one of all. `rest`: the rest of
  // the choice, for the path to the relay. Precondition: is_relayed(from, to).
  struct Relay {
    std::uint32_t group = 0;
    std::uint32_t rest = 0;
  };
  [[nodiscard]] Relay relay_between(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                    std::uint32_t to, std::uint32_t choice) const noexcept;
  // All ports on a shortest path, ascending: more than minimal_path() names where it leaves the group
  // soonest.
  [[nodiscard]] std::vector<Port> minimal_ports(std::uint32_t router, std::uint32_t destination) const;

  // The first hop of a shortest path into another group (any router of it): by one of the nearest links to
  // it. Several: `choice` picks. Precondition: the router is not in `group`.
  [[nodiscard]] NextHop path_towards_group(std::uint32_t router, std::uint32_t group,
                                           std::uint32_t choice = 0) const noexcept {
    return path_towards_group(router, group_of(router), group, choice);
  }
  // The first hop if the router's own group is given: `from`.
  [[nodiscard]] NextHop path_towards_group(std::uint32_t router, std::uint32_t from, std::uint32_t group,
                                           std::uint32_t choice) const noexcept {
    assert(from == group_of(router) && from != group);
    if (!has_meshes()) return shaped_path_towards_group(router, from, group, choice);
    if (params_.trunking != 1) return {trunked_port_towards_group(router, from, group, choice), 0};
    return {port_towards(links_between(from, group).front(), router, from), 0};
  }
  // Any gateway from group `from` to group `to`, all links between them alike: no path by it has more than
  // diameter() hops. Precondition, for the following functions too: trunking() > 1. `rest`: the rest of the
  // choice, for the path to the gateway.
  struct Gateway {
    std::uint32_t router = 0;
    std::uint32_t rest = 0;
  };
  [[nodiscard]] Gateway any_gateway(std::uint32_t from, std::uint32_t to,
                                    std::uint32_t choice) const noexcept;
  // The first hop of the shortest path by this gateway of the router's own group, by links of its own; and
  // the hops of the whole path. Precondition: the gateway has such a link, and the router is not in the
  // destination's group.
  [[nodiscard]] NextHop path_by_gateway(std::uint32_t router, std::uint32_t from, std::uint32_t gateway,
                                        std::uint32_t destination, std::uint32_t to,
                                        std::uint32_t choice) const noexcept;
  [[nodiscard]] std::uint32_t hops_by_gateway(std::uint32_t router, std::uint32_t from, std::uint32_t gateway,
                                              std::uint32_t destination, std::uint32_t to) const noexcept;
  [[nodiscard]] Port port_towards_group(std::uint32_t router, std::uint32_t group,
                                        std::uint32_t choice = 0) const noexcept {
    return path_towards_group(router, group, choice).port;
  }

 private:
  [[nodiscard]] std::uint32_t trunked_minimal_hops(std::uint32_t router, std::uint32_t from,
                                                   std::uint32_t destination,
                                                   std::uint32_t to) const noexcept;
  [[nodiscard]] Port trunked_minimal_port(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                          std::uint32_t to, std::uint32_t choice) const noexcept;
  [[nodiscard]] Port trunked_port_towards_group(std::uint32_t router, std::uint32_t from, std::uint32_t group,
                                                std::uint32_t choice) const noexcept;
  static constexpr std::uint32_t kChoices = 1U << 16;

  [[nodiscard]] std::uint32_t shaped_minimal_hops(std::uint32_t router, std::uint32_t from,
                                                  std::uint32_t destination, std::uint32_t to) const noexcept;
  [[nodiscard]] NextHop shaped_minimal_path(std::uint32_t router, std::uint32_t from,
                                            std::uint32_t destination, std::uint32_t to,
                                            std::uint32_t choice) const noexcept;
  [[nodiscard]] NextHop shaped_path_towards_group(std::uint32_t router, std::uint32_t from,
                                                  std::uint32_t group, std::uint32_t choice) const noexcept;
  [[nodiscard]] NextHop shaped_local_path(std::uint32_t group, std::uint32_t from_index,
                                          std::uint32_t to_index, std::uint32_t choice) const noexcept;
  // Hops inside a group.
  [[nodiscard]] std::uint32_t local_hops(std::uint32_t group, std::uint32_t from_index,
                                         std::uint32_t to_index) const noexcept {
    if (has_meshes()) return from_index == to_index ? 0U : 1U;
    return local_paths(group).hops(from_index, to_index);
  }
  // Local hops to the nearest link to another group.
  [[nodiscard]] std::uint32_t hops_towards_group(std::uint32_t router, std::uint32_t from,
                                                 std::uint32_t group) const noexcept;
  // The length of a path by each of the links to relays, then its hops in the router's group.
  [[nodiscard]] auto relay_cost(std::span<const RelayLink> near, std::uint32_t index, std::uint32_t from,
                                std::uint32_t destination, std::uint32_t to) const noexcept {
    return [this, near, index, from, destination, to](std::uint32_t k) {
      const std::uint32_t before = local_paths(from).hops(index, near[k].router - from * params_.a);
      return (before + shaped_minimal_hops(near[k].far_router, near[k].group, destination, to)) << 8 | before;
    };
  }
  [[nodiscard]] std::uint32_t hops_behind(std::uint32_t far_router, std::uint32_t destination,
                                          std::uint32_t to) const noexcept {
    return local_hops(to, far_router - to * params_.a, destination - to * params_.a);
  }
  template <class Cost>
  [[nodiscard]] static std::uint32_t cheapest(std::size_t links, std::uint32_t& choice, Cost cost) noexcept;
  template <class Link, class Cost>
  [[nodiscard]] NextHop through_cheapest(std::span<const Link> near, std::uint32_t index, std::uint32_t group,
                                         std::uint32_t choice, Cost cost) const noexcept;
};

}  // namespace dragonfly
