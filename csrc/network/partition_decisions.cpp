// Decisions: by the policy, or from outside.
#include <bit>

#include "network/partition_inline.hpp"
#include "routing/route_context.hpp"

namespace dragonfly {

RouteContext Partition::context_of(const Packet& packet, std::uint32_t router, std::uint32_t group) const {
  const std::size_t first = std::size_t{router - first_router_} * radix_;
  return {packet,
          router,
          group,
          &outputs_[first],
          &queues_[first * plan_.queue_stride],
          plan_.queue_stride,
          plan_.shared_output,
          plan_.paths,
          plan_.options.seed};
}

// All decisions of an instant: each sees the router before any of them takes effect.
void Partition::make_decisions(Tick now) {
  if (!asking_) {
    if (plan_.learner != nullptr) {
      for (const Undecided& undecided : undecided_) {
        const Packet& packet = packets_[undecided.packet];
        const std::uint32_t router = first_router_ + input_vcs_[undecided.input_vc].router;
        const std::uint32_t group = plan_.topology.group_of(router);
        if (packet.destination_group != group) {
          plan_.learner->touch(router, plan_.learner->row_of(packet, group));
        }
      }
    }
    for (const Undecided& undecided : undecided_) decide(undecided, now);
  } else {
    for (const Undecided& undecided : undecided_) {
      if (!ask(undecided, now)) decide(undecided, now);
    }
  }
  undecided_.clear();
}

void Partition::decide(const Undecided& undecided, Tick now) {
  Packet& packet = packets_[undecided.packet];
  const InputVc& input = input_vcs_[undecided.input_vc];
  const std::uint32_t router = first_router_ + input.router;
  const Dragonfly& topology = plan_.topology;

  Hop hop;
  if (packet.plan == Plan::kRouted) {
    hop = plan_.paths.routed(packet, router,
                             plan_.source.routes().subspan(packet.detour_router, packet.detour_group));
  } else {
    const std::uint32_t group = topology.group_of(router);
    if (plan_.learner != nullptr && !asking_) {
      hop = decide_by_learning(packet, input, router, group, now);
    } else {
      hop = decide_by_path(packet, router, group);
    }
  }
  packet.out_port = hop.port;
  packet.out_vc = hop.vc;
  await_effect(undecided.packet, undecided.input_vc, now);
}

Hop Partition::decide_by_path(Packet& packet, std::uint32_t router, std::uint32_t group) {
  const Dragonfly& topology = plan_.topology;
  const bool leaves = packet.destination_group != group;
  const bool first = packet.hops == 0;
  const Stage stage = leaves && first && plan_.reconsiders ? Stage::kFirst : Stage::kSource;
  std::uint32_t minimal_choice = 0;
  if (leaves && plan_.scope != DecisionScope::kNowhere && !asking_) {
    const bool again = plan_.scope == DecisionScope::kSourceGroup && packet.hops == 1 &&
                       !packet.non_minimal &&
                       group == topology.group_of(topology.router_of_host(packet.source_host));
    if (first || again) {
      RouteContext context = context_of(packet, router, group);
      const Decision decision = plan_.policy->route(context);
      if (decision.detour.exists()) PathFollower::set_detour(packet, decision.detour);
      minimal_choice = decision.minimal_choice;
    }
  }
  return plan_.paths.next(packet, router, group, stage, minimal_choice);
}

// A learner says where packets go that leave the group, and what the router before hears about it. The report
// waits in the packet, in the places of a detour, which such packets do not have.
Hop Partition::decide_by_learning(Packet& packet, const InputVc& input, std::uint32_t router,
                                  std::uint32_t group, Tick now) {
  const Dragonfly& topology = plan_.topology;
  const bool intra_group =
      packet.destination_group == topology.group_of(topology.router_of_host(packet.source_host));
  packet.detour_group = kNoGroup;
  VisitOutcome outcome;
  if (!intra_group) {
    const RouteContext context = context_of(packet, router, group);
    const LinkClass came_by = inputs_[input.router * radix_ + input.port].link_class;
    outcome = plan_.learner->visit(
        context, {.leaves = packet.destination_group != group,
                  .came_by_global = came_by == LinkClass::kGlobal,
                  .travel_ns = static_cast<double>(plan_.to_ps(packet.detour_router)) / kPsPerNs,
                  .now_ps = plan_.to_ps(now)});
    if (outcome.reports) {
      packet.detour_router = std::bit_cast<std::uint32_t>(outcome.target_ns);
      packet.detour_group = 0;
    }
  }
  if (outcome.port == kNoPort) return plan_.paths.next(packet, router, group);
  if (!packet.non_minimal && outcome.port != topology.minimal_port(router, packet.destination_router)) {
    const std::uint32_t next = topology.neighbor(router, outcome.port).router;
    packet.non_minimal = topology.minimal_hops(next, packet.destination_router) + 1U !=
                         topology.minimal_hops(router, packet.destination_router);
  }
  const LinkClass link = topology.port_class(outcome.port);
  return {outcome.port, plan_.paths.ladder().vc(Stage::kSource, link, true, false, packet.hops)};
}

// With the credit for the place that a packet leaves.
void Partition::send_feedback(const InputVc& input, const Packet& packet) {
  const std::uint32_t id = input.router * radix_ + input.port;
  const InputPort& port = inputs_[id];
  const std::uint32_t from =
      plan_.partition_first_group[port.upstream_partition] * plan_.topology.a() + port.upstream / radix_;
  Feedback& entry = feedback_.entry(from, static_cast<Port>(port.upstream % radix_), feedback_sent_[id]++);
  entry.row = kNil;
  if (packet.detour_group != 0 || packet.plan != Plan::kMinimal || asking_) return;
  entry = {plan_.learner->row_of(packet, plan_.topology.group_of(from)),
           std::bit_cast<float>(packet.detour_router)};
}

void Partition::take_feedback(std::uint32_t output, Tick now) {
  const std::uint32_t router = first_router_ + output / radix_;
  const auto port = static_cast<Port>(output % radix_);
  const Feedback& entry = feedback_.entry(router, port, feedback_taken_[output]++);
  if (entry.row != kNil) plan_.learner->learn(router, port, entry.row, entry.target_ns, plan_.to_ps(now));
}

// Puts a decision on the desk; false: nobody needs to be asked.
bool Partition::ask(const Undecided& undecided, Tick now) {
  const InputVc& input = input_vcs_[undecided.input_vc];
  const std::uint32_t router = first_router_ + input.router;
  RouteContext context = context_of(packets_[undecided.packet], router, plan_.topology.group_of(router));
  if (!desk_->raise(context, undecided.packet, undecided.input_vc, input.port, now)) return false;
  if (plan_.timing.routing_delay > 0) await_effect(undecided.packet, undecided.input_vc, now);
  return true;
}

void Partition::answer(const std::int32_t* actions) {
  constexpr std::uint32_t kAhead = 8;
  const std::uint32_t count = desk_->size();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const std::uint32_t later = desk_->pending(i + kAhead).packet;
      __builtin_prefetch(&packets_[later], 1);
      desk_->touch(later);
    }
    const PendingDecision& asked = desk_->pending(i);
    Packet& packet = packets_[asked.packet];
    const Hop hop = desk_->answer(i, actions[i], packet, plan_.timing.credit_delay);
    packet.out_port = hop.port;
    packet.out_vc = hop.vc;
    if (plan_.timing.routing_delay == 0) await_effect(asked.packet, asked.input_vc, asked.time);
  }
  desk_->clear_pending();
}

// The decision counts one routing delay from now. One that was made on arrival has its event already,
// or waits behind others.
void Partition::await_effect(std::uint32_t packet, std::uint32_t input_vc, Tick now) {
  InputVc& input = input_vcs_[input_vc];
  const Tick delay = plan_.timing.routing_delay;
  if (!plan_.decide_on_arrival) {
    if (delay == 0) {
      make_ready(input);
    } else {
      wheel_.push(kEffect, now + delay, input_vc);
    }
  } else if (delay == 0 && input.head == packet) {
    make_ready(input);
  }
}

void Partition::take_effect(std::uint32_t input_id) { make_ready(input_vcs_[input_id]); }

}  // namespace dragonfly
