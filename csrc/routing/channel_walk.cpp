#include "routing/channel_walk.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "routing/detour.hpp"

namespace dragonfly {

namespace {

class Walker {
 public:
  Walker(const PathFollower& paths, const RoutingPolicy& policy)
      : paths_{paths}, topology_{paths.topology()}, policy_{policy}, budget_{policy.budget()} {}

  ChannelWalk walk() {
    for (std::uint32_t from = 0; from < topology_.num_routers(); ++from) {
      for (std::uint32_t to = 0; to < topology_.num_routers(); ++to) {
        if (from == to) continue;
        for (std::uint32_t number = 0; number < topology_.trunking(); ++number) start(from, to, number);
      }
    }
    return {{seen_.begin(), seen_.end()}, longest_};
  }

 private:
  Packet packet_between(std::uint32_t from, std::uint32_t to, std::uint32_t number) const {
    Packet packet;
    packet.source_host = from * topology_.p();
    packet.destination_host = to * topology_.p();
    packet.destination_router = to;
    packet.destination_group = static_cast<std::uint16_t>(topology_.group_of(to));
    packet.number = number;
    return packet;
  }

  void start(std::uint32_t from, std::uint32_t to, std::uint32_t number) {
    const Packet packet = packet_between(from, to, number);
    const Stage first = budget_.reconsiders ? Stage::kFirst : Stage::kSource;
    follow(packet, from, nullptr, first);
    if (topology_.group_of(from) == topology_.group_of(to)) return;
    for (const Detour& detour : detours(from)) {
      Packet detoured = packet;
      PathFollower::set_detour(detoured, detour);
      follow(detoured, from, nullptr, first);
    }
    if (budget_.reconsiders) reconsider(packet, from);
  }

  // After one minimal hop inside the source group: every detour from there.
  void reconsider(Packet packet, std::uint32_t from) {
    const Hop hop = paths_.next(packet, from, topology_.group_of(from), Stage::kFirst);
    const std::uint32_t second = topology_.neighbor(from, hop.port).router;
    if (topology_.group_of(second) != topology_.group_of(from)) return;
    const Channel held{from, hop.port, hop.vc};
    packet.hops = 1;
    packet.vc = hop.vc;
    for (const Detour& detour : detours(second)) {
      Packet detoured = packet;
      PathFollower::set_detour(detoured, detour);
      follow(detoured, second, &held, Stage::kSource);
    }
  }

  std::vector<Detour> detours(std::uint32_t router) const {
    std::vector<Detour> all;
    const std::uint32_t own = topology_.group_of(router);
    for (const DetourKind kind : policy_.detour_kinds()) {
      const bool own_link = kind == DetourKind::kGl || kind == DetourKind::kG;
      for (std::uint32_t group = 0; group < topology_.num_groups(); ++group) {
        if (group == own || (own_link && !has_link(router, group))) continue;
        Detour detour{.kind = kind, .group = static_cast<std::uint16_t>(group)};
        if (!visits_router(kind)) {
          all.push_back(detour);
          continue;
        }
        for (std::uint32_t i = 0; i < topology_.a(); ++i) {
          detour.router = group * topology_.a() + i;
          all.push_back(detour);
        }
      }
    }
    return all;
  }

  bool has_link(std::uint32_t router, std::uint32_t group) const {
    for (Port port = topology_.first_global_port(); port < topology_.radix(); ++port) {
      if (topology_.group_behind(router, port) == group) return true;
    }
    return false;
  }

  void follow(Packet packet, std::uint32_t router, const Channel* held, Stage stage) {
    Channel last{};
    bool holds = held != nullptr;
    if (holds) last = *held;
    const VcCounts vcs = paths_.ladder().required();
    while (router != packet.destination_router || packet.plan == Plan::kToDetour) {
      const std::uint32_t group = topology_.group_of(router);
      const Hop hop = paths_.next(packet, router, group, packet.hops == 0 ? stage : Stage::kSource);
      if (router == packet.destination_router && topology_.port_class(hop.port) == LinkClass::kHost) break;
      const bool global = topology_.port_class(hop.port) == LinkClass::kGlobal;
      if (hop.vc >= (global ? vcs.global : vcs.local)) {
        throw std::logic_error{"a path uses VC " + std::to_string(hop.vc) +
                               ", which the ladder does not have"};
      }
      const Channel wanted{router, hop.port, hop.vc};
      if (holds) seen_.insert({last, wanted});
      last = wanted;
      holds = true;
      router = topology_.neighbor(router, hop.port).router;
      packet.vc = hop.vc;
      if (++packet.hops > budget_.longest_path) {
        throw std::logic_error{"a path takes more than the declared " + std::to_string(budget_.longest_path) +
                               " hops"};
      }
    }
    longest_ = std::max(longest_, std::uint32_t{packet.hops});
  }

  const PathFollower& paths_;
  const Dragonfly& topology_;
  const RoutingPolicy& policy_;
  PathBudget budget_;
  std::set<ChannelDependency> seen_;
  std::uint32_t longest_ = 0;
};

// Every turn from any port to any other, at every hop that a route may have.
ChannelWalk walk_any_port(const PathFollower& paths, std::uint32_t longest) {
  const Dragonfly& topology = paths.topology();
  std::set<ChannelDependency> seen;
  const auto vc = [&](Port port, std::uint32_t hops) {
    return std::uint16_t{paths.ladder().vc(Stage::kSource, topology.port_class(port), true, false,
                                           static_cast<std::uint8_t>(hops))};
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
  if (policy.budget().any_port) return walk_any_port(paths, policy.budget().longest_path);
  return Walker{paths, policy}.walk();
}

}  // namespace dragonfly
