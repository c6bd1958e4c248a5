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

// Checks what was asked for and fills in the default number of groups.
DragonflyParams validated(DragonflyParams params) {
  const std::uint64_t p = params.p;
  const std::uint64_t a = params.a;
  const std::uint64_t h = params.h;
  const std::uint64_t trunking = params.trunking;
  require(p >= 1 && p <= kMaxRadix, "p", p, range(1, kMaxRadix));
  require(a >= 1 && a <= kMaxRadix, "a", a, range(1, kMaxRadix));
  require(h <= kMaxRadix, "h", h, range(0, kMaxRadix));
  const std::uint64_t radix = p + a - 1 + h;
  require(radix <= kMaxRadix, "radix (p + a - 1 + h)", radix, range(1, kMaxRadix));

  const std::uint64_t positions = a * h;
  require(trunking >= 1 && trunking <= std::max<std::uint64_t>(1, positions) && positions % trunking == 0,
          "trunking", trunking, "must be at least 1 and divide a*h = " + std::to_string(positions));
  const std::uint64_t most_groups = positions / trunking + 1;
  const std::uint64_t groups = params.g == 0 ? most_groups : params.g;
  if (groups > 1) require(h >= 1, "h", h, "must be at least 1 when there is more than one group");
  require(groups <= most_groups, "g", groups, range(1, most_groups) + " (a*h/trunking + 1 groups at most)");

  // No product below overflows: groups <= 2^20 + 1 and the other factors are at most 2^10. The table
  // of gateways needs no check of its own: g*g*trunking <= g*(a*h + trunking) <= 2*a*g*h.
  const std::uint64_t routers = groups * a;
  require(routers * p <= kMaxHosts, "num_hosts (p*a*g)", routers * p, range(1, kMaxHosts));
  require(routers * (a - 1 + h) <= kMaxLinks, "number of links (a*g*(a - 1 + h))", routers * (a - 1 + h),
          range(0, kMaxLinks));
  params.g = static_cast<std::uint32_t>(groups);
  return params;
}

}  // namespace

Dragonfly::Dragonfly(const DragonflyParams& params)
    : params_{validated(params)}, routers_per_group_{params_.a}, hosts_per_router_{params_.p} {
  connect_groups();
}

void Dragonfly::connect_groups() {
  const std::uint32_t g = params_.g;
  const std::uint32_t trunking = params_.trunking;
  const std::uint32_t slots = params_.a * params_.h / trunking;
  const std::size_t pairs = static_cast<std::size_t>(g) * g * trunking;
  global_links_.resize(static_cast<std::size_t>(num_routers()) * params_.h);
  gateways_.resize(pairs);
  if (trunking > 1) far_routers_.resize(pairs, Id<void>::kNoneValue);

  const auto endpoint = [&](const GlobalEnd& end) {
    const std::uint32_t position = end.slice * slots + end.slot;
    const std::uint32_t index = position / params_.h;
    return Endpoint{end.group * params_.a + index,
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
        if (trunking > 1) far_routers_[link] = there.router;
      }
    }
  }
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
