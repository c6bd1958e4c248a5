// Decisions: by the policy, or from outside.
#include <bit>

#include "core/prefetch.hpp"
#include "network/partition_inline.hpp"
#include "routing/route_context.hpp"

namespace dragonfly {

RouteContext Partition::context_of(const Packet& packet, std::uint32_t router, std::uint32_t group) {
  const std::size_t first = std::size_t{router - first_router_} * radix_;
  return {packet,
          router,
          group,
          &outputs_[first],
          &queues_[first * plan_.queue_stride],
          plan_.queue_stride,
          plan_.shared_output,
          plan_.paths,
          trackers_.numbers(),
          plan_.options.seed};
}

// The decision counts one routing delay from now. One that was made on arrival has its event already,
// or waits behind others.
inline void Partition::await_effect(std::uint32_t packet, std::uint32_t input_vc, Tick now) {
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

// All decisions of an instant: each sees the router before any of them takes effect.
void Partition::make_decisions(Tick now) {
  if (plan_.learner != nullptr && !asking_) {
    for (Undecided& undecided : undecided_) {
      const Packet& packet = packets_[undecided.packet];
      const std::uint32_t router = first_router_ + input_vcs_[undecided.input_vc].router;
      const std::uint32_t group = plan_.topology.group_of(router);
      if (packet.destination_group == group) continue;
      undecided.row = plan_.learner->row_of(packet, group);
      plan_.learner->touch(router, undecided.row);
    }
  }
  for (const Undecided& undecided : undecided_) {
    if (!asking_ || !ask(undecided, now)) decide(undecided, now);
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
      hop = decide_by_learning(packet, input.port, undecided.row, router, group, now);
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
  std::uint32_t choice = Decision::kAsDrawn;
  if (leaves && plan_.scope != DecisionScope::kNowhere && !asking_) {
    const bool again = plan_.scope == DecisionScope::kSourceGroup && packet.hops == 1 &&
                       !packet.non_minimal &&
                       group == topology.group_of(topology.router_of_host(packet.source_host));
    if (first || again) {
      RouteContext context = context_of(packet, router, group);
      const Decision decision = plan_.policy->route(context);
      if (decision.detour.exists()) PathFollower::set_detour(packet, decision.detour);
      if (!decision.detour.exists()) choice = decision.minimal_choice;
    }
  }
  if (choice == Decision::kAsDrawn) return plan_.paths.next(packet, router, group, stage);
  return plan_.paths.next(packet, router, group, stage, choice);
}

// A learner says where packets go that leave the group, and what the router before hears about it. The report
// waits in the packet, in the places of a detour, which such packets do not have.
Hop Partition::decide_by_learning(Packet& packet, Port came_by, std::uint32_t row, std::uint32_t router,
                                  std::uint32_t group, Tick now) {
  const Dragonfly& topology = plan_.topology;
  const bool leaves = packet.destination_group != group;
  const bool came_by_global = topology.is_global(came_by);
  packet.detour_group = kNoGroup;
  VisitOutcome outcome;
  const Port minimal =
      leaves ? topology.minimal_port(router, packet.destination_router, plan_.paths.choice_of(packet))
             : kNoPort;
  // A packet that never leaves its group is not theirs. In a full mesh it has passed one local link at most.
  const auto came_from_outside = [&] {
    return topology.has_meshes()
               ? packet.hops > 1
               : topology.group_of(topology.router_of_host(packet.source_host)) != packet.destination_group;
  };
  if (leaves || came_by_global || came_from_outside()) {
    const RouteContext context = context_of(packet, router, group);
    outcome = plan_.learner->visit(
        context, {.leaves = leaves,
                  .came_by_global = came_by_global,
                  .travel_ns = static_cast<double>(plan_.to_ps(packet.detour_router)) / kPsPerNs,
                  .now_ps = plan_.to_ps(now),
                  .row = row,
                  .minimal_port = minimal});
    if (outcome.reports) {
      packet.detour_router = std::bit_cast<std::uint32_t>(outcome.target_ns);
      packet.detour_group = 0;
    }
  }
  if (outcome.port == kNoPort) return plan_.paths.next(packet, router, group);
  if (!packet.non_minimal && outcome.port != minimal) {
    const std::uint32_t next = topology.neighbor(router, outcome.port).router;
    packet.non_minimal = topology.minimal_hops(next, packet.destination_router) + 1U !=
                         topology.minimal_hops(router, packet.destination_router);
  }
  return {outcome.port, plan_.paths.ladder().vc(Stage::kSource, topology.is_global(outcome.port), true, false,
                                                packet.hops, 0)};
}

void Partition::hear_credit(std::uint32_t output, Tick now) {
  if (plan_.learner != nullptr) take_feedback(output, now);
  trackers_.occupancy_changed(outputs_[output].router, outputs_[output].link_class);
}

void Partition::hear_grant(std::uint32_t input_port, LinkClass came_by, const Packet& packet,
                           const OutputPort& output) {
  if (plan_.learner != nullptr && came_by != LinkClass::kHost) send_feedback(input_port, packet);
  trackers_.occupancy_changed(output.router, output.link_class);
}

// With the credit for the place that a packet leaves.
void Partition::send_feedback(std::uint32_t input_port, const Packet& packet) {
  FeedbackEnd& line = feedback_out_[input_port];
  Feedback& entry = line.next();
  ++line.count;
  entry.row = kNil;
  if (packet.detour_group != 0 || packet.plan != Plan::kMinimal || asking_) return;
  entry = {plan_.learner->row_of(packet, line.group), std::bit_cast<float>(packet.detour_router)};
}

void Partition::take_feedback(std::uint32_t output, Tick now) {
  FeedbackEnd& line = feedback_in_[output];
  const Feedback& entry = line.next();
  ++line.count;
  if (entry.row == kNil) return;
  plan_.learner->learn(line.router, line.port, entry.row, entry.target_ns, plan_.to_ps(now));
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
      prefetch(&packets_[later]);
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

void Partition::take_effect(std::uint32_t input_id) { make_ready(input_vcs_[input_id]); }

}  // namespace dragonfly
