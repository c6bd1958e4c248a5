#include "routing/choices.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "core/fixed_list.hpp"
#include "core/prefetch.hpp"
#include "routing/gateways.hpp"
#include "routing/path_hops.hpp"

namespace dragonfly {

namespace {

// Hops of a minimal path from here to the destination router.
std::uint32_t minimal_path_hops(const RouteContext& context, const MinimalPath& path) noexcept {
  const Dragonfly& topology = context.topology();
  const Packet& packet = context.packet();
  std::uint32_t gateway = path.gateway;
  if (gateway == kNil && PathFollower::has_gateway(packet, context.group()))
    gateway = packet.intermediate_router;
  return gateway == kNil ? topology.minimal_hops(context.router(), packet.destination_router)
                         : topology.hops_by_gateway(context.router(), context.group(), gateway,
                                                    packet.destination_router, packet.destination_group);
}

// The first hop of a non-minimal path from a router of `group`, and the hops of the path.
struct PathBegin {
  Hop hop{};
  std::uint32_t hops = 0;
};
PathBegin begin_of(const PathFollower& paths, const std::optional<Wiring::LinkEnds>& single_links,
                   const Packet& packet, const NonMinimalPath& nonminimal, std::uint32_t router,
                   std::uint32_t group) noexcept {
  if (single_links && nonminimal.group != group) {
    const bool with_router = visits_router(nonminimal.kind);
    return {paths.only_hop_out(packet, router, nonminimal.group, Stage::kSource, false, with_router),
            only_nonminimal_hops(*single_links, packet, nonminimal, router, group)};
  }
  const Dragonfly& topology = paths.topology();
  const Hop hop = paths.nonminimal_hop(packet, nonminimal, router, group);
  return {hop, nonminimal_hops(topology, packet, nonminimal, router, hop.port)};
}

// Fetches what look_at_ports() will read: ports are often far away.
void prefetch_port(const RouteContext& context, const Hop& hop) noexcept {
  const OutputPort& port = context.ports()[hop.port];
  prefetch(&port);
  prefetch(&port.queues()[hop.vc]);
}

// Fills in the fields before the first hops; `vc_occupancy` holds their VCs so far. All ports are read at the
// end: so the processor waits for them all at once.
void look_at_ports(const RouteContext& context, std::span<Candidate> candidates) noexcept {
  for (Candidate& path : candidates) {
    if (path.kind < 0) continue;
    const Hop hop{.port = static_cast<Port>(path.port), .vc = static_cast<std::uint8_t>(path.vc_occupancy)};
    path.occupancy = static_cast<std::int32_t>(context.occupancy_packets(hop.port));
    path.vc_occupancy = static_cast<std::int32_t>(context.occupancy_packets(hop));
    path.vc_queued = static_cast<std::int32_t>(context.queued_packets(hop));
  }
}

}  // namespace

void mark_minimal_ports(const ObservationPlan& plan, const RouteContext& context, Port known,
                        float* minimal) noexcept {
  const Dragonfly& topology = context.topology();
  const std::uint32_t router = context.router();
  const std::uint32_t target = context.packet().destination_router;
  std::fill_n(minimal, plan.num_ports, 0.0F);
  if (topology.num_choices() == 1) {
    minimal[known - plan.first_port] = 1.0F;
    return;
  }
  const std::uint32_t hops = topology.minimal_hops(router, target);
  for (std::uint32_t i = 0; i < plan.num_ports; ++i) {
    const auto port = static_cast<Port>(plan.first_port + i);
    const Endpoint next = topology.neighbor(router, port);
    minimal[i] = next.port != kNoPort && topology.minimal_hops(next.router, target) + 1 == hops ? 1.0F : 0.0F;
  }
}

std::uint32_t port_choices(const ObservationPlan& plan, const RouteContext& context, bool forced,
                           Port planned, std::uint8_t* mask) noexcept {
  if (plan.masks) {
    const std::uint64_t legal = legal_ports(plan, context, forced, planned);
    spread_bits(legal, plan.num_ports, mask);
    return static_cast<std::uint32_t>(std::popcount(legal));
  }
  if (forced) {
    std::fill_n(mask, plan.num_ports, std::uint8_t{0});
    mask[planned - plan.first_port] = 1;
    return 1;
  }
  const Dragonfly& topology = context.topology();
  const std::uint32_t router = context.router();
  const std::uint32_t target = context.packet().destination_router;
  const std::uint32_t left = hops_left(plan, context.packet());
  const std::uint8_t* const connected = &plan.connected[std::size_t{router} * plan.num_ports];
  if (left >= topology.diameter()) {
    std::copy_n(connected, plan.num_ports, mask);
    return plan.num_connected[router];
  }
  std::fill_n(mask, plan.num_ports, std::uint8_t{0});
  std::uint32_t legal = 0;
  for (std::uint32_t i = 0; i < plan.num_ports; ++i) {
    if (connected[i] == 0) continue;
    const Endpoint next = topology.neighbor(router, static_cast<Port>(plan.first_port + i));
    mask[i] = topology.minimal_hops(next.router, target) <= left ? 1 : 0;
    legal += mask[i];
  }
  return legal;
}

std::uint32_t path_choices(const ObservationPlan& plan, const RouteContext& context, bool forced,
                           const PlannedHop& planned, ShownPaths shown, std::uint8_t* mask,
                           Candidate* candidates) {
  const DecisionSpec& spec = plan.spec;
  const Dragonfly& topology = context.topology();
  const Packet& packet = context.packet();
  const std::uint32_t router = context.router();
  const std::uint32_t target = packet.destination_router;
  const std::uint32_t group = context.group();
  std::uint32_t at = 0;
  std::uint32_t legal = 0;
  // In place: a copy of fields that were just written piece by piece stalls the processor.
  const auto put = [&](std::int8_t kind, const Hop& hop, std::uint32_t hops) -> Candidate& {
    prefetch_port(context, hop);
    Candidate& path = candidates[at];
    path.kind = kind;
    path.hops = static_cast<std::int8_t>(hops);
    path.port = static_cast<std::int16_t>(hop.port);
    path.vc_occupancy = static_cast<std::int32_t>(hop.vc);
    path.intermediate_group = -1;
    path.intermediate_router = -1;
    path.minimal_choice = 0;
    ++at;
    ++legal;
    return path;
  };
  const auto put_none = [&] { candidates[at++] = {}; };

  if (forced) {
    const NonMinimalPath left{.kind = packet.nonminimal_kind,
                              .router = packet.intermediate_router,
                              .group = packet.intermediate_group};
    put(0, planned.hop,
        planned.to_intermediate ? nonminimal_hops(topology, packet, left, router, planned.hop.port)
                                : hops_through(topology, router, planned.hop.port, target));
  } else if (shown.first == 0) {
    const Stage stage = plan.paths.source_stage(packet);
    RandomStream choices = context.minimal_choice_stream();
    const std::uint32_t possible = topology.num_choices();
    const bool draws_gateway = spec.any_gateway && may_draw_gateway(context);
    for (std::uint32_t i = 0; i < (possible == 1 ? 1U : spec.minimal_candidates); ++i) {
      const std::uint32_t choice =
          spec.minimal_candidates == 1 ? plan.paths.choice_of(packet) : choices.below(possible);
      const MinimalPath path =
          draws_gateway ? path_by_gateway(context, stage, choice) : shortest_path(context, stage, choice);
      Candidate& candidate = put(0, path.hop, minimal_path_hops(context, path));
      candidate.minimal_choice = static_cast<std::int32_t>(path.choice);
      if (path.gateway != kNil) candidate.intermediate_router = static_cast<std::int32_t>(path.gateway);
    }
  }
  while (shown.first == 0 && at < spec.minimal_candidates) put_none();
  FixedList<RandomStream, kMostNonMinimalKinds> streams;  // [kind that may be taken], begun together
  const std::span kinds{spec.nonminimal_kinds};
  std::uint32_t taken = 0;  // bits of kinds, by their place
  for (std::size_t k = 0; !forced && k < kinds.size(); ++k) {
    if (!may_take(kinds[k], packet, group, own_group_of(spec.scope))) continue;
    taken |= 1U << k;
    streams.add_made([&] { return context.nonminimal_stream(kinds[k]); });
  }
  begin_together(streams.all());
  std::optional<Wiring::LinkEnds> single_links;
  if (topology.has_single_links()) single_links = topology.link_ends();
  RandomStream* draws = streams.all().data();
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const NonMinimalKind kind = kinds[k];
    const std::uint32_t next_kind = at + shown.of_a_kind();
    if ((taken >> k & 1U) != 0) {
      for (std::uint32_t i = 0; i < shown.end; ++i) {
        const NonMinimalPath nonminimal = draw_allowed(context, *draws, kind, spec.avoid_destination_group);
        if (i < shown.first) continue;
        if (!nonminimal.exists()) {
          put_none();
          continue;
        }
        const auto [hop, hops] = begin_of(plan.paths, single_links, packet, nonminimal, router, group);
        Candidate& candidate = put(static_cast<std::int8_t>(1 + static_cast<int>(kind)), hop, hops);
        candidate.intermediate_group = nonminimal.group;
        if (visits_router(kind)) {
          candidate.intermediate_router = static_cast<std::int32_t>(nonminimal.router);
        }
      }
      ++draws;
    }
    while (at < next_kind) put_none();
  }
  // Only now: the compiler must take every write of a byte for a write to any object, which it reads again.
  for (std::uint32_t i = 0; i < at; ++i) mask[i] = candidates[i].kind >= 0 ? 1 : 0;
  look_at_ports(context, std::span{candidates, at});
  return legal;
}

bool is_path_choice(const ObservationPlan& plan, const RouteContext& context) {
  const DecisionSpec& spec = plan.spec;
  if (context.topology().num_choices() > 1 && spec.minimal_candidates > 1) return true;
  return std::ranges::any_of(spec.nonminimal_kinds, [&](NonMinimalKind kind) {
    return has_nonminimal(context, kind, spec.avoid_destination_group, own_group_of(spec.scope));
  });
}

}  // namespace dragonfly
