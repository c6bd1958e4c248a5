// The canonical Dragonfly: groups of routers, all-to-all inside a group and between groups.
//
// Numbering. Router r = group * a + local index; host = router * p + slot. Ports of a router:
// 0..p-1 hosts, p..p+a-2 local (port p+s leads to local index s, or s+1 from s = own index on),
// p+a-1..radix-1 global. Global port position q = local index * h + j of a group (0 <= q < a*h).
// Source: Kim et al., "Technology-driven, highly-scalable Dragonfly topology", ISCA 2008.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fast_divisor.hpp"
#include "core/ids.hpp"
#include "topology/arrangement.hpp"

namespace dragonfly {

// The largest number of ports of a router, and so of p, a and h.
inline constexpr std::uint32_t kMaxRadix = 1024;

struct DragonflyParams {
  std::uint32_t p = 4;         // hosts per router
  std::uint32_t a = 8;         // routers per group
  std::uint32_t h = 4;         // global ports per router
  std::uint32_t g = 0;         // groups; 0 = a*h/trunking + 1
  std::uint32_t trunking = 1;  // links per pair of groups
  Arrangement arrangement = Arrangement::kPalmtree;
};

// A router and one of its ports; port == kNoPort means "nothing is connected there".
struct Endpoint {
  std::uint32_t router = Id<void>::kNoneValue;
  Port port = kNoPort;
  bool operator==(const Endpoint&) const = default;
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

  [[nodiscard]] std::uint32_t num_groups() const noexcept { return params_.g; }
  [[nodiscard]] std::uint32_t num_routers() const noexcept { return params_.g * params_.a; }
  [[nodiscard]] std::uint32_t num_hosts() const noexcept { return num_routers() * params_.p; }
  [[nodiscard]] std::uint32_t radix() const noexcept { return params_.p + params_.a - 1 + params_.h; }
  [[nodiscard]] std::uint32_t hosts_per_group() const noexcept { return params_.a * params_.p; }
  [[nodiscard]] Port first_local_port() const noexcept { return static_cast<Port>(params_.p); }
  [[nodiscard]] Port first_global_port() const noexcept {
    return static_cast<Port>(params_.p + params_.a - 1);
  }

  [[nodiscard]] LinkClass port_class(Port port) const noexcept {
    return port < first_local_port()    ? LinkClass::kHost
           : port < first_global_port() ? LinkClass::kLocal
                                        : LinkClass::kGlobal;
  }
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

  // The port of `router` that leads to another router of its group.
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

  // Hops from router to router on a shortest path that uses at most one global link: 0 to 3.
  [[nodiscard]] std::uint32_t minimal_hops(std::uint32_t router, std::uint32_t destination) const noexcept {
    const std::uint32_t from = group_of(router);
    const std::uint32_t to = group_of(destination);
    if (from == to) return router == destination ? 0U : 1U;
    if (params_.trunking != 1) return trunked_minimal_hops(router, from, destination, to);
    return 1U + (links_between(from, to)->router != router ? 1U : 0U) +
           (links_between(to, from)->router != destination ? 1U : 0U);
  }

  // The first port of a minimal path; router != destination. Where trunking offers several equally
  // short ones, the router's own come first, and ranks spread the rest evenly; `choice` shifts the pick.
  // Every step it names brings the destination exactly one hop closer.
  [[nodiscard]] Port minimal_port(std::uint32_t router, std::uint32_t destination,
                                  std::uint32_t choice = 0) const noexcept {
    assert(router != destination);
    const std::uint32_t from = group_of(router);
    const std::uint32_t to = group_of(destination);
    if (from == to) return local_port_between(router, destination, from);
    if (params_.trunking != 1) return trunked_minimal_port(router, from, destination, to, choice);
    return port_towards(*links_between(from, to), router, from);
  }

  // The first port of a path of at most local-global hops into another group (any router of it).
  // With trunking `choice` picks one of the router's own links to that group, or, if it has none,
  // one of all links. Precondition: the router is not in `group`.
  [[nodiscard]] Port port_towards_group(std::uint32_t router, std::uint32_t group,
                                        std::uint32_t choice = 0) const noexcept {
    const std::uint32_t from = group_of(router);
    assert(from != group);
    if (params_.trunking != 1) return trunked_port_towards_group(router, from, group, choice);
    return port_towards(*links_between(from, group), router, from);
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

  // The router behind slice `slice` of the links between two groups; only with trunking.
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
  void connect_groups();

  DragonflyParams params_;
  FastDivisor routers_per_group_;
  FastDivisor hosts_per_router_;
  std::vector<Endpoint> global_links_;      // [router * h + j]: far end
  std::vector<Endpoint> gateways_;          // [(from * g + to) * trunking + slice]: near end
  std::vector<std::uint32_t> far_routers_;  // the same links: far router; empty without trunking
};

}  // namespace dragonfly
