// Decisions for the packets of a partition: by no policy, by the core's policies, or by an outside policy.
#pragma once

#include "core/fixed_list.hpp"
#include "core/prefetch.hpp"
#include "network/events_ports.hpp"
#include "routing/choices.hpp"

namespace dragonfly {

// Precondition: the packet is in that input VC.
template <Mode mode>
template <class Context, class... Own>
[[gnu::always_inline]] inline Context EventLoop<mode>::context_of(const State& s, std::uint32_t packet,
                                                                  std::uint32_t input_vc, Own... own) {
  const std::uint32_t router = router_of(s, input_vc);
  const InputIndex& at = s.plan.input_index[index_in(s, input_vc)];
  return Context{own...,
                 s.view,
                 s.store.packets[packet],
                 s.store.times[packet],
                 s.first_router + router,
                 s.group_of[router],
                 s.ports.of_router(router),
                 at.port,
                 at.vc};
}

template <Mode mode>
[[gnu::always_inline]] inline bool EventLoop<mode>::needs_decision(const State& s, const Packet& packet,
                                                                   std::uint32_t router, std::uint32_t group,
                                                                   Port input_port) {
  if (mode.source == DecisionSource::kMinimal) return false;
  if (packet.plan == Plan::kRouted) return false;
  if (learns(s)) {  // true everywhere, while the packet has not reached its group
    return packet.destination_group != group || (s.plan.deciders.learner->decides_about_arrivals() &&
                                                 reports_arrival(s.plan.topology, packet, input_port));
  }
  return has_choice(s.plan.deciders.scope, s.plan.topology, packet, router, group, input_port);
}

// A packet without a choice goes on at once. The others wait until all other events of this time have
// happened: each decision sees the router before any decision of this time takes effect.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::decide_or_follow(State& s, std::uint32_t packet_index,
                                                                     std::uint32_t router,
                                                                     std::uint32_t index, Tick now) {
  const std::uint32_t input_vc = (router << input_shift(s)) + index;
  Packet& packet = s.store.packets[packet_index];
  if constexpr (mode.any()) {
    if (s.store.with_versions && !is_routed_as_known(s, packet_index)) {
      if (learns(s)) note_report(packet, false, 0.0F);
      follow(s, packet_index, router, index, now);
      return;
    }
  }
  if (kExternal && packet.destination_router == s.first_router + router) {  // the test of status_of()
    follow(s, packet_index, router, index, now);
    return;
  }
  if (kExternal) s.pending->prefetch_counts(s.first_router + router, packet.destination_group);
  if (kExternal || (mode.any() && !s.plan.deciders.one_decides(s.external))) {
    s.unrouted.push_back({packet_index, input_vc});
    return;
  }
  const std::uint32_t group = s.group_of[router];
  const Port input_port = s.plan.input_index[index].port;
  if (!needs_decision(s, packet, s.first_router + router, group, input_port)) {
    if (learns(s)) {
      note_arrival(packet, *s.plan.deciders.learner, s.plan.topology.is_global(input_port),
                   s.timing.quantum_ps);
    }
    follow(s, packet_index, router, index, now);
    return;
  }
  if (learns(s) && packet.destination_group != group) {  // its row has time to come
    s.plan.deciders.learner->prefetch_row(s.first_router + router,
                                          s.plan.deciders.learner->row_of(packet, group));
  }
  if (mode.tracks()) {  // the numbers of the row have time to come, too
    s.trackers.prefetch_numbers(s.first_router + router, packet.destination_router);
    prefetch(&s.store.times[packet_index]);
  }
  s.unrouted.push_back({packet_index, input_vc});
}

template <Mode mode>
inline void EventLoop<mode>::follow(State& s, const State::Unrouted& unrouted, Tick now) {
  follow(s, unrouted.packet, router_of(s, unrouted.input_vc), index_in(s, unrouted.input_vc), now);
}

// The packet follows its plan.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::follow(State& s, std::uint32_t packet_index,
                                                           std::uint32_t router, std::uint32_t index,
                                                           Tick now) {
  Packet& packet = s.store.packets[packet_index];
  Hop hop;
  if (mode.any() && packet.plan == Plan::kRouted) {
    hop = s.plan.paths.routed(
        packet, s.first_router + router,
        s.plan.source.routes().subspan(packet.intermediate_router, packet.intermediate_group));
  } else if (mode.any() && s.store.with_versions) {
    const PathFollower& paths = paths_of(s, packet_index);
    hop = paths.next(packet, s.first_router + router, s.group_of[router], paths.source_stage(packet));
  } else if (s.plan.single_paths) {
    constexpr bool kStraight =
        mode.source == DecisionSource::kMinimal || mode.source == DecisionSource::kLearner;
    hop = s.plan.paths.template next_of_single_paths<kStraight>(packet, s.first_router + router,
                                                                s.group_of[router]);
  } else {
    hop = s.plan.paths.next_of_plan(packet, s.first_router + router, s.group_of[router]);
  }
  await_effect(s, packet_index, router, index, hop, now);
}

// The decision counts one routing delay from now. One that was made on arrival has its event already,
// or waits behind others.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::await_effect(State& s, std::uint32_t packet,
                                                                 std::uint32_t router, std::uint32_t index,
                                                                 const Hop& hop, Tick now) {
  const std::uint32_t input_vc = (router << input_shift(s)) + index;
  const Tick delay = s.timing.routing_delay;
  if (!on_arrival(s)) {
    if (delay == 0) {
      make_ready(s, router, index, hop);
      return;
    }
    plan_effect(s, input_vc, now + delay);
  }
  Decided& decided = s.store.decided[packet];
  decided.hop = hop;
  if (on_arrival(s)) decided.when = low_of(now);
  if (on_arrival(s) && delay == 0 && s.input_vcs[input_vc].head == packet) make_ready(s, router, index, hop);
}

template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::make_decisions(State& s, Tick now) {
  if (kExternal || (external(s) && s.pending->selects_all())) {
    for (const State::Unrouted& unrouted : s.unrouted) {
      if (!raise(s, unrouted, now)) follow(s, unrouted, now);
    }
  } else if (external(s)) {
    decide_by_background(s, now);
  } else if (mode.any() && s.plan.deciders.policies.size() > 1) {
    decide_by_jobs(s, now);
  } else {
    decide_by_policy<false>(s, 0, now);
  }
  s.unrouted.clear();
}

template <Mode mode>
template <bool kShared>
inline void EventLoop<mode>::decide_by_policy(State& s, std::uint32_t decider, Tick now) {
  const Decider& who = s.plan.deciders.policies[decider];
  if (who.scope == DecisionScope::kNowhere) {
    for (const State::Unrouted& unrouted : s.unrouted) {
      if (!kShared || s.store.messages[unrouted.packet].policy == decider) {
        follow(s, unrouted, now);
      }
    }
    return;
  }
  s.view.now = now;
  if (learns(s)) {
    call_policy<PolicyKind::kLearner, false>(s, decider, now);  // it never shares
  } else if (mode.tracks() && who.seen != nullptr) {
    call_policy<PolicyKind::kSeeing, kShared>(s, decider, now);
  } else {
    call_policy<PolicyKind::kPlain, kShared>(s, decider, now);
  }
}

// Calls one policy after the other: a choice changes nothing but its packet before this time is over, so all
// policies see the network before any choice takes effect, as with one policy.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::decide_by_jobs(State& s, Tick now) {
  TrackedNumbers& tracked = s.trackers.numbers();
  for (std::uint32_t decider = 0; decider < s.plan.deciders.policies.size(); ++decider) {
    tracked.policy_trackers = &s.plan.deciders.policies[decider].trackers;
    decide_by_policy<true>(s, decider, now);
  }
  tracked.policy_trackers = &s.plan.deciders.policies.front().trackers;
}

// The outside policy's decisions are raised first: they show packets, and count decisions, as they are before
// the background policy has decided.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::decide_by_background(State& s, Tick now) {
  for (const State::Unrouted& unrouted : s.unrouted) {
    const RouteContext context = context_of(s, unrouted.packet, unrouted.input_vc);
    s.pending->consider(context, unrouted.packet, unrouted.input_vc, context.input_port(), now);
  }
  s.view.now = now;
  const auto place = static_cast<std::uint32_t>(s.plan.deciders.policies.size());
  if (s.plan.deciders.background->scope == DecisionScope::kNowhere) {
    for (const State::Unrouted& unrouted : s.unrouted) {
      follow(s, unrouted, now);
    }
  } else if (s.plan.deciders.background->seen != nullptr) {
    call_policy<PolicyKind::kSeeing, false>(s, place, now);
  } else {
    call_policy<PolicyKind::kPlain, false>(s, place, now);
  }
}

// Decisions are made a few at a time, as many as the first-level cache holds. As above, it does not matter
// that some decisions are applied before the next are made.
template <Mode mode>
template <typename EventLoop<mode>::PolicyKind kind, bool kShared>
inline void EventLoop<mode>::call_policy(State& s, std::uint32_t decider, Tick now) {
  constexpr bool learning = kind == PolicyKind::kLearner;
  const Decider& who = decider < s.plan.deciders.policies.size() ? s.plan.deciders.policies[decider]
                                                                 : *s.plan.deciders.background;
  ObservationTable* table = nullptr;
  if constexpr (kind == PolicyKind::kSeeing) {
    s.tables.resize(s.plan.deciders.policies.size() + 1);
    State::Table& own = s.tables[decider];
    if (own.rows == nullptr || own.of != s.plan.deciders.policies_before) {
      own.rows = std::make_unique<ObservationTable>(*who.seen, s.first_router, s.num_routers);
      own.of = s.plan.deciders.policies_before;
    }
    table = own.rows.get();
    table->clear();
  }
  auto next = s.unrouted.begin();
  while (next != s.unrouted.end()) {
    if constexpr (kind == PolicyKind::kSeeing) table->clear();
    FixedList<DecisionContext, kDecisionsAtOnce> decisions;
    for (; next != s.unrouted.end() && !decisions.full(); ++next) {
      const State::Unrouted unrouted = *next;
      if constexpr (kShared) {
        if (s.store.messages[unrouted.packet].policy != decider) continue;
      }
      const auto number = static_cast<std::uint32_t>(decisions.size());
      const DecisionContext& decision = decisions.add_made([&] {
        return context_of<DecisionContext>(s, unrouted.packet, unrouted.input_vc, unrouted.packet,
                                           unrouted.input_vc, number);
      });
      if constexpr (mode.any() && !learning) {
        const Packet& packet = decision.packet();
        if (packet.plan == Plan::kRouted || !has_choice(who.scope, s.plan.topology, packet, decision.router(),
                                                        decision.group(), decision.input_port())) {
          decisions.remove_last();
          follow(s, unrouted, now);
          continue;
        }
      }
      if constexpr (kind == PolicyKind::kSeeing) {
        if (!table->add(decision, now)) {
          decisions.remove_last();
          follow(s, unrouted, now);
          continue;
        }
      }
    }
    if constexpr (kind == PolicyKind::kSeeing) s.view.rows = table->rows();
    if (decisions.size() > 0) decide_and_apply<learning>(s, *who.policy, decisions.all(), now);
  }
}

template <Mode mode>
template <bool kLearns>
inline void EventLoop<mode>::decide_and_apply(State& s, const RoutingPolicy& policy,
                                              std::span<const DecisionContext> decisions, Tick now) {
  policy.decide(decisions, std::span{s.choices}.first(decisions.size()));
  const RouteChoice* choice = s.choices.data();
  for (const DecisionContext& decision : decisions) {
    Packet& packet = s.store.packets[decision.packet_index()];
    if constexpr (kLearns) {
      note_report(packet, choice->reports, choice->target_ns);
      if (choice->port == kNoPort) {  // it has reached its group
        follow(s, {decision.packet_index(), decision.input_vc()}, now);
        ++choice;
        continue;
      }
    }
    const Hop hop = apply_choice(s.plan.paths, packet, decision.router(), decision.group(), *choice++);
    await_effect(s, decision.packet_index(), decision.input_vc(), hop, now);
  }
}

// Raises a pending decision; false: the packet has no choice.
template <Mode mode>
inline bool EventLoop<mode>::raise(State& s, const State::Unrouted& unrouted, Tick now) {
  const RouteContext context = context_of(s, unrouted.packet, unrouted.input_vc);
  if (!s.pending->raise(context, unrouted.packet, unrouted.input_vc, context.input_port(), now)) return false;
  if (s.timing.routing_delay > 0) await_effect(s, unrouted.packet, unrouted.input_vc, {}, now);
  return true;
}

}  // namespace dragonfly
