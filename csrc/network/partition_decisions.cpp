// Decisions: by the policy, or from outside.
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
    hop = plan_.paths.next(packet, router, group, stage, minimal_choice);
  }
  packet.out_port = hop.port;
  packet.out_vc = hop.vc;
  await_effect(undecided.packet, undecided.input_vc, now);
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
