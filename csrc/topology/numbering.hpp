// The numbers of a Dragonfly: counts, meanings of indices, and the classes of its ports.
//
// Router r = group * a + local index. The routers with hosts have p hosts each, numbered in the order of the
// routers. Ports of a router: 0..p-1 hosts, then the local ones in the order of the group's shape, then h
// global ones. The shape says which routers of a group have hosts, and which have global links; the ports of
// the other routers stay dark. Global port position q = index among the routers with global links * h + j.
//
// All other code calls these functions to turn a host into a router, a router into a group, or a place in a
// group into a router: a shape of a group may then number its hosts and links as it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/fast_divisor.hpp"
#include "core/ids.hpp"
#include "topology/arrangement.hpp"
#include "topology/group_shape.hpp"

namespace dragonfly {

// The largest number of ports of a router, and so of p, a and h.
inline constexpr std::uint32_t kMaxRadix = 1024;

// A router and one of its ports; port == kNoPort means "nothing is connected there".
struct Endpoint {
  std::uint32_t router = Id<void>::kNoneValue;
  Port port = kNoPort;
  bool operator==(const Endpoint&) const = default;
};

// Links and routers that do not work. A dead router has dead links, and its hosts neither send nor receive.
struct Damage {
  std::vector<Endpoint> links;  // one end of each is enough
  std::vector<std::uint32_t> routers;
  [[nodiscard]] bool none() const noexcept { return links.empty() && routers.empty(); }
};

// An end of a link that carries a share of its rate, above 0 and below 1.
struct DegradedEnd {
  Endpoint end;
  double rate = 1.0;
};

// A link between two groups, at the global ports `place` of two routers, counted from 0.
struct ListedLink {
  struct End {
    std::uint32_t group = 0;
    std::uint32_t index = 0;  // the router's in its group
    std::uint32_t place = 0;
  };
  End near;
  End far;
};

struct DragonflyParams {
  std::uint32_t p = 4;         // hosts per router
  std::uint32_t a = 8;         // routers per group; a shape has its own number of routers instead
  std::uint32_t h = 4;         // global ports per router
  std::uint32_t g = 0;         // groups; 0: as many as the global ports of a group reach
  std::uint32_t trunking = 1;  // global ports that join a pair of groups
  Arrangement arrangement = Arrangement::kPalmtree;
  std::shared_ptr<const GroupShape> shape = nullptr;  // null: a full mesh
  Damage damage{};
  std::vector<DegradedEnd> degraded{};  // both ends of each link
  // All links between groups, in place of an arrangement and its trunking; empty: as these say. Then `g` is
  // given, and `trunking` becomes the most links that join a pair of groups.
  std::vector<ListedLink> listed{};
};

// The classes of links of a router's ports.
struct LinkClasses {
  std::vector<std::string> names;      // [link class]
  std::vector<std::uint32_t> bundled;  // [link class]: parallel links behind one port
  std::vector<LinkClass> of_ports;     // [port]
};

class Numbering {
 public:
  [[nodiscard]] std::uint32_t p() const noexcept { return params_.p; }
  [[nodiscard]] std::uint32_t a() const noexcept { return params_.a; }
  [[nodiscard]] std::uint32_t h() const noexcept { return params_.h; }
  [[nodiscard]] std::uint32_t g() const noexcept { return params_.g; }
  [[nodiscard]] std::uint32_t trunking() const noexcept { return params_.trunking; }
  [[nodiscard]] Arrangement arrangement() const noexcept { return params_.arrangement; }

  // Both ends of each link that carries a share of its rate. Shortest paths take no notice.
  [[nodiscard]] const std::vector<DegradedEnd>& degraded() const noexcept { return params_.degraded; }

  // Whether groups are built as full meshes; links of them may be dead.
  [[nodiscard]] bool is_all_to_all() const noexcept { return params_.shape == nullptr; }

  [[nodiscard]] std::uint32_t num_groups() const noexcept { return params_.g; }
  [[nodiscard]] std::uint32_t num_routers() const noexcept { return params_.g * params_.a; }
  [[nodiscard]] std::uint32_t num_hosts() const noexcept { return params_.g * hosts_per_group(); }
  [[nodiscard]] std::uint32_t radix() const noexcept { return first_global_ + params_.h; }
  [[nodiscard]] std::uint32_t hosts_per_group() const noexcept { return host_routers_ * params_.p; }
  // Routers of a group that have hosts: the first so many.
  [[nodiscard]] std::uint32_t host_routers() const noexcept { return host_routers_; }
  // Routers of a group that have global links: from first_global_router() on.
  [[nodiscard]] std::uint32_t global_routers() const noexcept { return params_.a - first_global_router_; }
  [[nodiscard]] std::uint32_t first_global_router() const noexcept { return first_global_router_; }
  // Whether the routers with hosts have global links, too.
  [[nodiscard]] bool hosts_meet_global_links() const noexcept { return first_global_router_ == 0; }
  // Global ports of a group, connected or not.
  [[nodiscard]] std::uint32_t global_positions() const noexcept { return global_routers() * params_.h; }
  // Ports of a router that lead to other routers.
  [[nodiscard]] std::uint32_t num_network_ports() const noexcept { return radix() - params_.p; }
  [[nodiscard]] std::uint32_t num_local_ports() const noexcept { return first_global_ - params_.p; }
  [[nodiscard]] Port first_local_port() const noexcept { return static_cast<Port>(params_.p); }
  [[nodiscard]] Port first_global_port() const noexcept { return static_cast<Port>(first_global_); }
  [[nodiscard]] bool is_global(Port port) const noexcept { return port >= first_global_; }

  [[nodiscard]] std::size_t num_link_classes() const noexcept { return classes_.names.size(); }
  [[nodiscard]] const std::string& class_name(LinkClass link) const noexcept {
    return classes_.names[index_of(link)];
  }
  // Parallel links of a port of the class.
  [[nodiscard]] std::uint32_t bundled(LinkClass link) const noexcept {
    return classes_.bundled[index_of(link)];
  }
  [[nodiscard]] LinkClass global_class() const noexcept {
    return static_cast<LinkClass>(classes_.names.size() - 1);
  }
  [[nodiscard]] LinkClass port_class(Port port) const noexcept { return classes_.of_ports[port]; }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t router) const noexcept {
    return routers_per_group_.divide(router);
  }
  [[nodiscard]] std::uint32_t local_index_of(std::uint32_t router) const noexcept {
    return router - group_of(router) * params_.a;
  }
  [[nodiscard]] std::uint32_t first_router(std::uint32_t group) const noexcept { return group * params_.a; }
  [[nodiscard]] std::uint32_t router_at(std::uint32_t group, std::uint32_t index) const noexcept {
    return first_router(group) + index;
  }
  // The number of places from the router `from` on to the router `to` of its group, counted round the group.
  [[nodiscard]] std::uint32_t places_ahead(std::uint32_t from, std::uint32_t to) const noexcept {
    return to >= from ? to - from : to + params_.a - from;
  }

  [[nodiscard]] bool has_hosts(std::uint32_t router) const noexcept {
    return all_have_hosts() || local_index_of(router) < host_routers_;
  }
  // The host at port 0. Precondition: has_hosts(router), or the router is one past the last.
  [[nodiscard]] std::uint32_t first_host(std::uint32_t router) const noexcept {
    const std::uint32_t without = all_have_hosts() ? 0 : group_of(router) * (params_.a - host_routers_);
    return (router - without) * params_.p;
  }
  [[nodiscard]] std::uint32_t router_of_host(std::uint32_t host) const noexcept {
    const std::uint32_t place = hosts_per_router_.divide(host);  // among the routers with hosts
    if (all_have_hosts()) return place;
    return place + host_routers_per_group_.divide(place) * (params_.a - host_routers_);
  }
  [[nodiscard]] std::uint32_t group_of_host(std::uint32_t host) const noexcept {
    return group_of(router_of_host(host));
  }
  [[nodiscard]] Port host_port(std::uint32_t host) const noexcept {
    return static_cast<Port>(host - hosts_per_router_.divide(host) * params_.p);
  }

 protected:
  explicit Numbering(const DragonflyParams& params);  // throws ConfigError

  DragonflyParams params_;  // all of them set

 private:
  [[nodiscard]] bool all_have_hosts() const noexcept { return host_routers_ == params_.a; }

  std::uint32_t first_global_;
  std::uint32_t host_routers_;
  std::uint32_t first_global_router_;
  LinkClasses classes_;
  FastDivisor routers_per_group_;
  FastDivisor hosts_per_router_;
  FastDivisor host_routers_per_group_;
};

}  // namespace dragonfly
