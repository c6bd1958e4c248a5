#include "topology/dragonfly.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace dragonfly {
namespace {

constexpr std::uint64_t kMaxHosts = (std::uint64_t{1} << 31) - 1;  // ids fit FastDivisor
constexpr std::uint64_t kMaxLinks = std::uint64_t{1} << 27;        // tables stay below 4 GiB

std::string range(std::uint64_t low, std::uint64_t high) {
  return "must lie in [" + std::to_string(low) + ", " + std::to_string(high) + "]";
}

void require(bool condition, const char* field, std::uint64_t value, const std::string& allowed) {
  if (!condition) throw ConfigError{field, std::to_string(value), allowed};
}

std::uint32_t local_ports(const DragonflyParams& params) {
  return params.shape != nullptr ? params.shape->ports() : params.a - 1;
}

// Checks what was asked for and fills in the numbers of routers and groups.
DragonflyParams validated(DragonflyParams params) {
  if (params.shape != nullptr) params.a = params.shape->routers();
  const std::uint64_t p = params.p;
  const std::uint64_t a = params.a;
  const std::uint64_t h = params.h;
  const std::uint64_t trunking = params.trunking;
  require(p >= 1 && p <= kMaxRadix, "p", p, range(1, kMaxRadix));
  require(a >= 1 && a <= kMaxRadix, "a", a, range(1, kMaxRadix));
  require(h <= kMaxRadix, "h", h, range(0, kMaxRadix));
  const std::uint64_t between = local_ports(params) + h;
  require(p + between <= kMaxRadix,
          params.shape == nullptr ? "radix (p + a - 1 + h)" : "radix (hosts, local and global ports)",
          p + between, range(1, kMaxRadix));

  const std::uint64_t positions = a * h;
  require(trunking >= 1 && trunking <= std::max<std::uint64_t>(1, positions), "trunking", trunking,
          range(1, std::max<std::uint64_t>(1, positions)) + " (a*h)");
  const std::uint64_t most_groups = positions / trunking + 1;
  const std::uint64_t groups = params.g == 0 ? most_groups : params.g;
  if (groups > 1) require(h >= 1, "h", h, "must be at least 1 when there is more than one group");
  require(groups <= most_groups, "g", groups, range(1, most_groups) + " (a*h/trunking + 1 groups at most)");

  // No product below overflows: groups <= 2^20 + 1 and the other factors are at most 2^10. The table
  // of gateways needs no check of its own: g*g*trunking <= g*(a*h + trunking) <= 2*a*g*h.
  const std::uint64_t routers = groups * a;
  require(routers * p <= kMaxHosts, "num_hosts (p*a*g)", routers * p, range(1, kMaxHosts));
  require(routers * between <= kMaxLinks, "number of links (a*g*(local + global ports))", routers * between,
          range(0, kMaxLinks));
  params.g = static_cast<std::uint32_t>(groups);
  return params;
}

}  // namespace

Dragonfly::Dragonfly(const DragonflyParams& params)
    : params_{validated(params)},
      first_global_{params_.p + local_ports(params_)},
      ways_{params_.shape != nullptr ? std::make_unique<const LocalWays>(*params_.shape) : nullptr},
      routers_per_group_{params_.a},
      hosts_per_router_{params_.p} {
  if (ways_ != nullptr) local_way_hops_ = std::max(1U, ways_->diameter());
  name_link_classes();
  connect_groups();
}

bool Dragonfly::wired_like(const Dragonfly& other) const noexcept {
  const bool same_groups =
      ways_ == nullptr || other.ways_ == nullptr ? ways_ == other.ways_ : *ways_ == *other.ways_;
  return params_.p == other.params_.p && params_.a == other.params_.a && same_groups &&
         port_classes_ == other.port_classes_ && bundled_ == other.bundled_ &&
         global_links_ == other.global_links_;
}

void Dragonfly::name_link_classes() {
  class_names_.emplace_back("host");
  bundled_.push_back(1);
  port_classes_.assign(params_.p, LinkClass::kHost);
  const auto add = [this](const LocalLinks& links) {
    port_classes_.insert(port_classes_.end(), links.ports, static_cast<LinkClass>(class_names_.size()));
    class_names_.push_back(links.name);
    bundled_.push_back(links.bundled);
  };
  const GroupShape* const shape = params_.shape.get();
  if (shape == nullptr) {
    add({"local", params_.a - 1, 1});
  } else {
    for (const LocalLinks& links : shape->links()) add(links);
  }
  add({shape == nullptr ? "global" : shape->global_class(), params_.h, bundle_of(params_.arrangement)});
  if (class_names_.size() > kMostLinkClasses) {
    throw ConfigError{"group", std::to_string(class_names_.size()) + " classes of links",
                      "at most " + std::to_string(kMostLinkClasses)};
  }
}

void Dragonfly::connect_groups() {
  const std::uint32_t g = params_.g;
  const std::uint32_t a = params_.a;
  const std::uint32_t trunking = params_.trunking;
  const std::uint32_t slots = a * params_.h / trunking;
  const std::size_t pairs = static_cast<std::size_t>(g) * g * trunking;
  const bool with_far_routers = trunking > 1 || !has_meshes();
  global_links_.resize(static_cast<std::size_t>(num_routers()) * params_.h);
  gateways_.resize(pairs);
  if (with_far_routers) far_routers_.resize(pairs, Id<void>::kNoneValue);

  const bool deals = deals_routers(params_.arrangement);
  const auto endpoint = [&](const GlobalEnd& end) {
    if (deals) {  // a port of each router in turn
      const std::uint32_t turn = end.slot * trunking + end.slice;
      const std::uint32_t index = params_.shape != nullptr ? params_.shape->dealt(turn % a) : turn % a;
      return Endpoint{end.group * a + index, static_cast<Port>(first_global_port() + turn / a)};
    }
    const std::uint32_t position = end.slice * slots + end.slot;
    const std::uint32_t index = position / params_.h;
    return Endpoint{end.group * a + index,
                    static_cast<Port>(first_global_port() + position - index * params_.h)};
  };
  for (std::uint32_t group = 0; group < g; ++group) {
    for (std::uint32_t slice = 0; slice < trunking; ++slice) {
      for (std::uint32_t slot = 0; slot + 1 < g; ++slot) {
        const GlobalEnd near{group, slot, slice};
        const GlobalEnd far = far_end(params_.arrangement, near, g, trunking);
        const Endpoint here = endpoint(near);
        const Endpoint there = endpoint(far);
        const std::size_t link = (static_cast<std::size_t>(group) * g + far.group) * trunking + slice;
        global_links_[static_cast<std::size_t>(here.router) * params_.h + here.port - first_global_port()] =
            there;
        gateways_[link] = here;
        if (with_far_routers) far_routers_[link] = there.router;
      }
    }
  }
}

std::vector<Port> Dragonfly::minimal_ports(std::uint32_t router, std::uint32_t destination) const {
  std::vector<Port> ports;
  if (router == destination) return ports;
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
  const Endpoint* near = links_between(from, to);
  const std::uint32_t* far = far_routers_between(from, to);
  std::uint32_t best = 3;
  for (std::uint32_t k = 0; k < params_.trunking; ++k) {
    best = std::min(best, 1U + (near[k].router != router ? 1U : 0U) + (far[k] != destination ? 1U : 0U));
  }
  return best;
}

// A link counts as equally short whether its local hop comes before or after the global one. A step
// along a shortest link leaves that link one hop shorter and no other can be shorter still (it would
// have been a shorter path before the step), so the distance falls by exactly one.
Port Dragonfly::trunked_minimal_port(std::uint32_t router, std::uint32_t from, std::uint32_t destination,
                                     std::uint32_t to, std::uint32_t choice) const noexcept {
  const Endpoint* near = links_between(from, to);
  const std::uint32_t* far = far_routers_between(from, to);
  const auto hops = [&](std::uint32_t k) {
    return 1U + (near[k].router != router ? 1U : 0U) + (far[k] != destination ? 1U : 0U);
  };
  std::uint32_t best = 3;
  for (std::uint32_t k = 0; k < params_.trunking; ++k) best = std::min(best, hops(k));
  // Of equally short links those of the router itself, if there are any: only they never need a second
  // local hop in this group.
  const bool own =
      best < 3 &&
      std::any_of(near, near + params_.trunking, [&](const Endpoint& end) { return end.router == router; });
  const auto eligible = [&](std::uint32_t k) {
    return hops(k) == best && (!own || near[k].router == router);
  };
  std::uint32_t count = 0;
  std::uint32_t near_rank = router - from * params_.a;
  std::uint32_t far_rank = destination - to * params_.a;
  for (std::uint32_t k = 0; k < params_.trunking; ++k) {
    count += eligible(k) ? 1U : 0U;
    near_rank -= near[k].router < router ? 1U : 0U;
    far_rank -= far[k] < destination ? 1U : 0U;
  }
  // Ranks among the routers without a link of their own: every link then carries the same number of
  // (router, destination) pairs, give or take one.
  std::uint32_t pick = (near_rank + far_rank + choice) % count;
  std::uint32_t k = 0;
  while (!eligible(k) || pick-- != 0) ++k;
  return port_towards(near[k], router, from);
}

Port Dragonfly::trunked_port_towards_group(std::uint32_t router, std::uint32_t from, std::uint32_t group,
                                           std::uint32_t choice) const noexcept {
  const Endpoint* near = links_between(from, group);
  const auto own = static_cast<std::uint32_t>(std::count_if(
      near, near + params_.trunking, [&](const Endpoint& end) { return end.router == router; }));
  if (own == 0) return port_towards(near[choice % params_.trunking], router, from);
  std::uint32_t pick = choice % own;
  std::uint32_t k = 0;
  while (near[k].router != router || pick-- != 0) ++k;
  return near[k].port;
}

}  // namespace dragonfly
