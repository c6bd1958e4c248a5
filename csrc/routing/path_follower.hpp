// Following a plan hop by hop: the part of routing that needs no decision.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "routing/packet.hpp"
#include "routing/vc_ladder.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// An output port and the VC to use on it.
struct Hop {
  Port port = kNoPort;
  std::uint8_t vc = 0;
  std::uint8_t unused = 0;
  bool operator==(const Hop&) const = default;
  static constexpr bool kArchivedWhole = true;
};

// A non-minimal path: its intermediate router or group.
struct NonMinimalPath {
  NonMinimalKind kind = NonMinimalKind::kLgl;
  std::uint32_t router = kNil;     // kLgl, kGl: the router to visit
  std::uint16_t group = kNoGroup;  // the group to pass
  [[nodiscard]] bool exists() const noexcept { return group != kNoGroup; }
};

[[nodiscard]] constexpr bool visits_router(NonMinimalKind kind) noexcept {
  return kind == NonMinimalKind::kLgl || kind == NonMinimalKind::kGl || kind == NonMinimalKind::kL;
}

class PathFollower {
 public:
  // `seed`: of the draws by which packets choose among several shortest paths.
  PathFollower(const Dragonfly& topology, const VcLadder& ladder, std::uint64_t seed = 0)
      : topology_{&topology}, ladder_{ladder}, seed_{seed} {}

  [[nodiscard]] const Dragonfly& topology() const noexcept { return *topology_; }
  [[nodiscard]] const VcLadder& ladder() const noexcept { return ladder_; }

  // The next hop of a packet that is at `router` of `group`, according to its plan. Moves the
  // plan on where the router is the non-minimal path. Precondition: plan != kRouted.
  [[nodiscard]] Hop next(Packet& packet, std::uint32_t router, std::uint32_t group,
                         Stage source_stage = Stage::kSource) const noexcept {
    // A packet that has arrived chooses nothing.
    const bool arrived = router == packet.destination_router && packet.plan != Plan::kToIntermediate;
    const bool chooses = !arrived && topology_->draws_paths() && !has_single_path(packet, group);
    return next(packet, router, group, source_stage, chooses ? choice_of(packet) : 0U);
  }
  [[nodiscard]] Hop next(Packet& packet, std::uint32_t router, std::uint32_t group, Stage source_stage,
                         std::uint32_t choice) const noexcept {
    if (packet.plan == Plan::kToIntermediate && reached_intermediate(packet, router, group)) {
      packet.plan = Plan::kFromIntermediate;
    }
    if (packet.plan != Plan::kToIntermediate && needs_relay(packet, group)) {
      const auto [relay, rest] = relay_of(packet, router, group, choice);
      set_nonminimal(packet, relay);
      return towards_intermediate(packet, relay, router, group, rest);
    }
    if (packet.plan == Plan::kToIntermediate) {
      return towards_intermediate(
          packet, {packet.nonminimal_kind, packet.intermediate_router, packet.intermediate_group}, router,
          group, choice);
    }
    return towards_destination(packet, router, group, source_stage, choice, packet.is_on_minimal_plan());
  }

  // Whether the topology has_single_links(), and one of these leads from the group to where the packet's plan
  // leads next.
  [[nodiscard]] bool leads_along_links(const Packet& packet, std::uint32_t router,
                                       std::uint32_t group) const noexcept {
    const auto leads_to = [&](std::uint32_t to) {
      return group == to || topology_->only_port_out(router, to) != kNoPort;
    };
    if (!topology_->has_single_links()) return false;
    if (packet.plan == Plan::kToIntermediate && !leads_to(packet.intermediate_group)) return false;
    return leads_to(packet.destination_group);
  }

  // The next hop of a packet that no policy decides about. Where links are dead, most paths are single ones.
  [[nodiscard]] Hop next_of_plan(Packet& packet, std::uint32_t router, std::uint32_t group) const noexcept {
    return leads_along_links(packet, router, group) ? next_of_single_paths<false>(packet, router, group)
                                                    : next(packet, router, group, source_stage(packet));
  }

  // The next hop on the only path. Precondition: the topology has_single_paths(), or leads_along_links().
  // `kStraight`: the packet has no non-minimal plan.
  template <bool kStraight>
  [[nodiscard, gnu::always_inline]] Hop next_of_single_paths(Packet& packet, std::uint32_t router,
                                                             std::uint32_t group) const noexcept {
    if constexpr (!kStraight) {
      if (packet.plan == Plan::kToIntermediate) {
        if (!reached_intermediate(packet, router, group)) {
          return towards_intermediate(
              packet, {packet.nonminimal_kind, packet.intermediate_router, packet.intermediate_group}, router,
              group, 0);
        }
        packet.plan = Plan::kFromIntermediate;
      }
    }
    const std::uint32_t to = packet.destination_group;
    if (router == packet.destination_router) {
      return {topology_->host_port(packet.destination_host), 0};
    }
    const bool minimal = kStraight || packet.plan == Plan::kMinimal;
    const Port port = topology_->only_port(router, group, packet.destination_router, to);
    Stage stage = Stage::kDestination;
    if (group != to) stage = minimal ? source_stage(packet) : Stage::kNonMinimalOut;
    const bool with_router =
        kStraight || visits_router(packet.nonminimal_kind);  // minimal paths: all the same
    return {port, ladder_.vc(stage, topology_->is_global(port), minimal, with_router, packet.hops)};
  }

  // The first hop out of the group of `router` to another one that a link joins, where the topology
  // has_single_links().
  [[nodiscard]] Hop only_hop_out(const Packet& packet, std::uint32_t router, std::uint32_t to, Stage stage,
                                 bool minimal, bool with_router) const noexcept {
    const Port port = topology_->only_port_out(router, to);
    return {port, ladder_.vc(stage, topology_->is_global(port), minimal, with_router, packet.hops)};
  }

  // The stage of a packet that follows its plan in its source group.
  [[nodiscard]] Stage source_stage(const Packet& packet) const noexcept {
    return ladder_.may_reconsider(packet.hops) ? Stage::kFirst : Stage::kSource;
  }

  // The draws by which a packet chooses among several shortest paths at this hop.
  [[nodiscard]] static RandomStream choices(std::uint64_t seed, const Packet& packet) noexcept {
    return {seed, Purpose::kRouting, packet.source_host, packet.number, packet.hops | kChoiceStream << 8};
  }
  // The first of them; 0 where nothing is drawn.
  [[nodiscard]] std::uint32_t choice_of(const Packet& packet) const noexcept {
    return topology_->draws_paths() ? choices(seed_, packet).below(topology_->num_choices()) : 0U;
  }

  // The first hop of a packet from here on a minimal path (the rest of its path, behind a non-minimal one),
  // and on a non-minimal path. `choice`: selects among several equally short paths (only with trunking).
  [[nodiscard]] Hop minimal_hop(const Packet& packet, std::uint32_t router, std::uint32_t group,
                                Stage source_stage, std::uint32_t choice) const noexcept {
    return towards_destination(packet, router, group, source_stage, choice, packet.is_on_minimal_plan());
  }
  [[nodiscard]] Hop nonminimal_hop(const Packet& packet, const NonMinimalPath& nonminimal,
                                   std::uint32_t router, std::uint32_t group) const noexcept {
    return nonminimal_hop(packet, nonminimal, router, group, choice_of(packet));
  }
  // The hop if that choice is given.
  [[nodiscard]] Hop nonminimal_hop(const Packet& packet, const NonMinimalPath& nonminimal,
                                   std::uint32_t router, std::uint32_t group,
                                   std::uint32_t choice) const noexcept {
    return towards_intermediate(packet, nonminimal, router, group, choice);
  }

  static void set_nonminimal(Packet& packet, const NonMinimalPath& nonminimal) noexcept {
    packet.plan = Plan::kToIntermediate;
    packet.nonminimal_kind = nonminimal.kind;
    packet.intermediate_router = nonminimal.router;
    packet.intermediate_group = nonminimal.group;
    packet.non_minimal = true;
  }

  // Whether a packet that has no intermediate group before it leaves this group for a relay, which becomes a
  // part of its plan. Where hops number the VCs, shortest paths pass relays without a plan.
  [[nodiscard]] bool needs_relay(const Packet& packet, std::uint32_t group) const noexcept {
    return topology_->is_relayed(group, packet.destination_group) && !ladder_.budget().any_port;
  }

  // Makes the packet leave its source group by this gateway, which need not be the nearest.
  static void set_gateway(Packet& packet, std::uint32_t gateway) noexcept {
    packet.plan = Plan::kByGateway;
    packet.intermediate_router = gateway;
  }
  [[nodiscard]] static bool has_gateway(const Packet& packet, std::uint32_t group) noexcept {
    return packet.plan == Plan::kByGateway && packet.destination_group != group;
  }
  // The first hop that a packet would take from its source router by such a gateway.
  [[nodiscard]] Hop gateway_hop(const Packet& packet, std::uint32_t gateway, std::uint32_t router,
                                std::uint32_t group, Stage source_stage,
                                std::uint32_t choice) const noexcept {
    const NextHop next = topology_->path_by_gateway(router, group, gateway, packet.destination_router,
                                                    packet.destination_group, choice);
    return {next.port, ladder_.vc(source_stage, topology_->is_global(next.port), true,
                                  visits_router(packet.nonminimal_kind), packet.hops, next.position)};
  }

  // Resets the plan to a packet that was never sent on a non-minimal path.
  static void forget_nonminimal(Packet& packet) noexcept {
    packet.plan = Plan::kMinimal;
    packet.intermediate_router = kNil;
    packet.intermediate_group = kNoGroup;
    packet.non_minimal = false;
  }

  // The global link by which a packet at `router` will leave the group, if it goes on by its plan (and, while
  // that is minimal, by this choice among equally short paths); kNoPort if it stays.
  [[nodiscard]] Endpoint first_global_link(const Packet& packet, std::uint32_t router,
                                           std::uint32_t choice) const {
    return first_global_hop(packet, router, choice).link;
  }
  struct GlobalHop {
    Endpoint link{};
    std::uint8_t vc = 0;
  };
  // The first global hop with the VC that the packet would use there.
  [[nodiscard]] GlobalHop first_global_hop(const Packet& packet, std::uint32_t router,
                                           std::uint32_t choice) const {
    const std::uint32_t group = topology_->group_of(router);
    if (packet.plan != Plan::kMinimal || !leads_along_links(packet, router, group)) {
      return walk_to_global_hop(packet, router, choice);
    }
    if (packet.destination_group == group) return {};
    return only_global_hop(packet, router, group, packet.destination_group, true,
                           visits_router(packet.nonminimal_kind));
  }
  // The first global hop if the packet were sent on that non-minimal path from here; `choices` are its own.
  [[nodiscard]] GlobalHop first_global_hop(const Packet& packet, const NonMinimalPath& nonminimal,
                                           std::uint32_t router) const {
    const std::uint32_t group = topology_->group_of(router);
    if (topology_->has_single_links() && nonminimal.group != group) {
      return only_global_hop(packet, router, group, nonminimal.group, false, visits_router(nonminimal.kind));
    }
    Packet sent = packet;
    set_nonminimal(sent, nonminimal);
    return walk_to_global_hop(sent, router, choice_of(packet));
  }

  // The next hop on a prescribed route (routers, source first, destination last).
  [[nodiscard]] Hop routed(const Packet& packet, std::uint32_t router,
                           std::span<const std::uint32_t> route) const;

 private:
  [[nodiscard]] static bool reached_intermediate(const Packet& packet, std::uint32_t router,
                                                 std::uint32_t group) noexcept {
    return visits_router(packet.nonminimal_kind) ? router == packet.intermediate_router
                                                 : group == packet.intermediate_group;
  }

  // The path by the relay that `choice` picks, and the rest of the choice.
  [[nodiscard]] std::pair<NonMinimalPath, std::uint32_t> relay_of(const Packet& packet, std::uint32_t router,
                                                                  std::uint32_t group,
                                                                  std::uint32_t choice) const noexcept {
    const auto [relay, rest] =
        topology_->relay_between(router, group, packet.destination_router, packet.destination_group, choice);
    return {{.kind = NonMinimalKind::kLg, .group = static_cast<std::uint16_t>(relay)}, rest};
  }

  // `minimal`: without a non-minimal path behind it.
  [[nodiscard]] Hop towards_destination(const Packet& packet, std::uint32_t router, std::uint32_t group,
                                        Stage source_stage, std::uint32_t choice,
                                        bool minimal) const noexcept {
    if (router == packet.destination_router) {
      return {topology_->host_port(packet.destination_host), 0};  // one queue towards a host
    }
    if (needs_relay(packet, group)) {
      const auto [relay, rest] = relay_of(packet, router, group, choice);
      return towards_intermediate(packet, relay, router, group, rest);
    }
    if (has_gateway(packet, group)) {
      return gateway_hop(packet, packet.intermediate_router, router, group, source_stage, choice);
    }
    const NextHop next =
        topology_->minimal_path(router, group, packet.destination_router, packet.destination_group, choice);
    Stage stage = Stage::kDestination;
    if (group != packet.destination_group) stage = minimal ? source_stage : Stage::kNonMinimalOut;
    return {next.port, ladder_.vc(stage, topology_->is_global(next.port), minimal,
                                  visits_router(packet.nonminimal_kind), packet.hops, next.position)};
  }

  [[nodiscard]] Hop towards_intermediate(const Packet& packet, const NonMinimalPath& nonminimal,
                                         std::uint32_t router, std::uint32_t group,
                                         std::uint32_t choice) const noexcept {
    const bool with_router = visits_router(nonminimal.kind);
    if (group == nonminimal.group) {  // only kinds with an intermediate router come here
      const NextHop next = topology_->minimal_path(router, group, nonminimal.router, group, choice);
      const bool ends_here = nonminimal.kind == NonMinimalKind::kL && group == packet.destination_group;
      if (ends_here &&
          !ladder_.budget()
               .local_nonminimal) {  // the source router: its hop counts as the first of a minimal path
        return {next.port, ladder_.vc(Stage::kSource, false, true, with_router, packet.hops, next.position)};
      }
      const Stage stage = ends_here ? Stage::kLastNonMinimal : Stage::kNonMinimalIn;
      return {next.port, ladder_.vc(stage, false, false, with_router, packet.hops, next.position)};
    }
    // Without draws all packets of a host take the links in turn.
    const NextHop next = topology_->path_towards_group(router, group, nonminimal.group,
                                                       topology_->draws_paths() ? choice : packet.number);
    return {next.port, ladder_.vc(Stage::kSource, topology_->is_global(next.port), false, with_router,
                                  packet.hops, next.position)};
  }

  // Whether one path leads from the group to where the packet's plan leads next.
  [[nodiscard]] bool has_single_path(const Packet& packet, std::uint32_t group) const noexcept {
    return topology_->has_single_paths_between(group, packet.destination_group) &&
           (packet.plan != Plan::kToIntermediate ||
            topology_->has_single_paths_between(group, packet.intermediate_group));
  }

  [[nodiscard]] GlobalHop only_global_hop(const Packet& packet, std::uint32_t router, std::uint32_t group,
                                          std::uint32_t to, bool minimal, bool with_router) const noexcept {
    const Endpoint link = topology_->links_between(group, to).front();
    const auto hops = static_cast<std::uint8_t>(packet.hops + (link.router == router ? 0 : 1));
    return {link, ladder_.vc(Stage::kSource, true, minimal, with_router, hops, 0)};
  }
  // Step by step.
  [[nodiscard]] GlobalHop walk_to_global_hop(Packet packet, std::uint32_t router, std::uint32_t choice) const;

  static constexpr std::uint32_t kChoiceStream = 7;

  const Dragonfly* topology_;
  VcLadder ladder_;
  std::uint64_t seed_;
};

}  // namespace dragonfly
