// The actions of a router for one packet, and their effects: the same rules for policies in the core and
// outside.
#pragma once

#include <cstdint>

#include "routing/decision_context.hpp"
#include "routing/observation_plan.hpp"

namespace dragonfly {

// The decision status of a packet at the router that it reached.
enum class DecisionStatus : std::uint8_t {
  kNone,    // no decision: the packet follows its plan
  kForced,  // one legal action, a decision only because forced hops are decided
  kFree,    // a choice, unless the mask turns out to have one entry
};

// The hop of a packet that follows its plan.
struct PlannedHop {
  Hop hop{};
  bool to_intermediate = false;  // it is still heading for its non-minimal path
};

// Whether a packet about which kProgressive decides goes on without a decision with kProgressiveBusy: the
// packet is behind its source router, and no packet waits for the next port of its minimal path. Behind that
// port is, in groups that are full meshes, the global link to the destination group or the last link: no path
// is shorter or less busy. A packet that enters its intermediate group is never left alone: behind the local
// link there is a global link, which may be busy.
[[nodiscard]] inline bool is_left_alone(const RouteContext& context) noexcept {
  const Packet& packet = context.packet();
  return packet.hops > 0 && (packet.destination_group == context.group() || packet.is_on_minimal_plan()) &&
         context.ports()[context.minimal_port()].queued == 0;
}

// Whether the router decides. Never at the destination router, nor on prescribed routes.
[[nodiscard]] inline DecisionStatus status_of(const DecisionSpec& spec,
                                              const RouteContext& context) noexcept {
  const Packet& packet = context.packet();
  if (packet.plan == Plan::kRouted || context.router() == packet.destination_router)
    return DecisionStatus::kNone;
  if (has_choice(spec.scope, context.topology(), packet, context.router(), context.group(),
                 context.input_port()) &&
      !(spec.scope == DecisionScope::kProgressiveBusy && is_left_alone(context)))
    return DecisionStatus::kFree;
  return spec.forced_too ? DecisionStatus::kForced : DecisionStatus::kNone;
}

// Number of hops that a packet may take behind the next router.
[[nodiscard]] inline std::uint32_t hops_left(const ObservationPlan& plan, const Packet& packet) noexcept {
  const std::uint32_t used = packet.hops + 1U;
  return plan.spec.max_hops > used ? plan.spec.max_hops - used : 0U;
}

// The legal actions of port_choices() as bits. Precondition: the plan has masks.
[[nodiscard]] inline std::uint64_t legal_ports(const ObservationPlan& plan, const RouteContext& context,
                                               bool forced, Port planned) noexcept {
  if (forced) return plan.masks->bit_of(planned);
  const Packet& packet = context.packet();
  return plan.masks->within(context.router(), context.group(), packet.destination_router,
                            packet.destination_group, hops_left(plan, packet));
}

// Ports. An action is legal iff the packet can still be delivered minimally within the hops that there are
// VCs for; while `forced` only the next port of its path is. Writes num_ports flags into `mask`; returns the
// number of legal actions. `planned`: the port that the packet's plan takes.
std::uint32_t port_choices(const ObservationPlan& plan, const RouteContext& context, bool forced,
                           Port planned, std::uint8_t* mask) noexcept;

// Paths: fills a row and a flag for each path that is shown, in the order of the kinds; a path that does not
// exist is not legal. While `forced` the only legal action is to go on along `planned`.
std::uint32_t path_choices(const ObservationPlan& plan, const RouteContext& context, bool forced,
                           const PlannedHop& planned, ShownPaths shown, std::uint8_t* mask,
                           Candidate* candidates);

// Whether path_choices() would find more than one that is legal. Not while forced.
[[nodiscard]] bool is_path_choice(const ObservationPlan& plan, const RouteContext& context);

// Marks the ports on a shortest path with 1, the other of num_ports with 0. `known`: one of those on a
// shortest path.
void mark_minimal_ports(const ObservationPlan& plan, const RouteContext& context, Port known,
                        float* minimal) noexcept;

// Changes a packet's plan by a choice; returns its hop from `router` of `group`.
[[nodiscard]] inline Hop apply_choice(const PathFollower& paths, Packet& packet, std::uint32_t router,
                                      std::uint32_t group, const RouteChoice& choice) noexcept {
  if (choice.port != kNoPort) {
    const Dragonfly& topology = paths.topology();
    packet.plan = Plan::kMinimal;
    if (!packet.non_minimal && !choice.shortest) {
      const std::uint32_t next = topology.neighbor(router, choice.port).router;
      // A path through a third group is a non-minimal path even if it has no more hops than that of the
      // direct link, as with candidate paths.
      packet.non_minimal =
          topology.minimal_hops(next, packet.destination_router) + 1U !=
              topology.minimal_hops(router, packet.destination_router) ||
          (topology.is_global(choice.port) && topology.group_of(next) != packet.destination_group);
    }
    return {choice.port,
            paths.ladder().vc(Stage::kSource, topology.is_global(choice.port), true, false, packet.hops, 0)};
  }
  const Stage stage = paths.source_stage(packet);
  if (choice.nonminimal.exists()) {
    PathFollower::set_nonminimal(packet, choice.nonminimal);
    return choice.start.port != kNoPort ? choice.start : paths.next(packet, router, group, stage);
  }
  if (choice.gateway != kNil) PathFollower::set_gateway(packet, choice.gateway);
  // A relay is a part of the plan, so the first hop alone is not enough.
  if (choice.start.port != kNoPort && !paths.needs_relay(packet, group)) return choice.start;
  if (choice.minimal_choice == RouteChoice::kAsDrawn) return paths.next(packet, router, group, stage);
  return paths.next(packet, router, group, stage, choice.minimal_choice);
}

}  // namespace dragonfly
