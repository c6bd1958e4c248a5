#include "topology/numbering.hpp"

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

std::uint32_t routers_with_hosts(const DragonflyParams& params) {
  return params.shape != nullptr ? params.shape->host_routers() : params.a;
}

std::uint32_t first_with_global_links(const DragonflyParams& params) {
  return params.shape != nullptr ? params.shape->first_global_router() : 0;
}

// Checks the sizes that follow from the parameters, and fills in the numbers of routers and groups.
DragonflyParams validated(DragonflyParams params) {
  if (params.shape != nullptr) params.a = params.shape->routers();
  const std::uint64_t p = params.p;
  const std::uint64_t a = params.a;
  const std::uint64_t h = params.h;
  const std::uint64_t between = local_ports(params) + h;
  require(p + between <= kMaxRadix,
          params.shape == nullptr ? "radix (p + a - 1 + h)" : "radix (hosts, local and global ports)",
          p + between, range(1, kMaxRadix));

  const std::uint64_t positions = (a - first_with_global_links(params)) * h;
  const std::uint64_t most_groups = positions / params.trunking + 1;
  const std::uint64_t groups = params.g == 0 ? most_groups : params.g;
  if (params.listed.empty()) require(groups <= most_groups, "g", groups, range(1, most_groups));

  // No product below overflows: groups <= 2^20 + 1 and the other factors are at most 2^10. The table
  // of gateways needs no check of its own: without a list, g*g*trunking <= g*(a*h + trunking) <= 2*a*g*h.
  const std::uint64_t routers = groups * a;
  const std::uint64_t hosts = groups * routers_with_hosts(params) * p;
  require(hosts <= kMaxHosts, "num_hosts (p*a*g)", hosts, range(1, kMaxHosts));
  require(routers * between <= kMaxLinks, "number of links (a*g*(local + global ports))", routers * between,
          range(0, kMaxLinks));
  params.g = static_cast<std::uint32_t>(groups);
  return params;
}

LinkClasses link_classes(const DragonflyParams& params) {
  LinkClasses classes;
  classes.names.emplace_back("host");
  classes.bundled.push_back(1);
  classes.of_ports.assign(params.p, LinkClass::kHost);
  const auto add = [&classes](const LocalLinks& links) {
    classes.of_ports.insert(classes.of_ports.end(), links.ports,
                            static_cast<LinkClass>(classes.names.size()));
    classes.names.push_back(links.name);
    classes.bundled.push_back(links.bundled);
  };
  const GroupShape* const shape = params.shape.get();
  if (shape == nullptr) {
    add({"local", params.a - 1, 1});
  } else {
    for (const LocalLinks& links : shape->links()) add(links);
  }
  add({shape == nullptr ? "global" : shape->global_class(), params.h, bundle_of(params.arrangement)});
  if (classes.names.size() > kMostLinkClasses) {
    throw ConfigError{"group", std::to_string(classes.names.size()) + " classes of links",
                      "at most " + std::to_string(kMostLinkClasses)};
  }
  return classes;
}

}  // namespace

Numbering::Numbering(const DragonflyParams& params)
    : params_{validated(params)},
      first_global_{params_.p + local_ports(params_)},
      host_routers_{routers_with_hosts(params_)},
      first_global_router_{first_with_global_links(params_)},
      classes_{link_classes(params_)},
      routers_per_group_{params_.a},
      hosts_per_router_{params_.p},
      host_routers_per_group_{host_routers_} {}

}  // namespace dragonfly
