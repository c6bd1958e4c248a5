#include "routing/channel_walk.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "routing/nonminimal.hpp"

namespace dragonfly {

namespace {

class Walker {
 public:
  Walker(const PathFollower& paths, const RoutingPolicy& policy)
      : choices_{choices_of(paths.topology())},
        paths_{paths},
        topology_{paths.topology()},
        policy_{policy},
        budget_{policy.budget().with_local_paths(topology_.longest_local())} {}

  ChannelWalk walk() {
    for (std::uint32_t from = 0; from < topology_.num_routers(); ++from) {
      for (std::uint32_t to = 0; to < topology_.num_routers(); ++to) {
        if (from == to || !topology_.has_hosts(from) || !topology_.has_hosts(to)) continue;
        if (!topology_.is_alive(from) || !topology_.is_alive(to)) continue;
        for (std::uint32_t number = 0; number < topology_.trunking(); ++number) start(from, to, number);
      }
    }
    return {{seen_.begin(), seen_.end()}, longest_};
  }

 private:
  Packet packet_between(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
    Packet packet;
    packet.source_host = topology_.first_host(from);
    packet.destination_host = topology_.first_host(to);
    packet.destination_router = to;
    packet.destination_group = static_cast<std::uint16_t>(topology_.group_of(to));
    packet.number = number;
    return packet;
  }

  void start(std::uint32_t from, std::uint32_t to, std::uint32_t number) {
    visited_.clear();
    follow(packet_between(from, to, number), from, nullptr, kFromHost);
  }

  // Non-minimal paths that the policy may draw for a packet at this router.
  std::vector<NonMinimalPath> nonminimal_paths(const Packet& packet, std::uint32_t router) const {
    std::vector<NonMinimalPath> all;
    const std::uint32_t own = topology_.group_of(router);
    for (const NonMinimalKind kind : policy_.nonminimal_kinds()) {
      if (!may_take(kind, packet, own, own_group_of(policy_.scope()))) continue;
      const bool own_link = kind == NonMinimalKind::kGl || kind == NonMinimalKind::kG;
      for (std::uint32_t group = 0; group < topology_.num_groups(); ++group) {
        if ((group == own) != (kind == NonMinimalKind::kL) || (own_link && !has_link(router, group)))
          continue;
        if (group != own && !topology_.leads_by(own, group, packet.destination_group)) continue;
        NonMinimalPath nonminimal{.kind = kind, .group = static_cast<std::uint16_t>(group)};
        if (!visits_router(kind)) {
          all.push_back(nonminimal);
          continue;
        }
        for (std::uint32_t i = 0; i < topology_.host_routers(); ++i) {
          nonminimal.router = topology_.router_at(group, i);
          if (!topology_.is_alive(nonminimal.router)) continue;
          if (kind == NonMinimalKind::kL &&
              (nonminimal.router == router || nonminimal.router == packet.destination_router)) {
            continue;
          }
          all.push_back(nonminimal);
        }
      }
    }
    return all;
  }

  // All that it may draw to leave the source group by.
  std::set<std::uint32_t> gateways(const Packet& packet, std::uint32_t router) const {
    std::set<std::uint32_t> all;
    const std::uint32_t own = topology_.group_of(router);
    if (!policy_.any_gateway() || topology_.trunking() < 2) return all;
    if (packet.hops > 0 || packet.destination_group == own) return all;
    for (const Endpoint& near : topology_.links_between(own, packet.destination_group)) {
      all.insert(near.router);
    }
    return all;
  }

  bool has_link(std::uint32_t router, std::uint32_t group) const {
    for (Port port = topology_.first_global_port(); port < topology_.radix(); ++port) {
      if (topology_.group_behind(router, port) == group) return true;
    }
    return false;
  }

  // Follows every possible next hop, for every draw and every decision. `input_port`: the port by which the
  // packet has entered the router.
  void follow(const Packet& packet, std::uint32_t router, const Channel* held, Port input_port) {
    if (router == packet.destination_router && packet.plan != Plan::kToIntermediate) {
      longest_ = std::max(longest_, std::uint32_t{packet.hops});
      return;
    }
    // All further hops depend only on this state.
    if (!visited_
             .insert({router, input_port, packet.hops, packet.plan, packet.nonminimal_kind,
                      packet.intermediate_router, packet.intermediate_group, packet.non_minimal,
                      held != nullptr ? *held : Channel{}})
             .second) {
      return;
    }
    const std::uint32_t group = topology_.group_of(router);
    go_on(packet, router, held);
    for (const std::uint32_t gateway : gateways(packet, router)) {
      Packet bound = packet;
      PathFollower::set_gateway(bound, gateway);
      go_on(bound, router, held);
    }
    if (!has_choice(policy_.scope(), topology_, packet, router, group, input_port)) return;
    for (const NonMinimalPath& nonminimal : nonminimal_paths(packet, router)) {
      Packet non_minimal_packets = packet;
      PathFollower::set_nonminimal(non_minimal_packets, nonminimal);
      go_on(non_minimal_packets, router, held);
    }
  }

  // Follows the plan of the packet.
  void go_on(const Packet& packet, std::uint32_t router, const Channel* held) {
    const VcCounts vcs = paths_.ladder().required();
    std::vector<Hop> done;
    for (const std::uint32_t choice : choices_) {
      Packet moved = packet;
      const Hop hop =
          paths_.next(moved, router, topology_.group_of(router), paths_.source_stage(packet), choice);
      if (router == packet.destination_router && topology_.port_class(hop.port) == LinkClass::kHost) {
        longest_ = std::max(longest_, std::uint32_t{packet.hops});
        return;
      }
      if (std::ranges::find(done, hop) != done.end()) continue;
      done.push_back(hop);
      if (hop.vc >= (topology_.is_global(hop.port) ? vcs.global : vcs.local)) {
        throw std::logic_error{"a path uses VC " + std::to_string(hop.vc) +
                               ", which the ladder does not have"};
      }
      const Channel wanted{router, hop.port, hop.vc};
      if (held != nullptr) seen_.insert({*held, wanted});
      if (++moved.hops > budget_.longest_path) {
        throw std::logic_error{"a path takes more than the declared " + std::to_string(budget_.longest_path) +
                               " hops"};
      }
      const Endpoint next = topology_.neighbor(router, hop.port);
      follow(moved, next.router, &wanted, next.port);
    }
  }

  // Numbers that pick every possibility where packets draw; else the one that counts.
  static std::vector<std::uint32_t> choices_of(const Dragonfly& topology) {
    if (!topology.draws_paths()) return {0};
    const std::uint32_t relays = topology.longest_local().relays ? topology.num_groups() : 1;
    const std::uint32_t step = topology.num_choices() / (topology.trunking() * kMostPaths * relays);
    std::vector<std::uint32_t> all;
    for (std::uint32_t choice = 0; choice < topology.num_choices(); choice += step) all.push_back(choice);
    return all;
  }
  static constexpr std::uint32_t kMostPaths =
      8;  // most paths in a group of the small systems that are walked
  static constexpr Port kFromHost = 0;

  using Standpoint = std::tuple<std::uint32_t, Port, std::uint8_t, Plan, NonMinimalKind, std::uint32_t,
                                std::uint16_t, bool, Channel>;

  std::vector<std::uint32_t> choices_;
  const PathFollower& paths_;
  const Dragonfly& topology_;
  const RoutingPolicy& policy_;
  PathBudget budget_;
  std::set<ChannelDependency> seen_;
  std::set<Standpoint> visited_;  // states that the walked packet has been in
  std::uint32_t longest_ = 0;
};

// Every turn from any port to any other, at every hop that a route may have.
ChannelWalk walk_any_port(const PathFollower& paths, std::uint32_t longest) {
  const Dragonfly& topology = paths.topology();
  std::set<ChannelDependency> seen;
  const auto vc = [&](Port port, std::uint32_t hops) {
    return std::uint16_t{paths.ladder().vc(Stage::kSource, topology.is_global(port), true, false,
                                           static_cast<std::uint8_t>(hops), 0)};
  };
  for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
    for (Port port = topology.first_local_port(); port < topology.radix(); ++port) {
      const Endpoint next = topology.neighbor(router, port);
      if (next.port == kNoPort) continue;
      for (Port on = topology.first_local_port(); on < topology.radix(); ++on) {
        if (topology.neighbor(next.router, on).port == kNoPort) continue;
        for (std::uint32_t hops = 0; hops + 1 < longest; ++hops) {
          const Channel held{router, port, vc(port, hops)};
          const Channel wanted{next.router, on, vc(on, hops + 1)};
          seen.insert(ChannelDependency{held, wanted});
        }
      }
    }
  }
  return {{seen.begin(), seen.end()}, longest};
}

}  // namespace

ChannelWalk walk_channels(const PathFollower& paths, const RoutingPolicy& policy) {
  const PathBudget budget = policy.budget().with_local_paths(paths.topology().longest_local());
  if (budget.any_port) return walk_any_port(paths, budget.longest_path);
  return Walker{paths, policy}.walk();
}

}  // namespace dragonfly
