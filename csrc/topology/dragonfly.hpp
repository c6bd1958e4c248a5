// The wiring: groups of routers of some shape, all-to-all between groups.
//
// Numbering. Router r = group * a + local index; host = router * p + slot. Ports of a router: 0..p-1 hosts,
// then the local ones in the order of the group's shape, then h global ones. Global port position q = local
// index * h + j of a group (0 <= q < a*h). Groups that are full meshes, the canonical Dragonfly, take no
// tables: their distances and ports are arithmetic, here; all other shapes read those of local_ways.hpp
// (shaped_ways.cpp). Source: Kim et al., "Technology-driven, highly-scalable Dragonfly topology", ISCA 2008.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/fast_divisor.hpp"
#include "core/ids.hpp"
#include "topology/arrangement.hpp"
#include "topology/group_shape.hpp"
#include "topology/local_ways.hpp"

namespace dragonfly {

// The largest number of ports of a router, and so of p, a and h.
inline constexpr std::uint32_t kMaxRadix = 1024;

struct DragonflyParams {
  std::uint32_t p = 4;  // hosts per router
  std::uint32_t a = 8;  // routers per group; of a shape: its own number of routers, whatever stands here
  std::uint32_t h = 4;  // global ports per router
  std::uint32_t g = 0;  // groups; 0 = a*h/trunking + 1
  std::uint32_t trunking = 1;  // global ports that join a pair of groups
  Arrangement arrangement = Arrangement::kPalmtree;
  std::shared_ptr<const GroupShape> shape = nullptr;  // null: a full mesh
};

// A router and one of its ports; port == kNoPort means "nothing is connected there".
struct Endpoint {
  std::uint32_t router = Id<void>::kNoneValue;
  Port port = kNoPort;
  bool operator==(const Endpoint&) const = default;
};

// The next hop of a shortest way.
struct WayStep {
  Port port = kNoPort;
  // Of a local hop, its place on the way through the group, counted so that the last one is always
  // local_way_hops() - 1: it rises with every hop.
  std::uint8_t position = 0;
};

class Dragonfly {
 public:
  explicit Dragonfly(const DragonflyParams& params);  // throws ConfigError

  [[nodiscard]] std::uint32_t p() const noexcept { return params_.p; }
  [[nodiscard]] std::uint32_t a() const noexcept { return params_.a; }
  [[nodiscard]] std::uint32_t h() const noexcept { return params_.h; }
  [[nodiscard]] std::uint32_t g() const noexcept { return params_.g; }
  [[nodiscard]] std::uint32_t trunking() const noexcept { return params_.trunking; }
  [[nodiscard]] Arrangement arrangement() const noexcept { return params_.arrangement; }

  // Whether every port leads to the same place in both.
  [[nodiscard]] bool wired_like(const Dragonfly& other) const noexcept;

  [[nodiscard]] std::uint32_t num_groups() const noexcept { return params_.g; }
  [[nodiscard]] std::uint32_t num_routers() const noexcept { return params_.g * params_.a; }
  [[nodiscard]] std::uint32_t num_hosts() const noexcept { return num_routers() * params_.p; }
  [[nodiscard]] std::uint32_t radix() const noexcept { return first_global_ + params_.h; }
  [[nodiscard]] std::uint32_t hosts_per_group() const noexcept { return params_.a * params_.p; }
  [[nodiscard]] std::uint32_t num_local_ports() const noexcept { return first_global_ - params_.p; }
  [[nodiscard]] Port first_local_port() const noexcept { return static_cast<Port>(params_.p); }
  [[nodiscard]] Port first_global_port() const noexcept { return static_cast<Port>(first_global_); }
  [[nodiscard]] bool is_global(Port port) const noexcept { return port >= first_global_; }

  // Hops of the longest shortest way between two routers of a group, and between any two with at most one
  // global link.
  [[nodiscard]] std::uint32_t local_way_hops() const noexcept { return local_way_hops_; }
  [[nodiscard]] std::uint32_t diameter() const noexcept { return 2 * local_way_hops_ + 1; }
  // Whether any two routers of a group are joined by one link.
  [[nodiscard]] bool has_meshes() const noexcept { return ways_ == nullptr; }

  [[nodiscard]] std::size_t num_link_classes() const noexcept { return class_names_.size(); }
  [[nodiscard]] const std::string& class_name(LinkClass link) const noexcept {
    return class_names_[index_of(link)];
  }
  // Parallel links that a port of the class stands for.
  [[nodiscard]] std::uint32_t bundled(LinkClass link) const noexcept { return bundled_[index_of(link)]; }
  [[nodiscard]] LinkClass global_class() const noexcept {
    return static_cast<LinkClass>(class_names_.size() - 1);
  }
  [[nodiscard]] LinkClass port_class(Port port) const noexcept { return port_classes_[port]; }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t router) const noexcept {
    return routers_per_group_.divide(router);
  }
  [[nodiscard]] std::uint32_t local_index_of(std::uint32_t router) const noexcept {
    return router - group_of(router) * params_.a;
  }
  [[nodiscard]] std::uint32_t router_of_host(std::uint32_t host) const noexcept {
    return hosts_per_router_.divide(host);
  }
  [[nodiscard]] Port host_port(std::uint32_t host) const noexcept {
    return static_cast<Port>(host - router_of_host(host) * params_.p);
  }

  // The port of `router` that leads to another router of its group. Precondition: has_meshes().
  [[nodiscard]] Port local_port(std::uint32_t from_index, std::uint32_t to_index) const noexcept {
    return static_cast<Port>(params_.p + to_index - (to_index > from_index ? 1U : 0U));
  }

  // The far end of a local or global port; {none, kNoPort} where no link is connected.
  // Precondition: p <= port < radix (host ports have no router behind them).
  [[nodiscard]] Endpoint neighbor(std::uint32_t router, Port port) const noexcept {
    assert(port >= first_local_port() && port < radix());
    if (port >= first_global_port()) return far_end_of(router, port);
    const std::uint32_t first = group_of(router) * params_.a;
    const std::uint32_t own = router - first;
    const std::uint32_t slot = port - params_.p;
    if (!has_meshes()) {
      const LocalEnd far = ways_->across({own, slot});
      return {first + far.index, static_cast<Port>(params_.p + far.slot)};
    }
    const std::uint32_t peer = slot + (slot >= own ? 1U : 0U);
    return {first + peer, local_port(peer, own)};
  }

  // The group behind a global port, or Id::kNoneValue where no link is connected.
  // Precondition: the port is a global one.
  [[nodiscard]] std::uint32_t group_behind(std::uint32_t router, Port port) const noexcept {
    const Endpoint far = far_end_of(router, port);
    return far.port == kNoPort ? Id<void>::kNoneValue : group_of(far.router);
  }

  // The position q of a global port within its group, 0 <= q < a*h. Precondition: the port is a global one.
  [[nodiscard]] std::uint32_t global_position(std::uint32_t router, Port port) const noexcept {
    return local_index_of(router) * params_.h + (port - first_global_port());
  }

  // The `trunking` links from group `from` to group `to` (from != to): the near ends, in slice order.
  [[nodiscard]] const Endpoint* links_between(std::uint32_t from, std::uint32_t to) const noexcept {
    return &gateways_[(static_cast<std::size_t>(from) * params_.g + to) * params_.trunking];
  }

  // Hops from router to router on a shortest path that uses at most one global link: 0 to diameter().
  [[nodiscard]] std::uint32_t minimal_hops(std::uint32_t router, std::uint32_t destination) const noexcept {
    const std::uint32_t from = group_of(router);
    const std::uint32_t to = group_of(destination);
    if (!has_meshes()) return shaped_minimal_hops(router, from, destination, to);
    if (from == to) return router == destination ? 0U : 1U;
    if (params_.trunking != 1) return trunked_minimal_hops(router, from, destination, to);
    return 1U + (links_between(from, to)->router != router ? 1U : 0U) +
           (links_between(to, from)->router != destination ? 1U : 0U);
  }

  // What `choice` is taken from where there are several shortest ways.
  [[nodiscard]] std::uint32_t num_choices() const noexcept {
    return has_meshes() ? params_.trunking : kChoices;
  }
  // Whether such a choice is drawn anew at every hop.
  [[nodiscard]] bool draws_ways() const noexcept { return !has_meshes(); }

  // The first hop of a minimal path; router != destination. Every step it names brings the destination
  // exactly one hop closer, and no local hop behind another one in the same group has a lower position.
  // Meshes: where trunking offers several equally short paths, the router's own links come first, and ranks
  // spread the rest evenly; `choice` shifts the pick. Other shapes: of the links between the groups that are
  // on a shortest path, those nearest to the router, all alike; then of the shortest local ways to that link
  // all alike.
  [[nodiscard]] WayStep minimal_way(std::uint32_t router, std::uint32_t destination,
                                    std::uint32_t choice = 0) const noexcept {
    return minimal_way(router, group_of(router), destination, group_of(destination), choice);
  }
  // The same where the groups of the two are known: `from` and `to`.
  [[nodiscard]] WayStep minimal_way(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                    std::uint32_t to, std::uint32_t choice) const noexcept {
    assert(router != destination && from == group_of(router) && to == group_of(destination));
    if (!has_meshes()) return shaped_minimal_way(router, from, destination, to, choice);
    if (from == to) return {local_port_between(router, destination, from), 0};
    if (params_.trunking != 1) return {trunked_minimal_port(router, from, destination, to, choice), 0};
    return {port_towards(*links_between(from, to), router, from), 0};
  }
  [[nodiscard]] Port minimal_port(std::uint32_t router, std::uint32_t destination,
                                  std::uint32_t choice = 0) const noexcept {
    return minimal_way(router, destination, choice).port;
  }
  // All ports on a shortest path, ascending: more than minimal_way() names where it leaves the group soonest.
  [[nodiscard]] std::vector<Port> minimal_ports(std::uint32_t router, std::uint32_t destination) const;

  // The first hop of a shortest path into another group (any router of it): by one of the nearest links to
  // it. Several: `choice` picks. Precondition: the router is not in `group`.
  [[nodiscard]] WayStep way_towards_group(std::uint32_t router, std::uint32_t group,
                                          std::uint32_t choice = 0) const noexcept {
    return way_towards_group(router, group_of(router), group, choice);
  }
  // The same where the router's own group is known: `from`.
  [[nodiscard]] WayStep way_towards_group(std::uint32_t router, std::uint32_t from, std::uint32_t group,
                                          std::uint32_t choice) const noexcept {
    assert(from == group_of(router) && from != group);
    if (!has_meshes()) return shaped_way_towards_group(router, from, group, choice);
    if (params_.trunking != 1) return {trunked_port_towards_group(router, from, group, choice), 0};
    return {port_towards(*links_between(from, group), router, from), 0};
  }
  [[nodiscard]] Port port_towards_group(std::uint32_t router, std::uint32_t group,
                                        std::uint32_t choice = 0) const noexcept {
    return way_towards_group(router, group, choice).port;
  }

 private:
  [[nodiscard]] Endpoint far_end_of(std::uint32_t router, Port global_port) const noexcept {
    assert(global_port >= first_global_port() && global_port < radix());
    return global_links_[static_cast<std::size_t>(router) * params_.h + global_port - first_global_port()];
  }

  // The local port from one router of `group` to another.
  [[nodiscard]] Port local_port_between(std::uint32_t from, std::uint32_t to,
                                        std::uint32_t group) const noexcept {
    return static_cast<Port>(params_.p + (to - group * params_.a) - (to > from ? 1U : 0U));
  }

  // From `router` of `group` to the near end of a global link of this group, then through it.
  [[nodiscard]] Port port_towards(const Endpoint& near_end, std::uint32_t router,
                                  std::uint32_t group) const noexcept {
    return near_end.router == router ? near_end.port : local_port_between(router, near_end.router, group);
  }

  // The routers behind the links between two groups, in slice order; not for meshes without trunking.
  [[nodiscard]] const std::uint32_t* far_routers_between(std::uint32_t from,
                                                         std::uint32_t to) const noexcept {
    return &far_routers_[(static_cast<std::size_t>(from) * params_.g + to) * params_.trunking];
  }

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
  [[nodiscard]] WayStep shaped_minimal_way(std::uint32_t router, std::uint32_t from,
                                           std::uint32_t destination, std::uint32_t to,
                                           std::uint32_t choice) const noexcept;
  [[nodiscard]] WayStep shaped_way_towards_group(std::uint32_t router, std::uint32_t from,
                                                 std::uint32_t group, std::uint32_t choice) const noexcept;
  [[nodiscard]] WayStep shaped_local_way(std::uint32_t from_index, std::uint32_t to_index,
                                         std::uint32_t choice) const noexcept;
  template <class Eligible>
  [[nodiscard]] WayStep through_one_of(const Endpoint* near, std::uint32_t index, std::uint32_t first_router,
                                       std::uint32_t choice, Eligible eligible) const noexcept;
  void name_link_classes();
  void connect_groups();

  DragonflyParams params_;
  std::uint32_t first_global_;
  std::uint32_t local_way_hops_ = 1;
  std::unique_ptr<const LocalWays> ways_;  // null: meshes
  std::vector<std::string> class_names_;   // [link class]
  std::vector<std::uint32_t> bundled_;
  std::vector<LinkClass> port_classes_;  // [port]
  FastDivisor routers_per_group_;
  FastDivisor hosts_per_router_;
  std::vector<Endpoint> global_links_;      // [router * h + j]: far end
  std::vector<Endpoint> gateways_;          // [(from * g + to) * trunking + slice]: near end
  std::vector<std::uint32_t> far_routers_;  // the same links: far router; empty for meshes without trunking
};

}  // namespace dragonfly
