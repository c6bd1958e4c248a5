// Following a plan hop by hop: the part of routing that needs no decision.
#pragma once

#include <cstdint>
#include <span>
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
struct Detour {
  DetourKind kind = DetourKind::kLgl;
  std::uint32_t router = kNil;     // kLgl, kGl: the router to visit
  std::uint16_t group = kNoGroup;  // the group to pass
  [[nodiscard]] bool exists() const noexcept { return group != kNoGroup; }
};

[[nodiscard]] constexpr bool visits_router(DetourKind kind) noexcept {
  return kind == DetourKind::kLgl || kind == DetourKind::kGl || kind == DetourKind::kL;
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
    const bool arrived = router == packet.destination_router && packet.plan != Plan::kToDetour;
    return next(packet, router, group, source_stage, arrived ? 0U : choice_of(packet));
  }
  [[nodiscard]] Hop next(Packet& packet, std::uint32_t router, std::uint32_t group, Stage source_stage,
                         std::uint32_t choice) const noexcept {
    if (packet.plan == Plan::kToDetour && reached_detour(packet, router, group)) {
      packet.plan = Plan::kFromDetour;
    }
    if (packet.plan == Plan::kToDetour) {
      return towards_detour(packet, {packet.detour_kind, packet.detour_router, packet.detour_group}, router,
                            group, choice);
    }
    return towards_destination(packet, router, group, source_stage, choice, packet.goes_straight());
  }

  // The next hop where the topology has_single_ways(). `kStraight`: the packet has no non-minimal plan.
  template <bool kStraight>
  [[nodiscard, gnu::always_inline]] Hop next_of_single_ways(Packet& packet, std::uint32_t router,
                                                            std::uint32_t group) const noexcept {
    if constexpr (!kStraight) {
      if (packet.plan == Plan::kToDetour) {
        if (!reached_detour(packet, router, group)) {
          return towards_detour(packet, {packet.detour_kind, packet.detour_router, packet.detour_group},
                                router, group, 0);
        }
        packet.plan = Plan::kFromDetour;
      }
    }
    const std::uint32_t to = packet.destination_group;
    if (router == packet.destination_router) {
      return {static_cast<Port>(packet.destination_host - router * topology_->p()), 0};
    }
    const bool minimal = kStraight || packet.plan == Plan::kMinimal;
    const Port port = topology_->only_port(router, group, packet.destination_router, to);
    Stage stage = Stage::kDestination;
    if (group != to) stage = minimal ? source_stage(packet) : Stage::kDetourOut;
    const bool with_router = kStraight || visits_router(packet.detour_kind);  // minimal paths: all the same
    return {port, ladder_.vc(stage, topology_->is_global(port), minimal, with_router, packet.hops)};
  }

  // The first hop out of the group of `router` to another one, where the topology has_single_ways().
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
    return topology_->draws_ways() ? choices(seed_, packet).below(topology_->num_choices()) : 0U;
  }

  // The first hop of a packet from here on a minimal path (the rest of its path, behind a non-minimal one),
  // and on a non-minimal path. `choice`: selects among several equally short paths (only with trunking).
  [[nodiscard]] Hop minimal_hop(const Packet& packet, std::uint32_t router, std::uint32_t group,
                                Stage source_stage, std::uint32_t choice) const noexcept {
    return towards_destination(packet, router, group, source_stage, choice, packet.goes_straight());
  }
  [[nodiscard]] Hop detour_hop(const Packet& packet, const Detour& detour, std::uint32_t router,
                               std::uint32_t group) const noexcept {
    return detour_hop(packet, detour, router, group, choice_of(packet));
  }
  // The hop if that choice is given.
  [[nodiscard]] Hop detour_hop(const Packet& packet, const Detour& detour, std::uint32_t router,
                               std::uint32_t group, std::uint32_t choice) const noexcept {
    return towards_detour(packet, detour, router, group, choice);
  }

  static void set_detour(Packet& packet, const Detour& detour) noexcept {
    packet.plan = Plan::kToDetour;
    packet.detour_kind = detour.kind;
    packet.detour_router = detour.router;
    packet.detour_group = detour.group;
    packet.non_minimal = true;
  }

  // Makes the packet leave its source group by this gateway, which need not be the nearest.
  static void set_gateway(Packet& packet, std::uint32_t gateway) noexcept {
    packet.plan = Plan::kByGateway;
    packet.detour_router = gateway;
  }
  [[nodiscard]] static bool has_gateway(const Packet& packet, std::uint32_t group) noexcept {
    return packet.plan == Plan::kByGateway && packet.destination_group != group;
  }
  // The first hop that a packet would take from its source router by such a gateway.
  [[nodiscard]] Hop gateway_hop(const Packet& packet, std::uint32_t gateway, std::uint32_t router,
                                std::uint32_t group, Stage source_stage,
                                std::uint32_t choice) const noexcept {
    const WayStep way = topology_->way_by_gateway(router, group, gateway, packet.destination_router,
                                                  packet.destination_group, choice);
    return {way.port, ladder_.vc(source_stage, topology_->is_global(way.port), true,
                                 visits_router(packet.detour_kind), packet.hops, way.position)};
  }

  // Resets the plan to a packet that was never sent on a non-minimal path.
  static void forget_detour(Packet& packet) noexcept {
    packet.plan = Plan::kMinimal;
    packet.detour_router = kNil;
    packet.detour_group = kNoGroup;
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
    if (!has_single_ways() || packet.plan != Plan::kMinimal) {
      return walk_to_global_hop(packet, router, choice);
    }
    if (packet.destination_group == group) return {};
    return only_global_hop(packet, router, group, packet.destination_group, true,
                           visits_router(packet.detour_kind));
  }
  // The first global hop if the packet were sent on that non-minimal path from here; `choices` are its own.
  [[nodiscard]] GlobalHop first_global_hop(const Packet& packet, const Detour& detour,
                                           std::uint32_t router) const {
    const std::uint32_t group = topology_->group_of(router);
    if (has_single_ways() && detour.group != group) {
      return only_global_hop(packet, router, group, detour.group, false, visits_router(detour.kind));
    }
    Packet sent = packet;
    set_detour(sent, detour);
    return walk_to_global_hop(sent, router, choice_of(packet));
  }

  // The next hop on a prescribed route (routers, source first, destination last).
  [[nodiscard]] Hop routed(const Packet& packet, std::uint32_t router,
                           std::span<const std::uint32_t> route) const;

 private:
  [[nodiscard]] static bool reached_detour(const Packet& packet, std::uint32_t router,
                                           std::uint32_t group) noexcept {
    return visits_router(packet.detour_kind) ? router == packet.detour_router : group == packet.detour_group;
  }

  // `minimal`: without a non-minimal path behind it.
  [[nodiscard]] Hop towards_destination(const Packet& packet, std::uint32_t router, std::uint32_t group,
                                        Stage source_stage, std::uint32_t choice,
                                        bool minimal) const noexcept {
    if (router == packet.destination_router) {
      const auto slot = packet.destination_host - router * topology_->p();
      return {static_cast<Port>(slot), 0};  // one queue towards a host
    }
    if (has_gateway(packet, group)) {
      return gateway_hop(packet, packet.detour_router, router, group, source_stage, choice);
    }
    const WayStep way =
        topology_->minimal_way(router, group, packet.destination_router, packet.destination_group, choice);
    Stage stage = Stage::kDestination;
    if (group != packet.destination_group) stage = minimal ? source_stage : Stage::kDetourOut;
    return {way.port, ladder_.vc(stage, topology_->is_global(way.port), minimal,
                                 visits_router(packet.detour_kind), packet.hops, way.position)};
  }

  [[nodiscard]] Hop towards_detour(const Packet& packet, const Detour& detour, std::uint32_t router,
                                   std::uint32_t group, std::uint32_t choice) const noexcept {
    const bool with_router = visits_router(detour.kind);
    if (group == detour.group) {  // only with a intermediate router
      const WayStep way = topology_->minimal_way(router, group, detour.router, group, choice);
      const bool ends_here = detour.kind == DetourKind::kL && group == packet.destination_group;
      if (ends_here &&
          !ladder_.budget().local_detours) {  // of the source router: as a minimal path's first hop
        return {way.port, ladder_.vc(Stage::kSource, false, true, with_router, packet.hops, way.position)};
      }
      const Stage stage = ends_here ? Stage::kLastDetour : Stage::kDetourIn;
      return {way.port, ladder_.vc(stage, false, false, with_router, packet.hops, way.position)};
    }
    // Without draws all packets of a host take the links in turn.
    const WayStep way = topology_->way_towards_group(router, group, detour.group,
                                                     topology_->draws_ways() ? choice : packet.number);
    return {way.port, ladder_.vc(Stage::kSource, topology_->is_global(way.port), false, with_router,
                                 packet.hops, way.position)};
  }

  // Whether one link leads from group to group, at most one local hop away, and none needs a choice.
  [[nodiscard]] bool has_single_ways() const noexcept { return topology_->num_choices() == 1; }
  [[nodiscard]] GlobalHop only_global_hop(const Packet& packet, std::uint32_t router, std::uint32_t group,
                                          std::uint32_t to, bool minimal, bool with_router) const noexcept {
    const Endpoint link = *topology_->links_between(group, to);
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
