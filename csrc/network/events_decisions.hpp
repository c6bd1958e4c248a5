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
                 s.around,
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
                                                                   Port came_by) {
  if (mode.deciders == Deciders::kNobody) return false;
  if (packet.plan == Plan::kRouted) return false;
  if (learns(s)) {  // everywhere, while the packet has not reached its group
    return packet.destination_group != group ||
           (s.plan.learner->is_asked_about_arrivals() && hears_arrival(s.plan.topology, packet, came_by));
  }
  return has_choice(s.plan.scope, s.plan.topology, packet, router, group, came_by);
}

// A packet without a choice goes on at once. The others wait until all other events of this time have
// happened: each decision sees the router before any decision of this time takes effect.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::decide_or_follow(State& s, std::uint32_t packet_index,
                                                                     std::uint32_t router,
                                                                     std::uint32_t index, Tick now) {
  const std::uint32_t input_vc = (router << input_shift(s)) + index;
  Packet& packet = s.store.packets[packet_index];
  if (kDesk && packet.destination_router == s.first_router + router) {  // as in standing_of()
    follow(s, packet_index, router, index, now);
    return;
  }
  if (kDesk) s.desk->touch_counts(s.first_router + router, packet.destination_group);
  if (kDesk || (mode.any() && !s.plan.one_decides(s.asking))) {
    s.undecided.push_back({packet_index, input_vc});
    return;
  }
  const std::uint32_t group = s.group_of[router];
  const Port came_by = s.plan.input_index[index].port;
  if (!needs_decision(s, packet, s.first_router + router, group, came_by)) {
    if (learns(s)) {
      note_arrival(packet, *s.plan.learner, s.plan.topology.is_global(came_by), s.timing.quantum_ps);
    }
    follow(s, packet_index, router, index, now);
    return;
  }
  if (learns(s) && packet.destination_group != group) {  // its row has time to come
    s.plan.learner->touch(s.first_router + router, s.plan.learner->row_of(packet, group));
  }
  s.undecided.push_back({packet_index, input_vc});
}

template <Mode mode>
inline void EventLoop<mode>::follow(State& s, const State::Undecided& undecided, Tick now) {
  follow(s, undecided.packet, router_of(s, undecided.input_vc), index_in(s, undecided.input_vc), now);
}

// The packet follows its plan.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::follow(State& s, std::uint32_t packet_index,
                                                           std::uint32_t router, std::uint32_t index,
                                                           Tick now) {
  Packet& packet = s.store.packets[packet_index];
  Hop hop;
  if (mode.any() && packet.plan == Plan::kRouted) {
    hop = s.plan.paths.routed(packet, s.first_router + router,
                              s.plan.source.routes().subspan(packet.detour_router, packet.detour_group));
  } else if (s.plan.single_ways) {
    constexpr bool kStraight = mode.deciders == Deciders::kNobody || mode.deciders == Deciders::kLearner;
    hop = s.plan.paths.template next_of_single_ways<kStraight>(packet, s.first_router + router,
                                                               s.group_of[router]);
  } else {
    hop = s.plan.paths.next(packet, s.first_router + router, s.group_of[router],
                            s.plan.paths.source_stage(packet));
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
  if (kDesk || (asking(s) && s.desk->wants_all())) {
    for (const State::Undecided& undecided : s.undecided) {
      if (!ask(s, undecided, now)) follow(s, undecided, now);
    }
  } else if (asking(s)) {
    ask_background(s, now);
  } else if (mode.any() && s.plan.deciders.size() > 1) {
    ask_policies_of_jobs(s, now);
  } else {
    ask_policy<false>(s, 0, now);
  }
  s.undecided.clear();
}

template <Mode mode>
template <bool kShared>
inline void EventLoop<mode>::ask_policy(State& s, std::uint32_t decider, Tick now) {
  const Decider& asked = s.plan.deciders[decider];
  if (asked.scope == DecisionScope::kNowhere) {
    for (const State::Undecided& undecided : s.undecided) {
      if (!kShared || s.store.messages[undecided.packet].policy == decider) {
        follow(s, undecided, now);
      }
    }
    return;
  }
  s.around.now = now;
  if (learns(s)) {
    put_questions<Asker::kLearner, false>(s, decider, now);  // it never shares
  } else if (mode.any() && asked.seen != nullptr) {
    put_questions<Asker::kSeeing, kShared>(s, decider, now);
  } else {
    put_questions<Asker::kPlain, kShared>(s, decider, now);
  }
}

// Calls one policy after the other: a choice changes nothing but its packet before this time is over, so all
// policies see the network before any choice takes effect, as with one policy.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::ask_policies_of_jobs(State& s, Tick now) {
  TrackedNumbers& tracked = s.trackers.numbers();
  for (std::uint32_t decider = 0; decider < s.plan.deciders.size(); ++decider) {
    tracked.policy_trackers = &s.plan.deciders[decider].trackers;
    ask_policy<true>(s, decider, now);
  }
  tracked.policy_trackers = &s.plan.deciders.front().trackers;
}

// The outside policy's decisions are raised first: they show packets, and count decisions, as they are before
// the background policy has decided.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::ask_background(State& s, Tick now) {
  for (const State::Undecided& undecided : s.undecided) {
    const RouteContext context = context_of(s, undecided.packet, undecided.input_vc);
    s.desk->consider(context, undecided.packet, undecided.input_vc, context.came_by(), now);
  }
  s.around.now = now;
  const auto place = static_cast<std::uint32_t>(s.plan.deciders.size());
  if (s.plan.background->scope == DecisionScope::kNowhere) {
    for (const State::Undecided& undecided : s.undecided) {
      follow(s, undecided, now);
    }
  } else if (s.plan.background->seen != nullptr) {
    put_questions<Asker::kSeeing, false>(s, place, now);
  } else {
    put_questions<Asker::kPlain, false>(s, place, now);
  }
}

// Decisions are made a few at a time, as many as the first-level cache holds. As above, it does not matter
// that some decisions are applied before the next are made.
template <Mode mode>
template <typename EventLoop<mode>::Asker asker, bool kShared>
inline void EventLoop<mode>::put_questions(State& s, std::uint32_t decider, Tick now) {
  constexpr bool learning = asker == Asker::kLearner;
  const Decider& who = decider < s.plan.deciders.size() ? s.plan.deciders[decider] : *s.plan.background;
  QuestionSheet* sheet = nullptr;
  if constexpr (asker == Asker::kSeeing) {
    s.sheets.resize(s.plan.deciders.size() + 1);
    State::Sheet& own = s.sheets[decider];
    if (own.rows == nullptr || own.of != s.plan.policies_before) {
      own.rows = std::make_unique<QuestionSheet>(*who.seen, s.first_router, s.num_routers);
      own.of = s.plan.policies_before;
    }
    sheet = own.rows.get();
    sheet->clear();
  }
  auto next = s.undecided.begin();
  while (next != s.undecided.end()) {
    if constexpr (asker == Asker::kSeeing) sheet->clear();
    FixedList<Question, kQuestionsAtOnce> questions;
    for (; next != s.undecided.end() && !questions.full(); ++next) {
      const State::Undecided undecided = *next;
      if constexpr (kShared) {
        if (s.store.messages[undecided.packet].policy != decider) continue;
      }
      const auto number = static_cast<std::uint32_t>(questions.size());
      const Question& question = questions.add_made([&] {
        return context_of<Question>(s, undecided.packet, undecided.input_vc, undecided.packet,
                                    undecided.input_vc, number);
      });
      if constexpr (mode.any() && !learning) {
        const Packet& packet = question.packet();
        if (packet.plan == Plan::kRouted || !has_choice(who.scope, s.plan.topology, packet, question.router(),
                                                        question.group(), question.came_by())) {
          questions.remove_last();
          follow(s, undecided, now);
          continue;
        }
      }
      if constexpr (asker == Asker::kSeeing) {
        s.trackers.touch(question.router(), question.packet().destination_router);
        if (!sheet->add(question, now)) {
          questions.remove_last();
          follow(s, undecided, now);
          continue;
        }
      }
    }
    if constexpr (asker == Asker::kSeeing) s.around.rows = sheet->rows();
    if (questions.size() > 0) ask_and_apply<learning>(s, *who.policy, questions.all(), now);
  }
}

template <Mode mode>
template <bool kLearns>
inline void EventLoop<mode>::ask_and_apply(State& s, const RoutingPolicy& policy,
                                           std::span<const Question> questions, Tick now) {
  policy.decide(questions, std::span{s.answers}.first(questions.size()));
  const Answer* answer = s.answers.data();
  for (const Question& question : questions) {
    Packet& packet = s.store.packets[question.packet_index()];
    if constexpr (kLearns) {
      note_report(packet, answer->reports, answer->target_ns);
      if (answer->port == kNoPort) {  // it has reached its group
        follow(s, {question.packet_index(), question.input_vc()}, now);
        ++answer;
        continue;
      }
    }
    const Hop hop = take_answer(s.plan.paths, packet, question.router(), question.group(), *answer++);
    await_effect(s, question.packet_index(), question.input_vc(), hop, now);
  }
}

// Raises a pending decision; false: the packet has no choice.
template <Mode mode>
inline bool EventLoop<mode>::ask(State& s, const State::Undecided& undecided, Tick now) {
  const RouteContext context = context_of(s, undecided.packet, undecided.input_vc);
  if (!s.desk->raise(context, undecided.packet, undecided.input_vc, context.came_by(), now)) return false;
  if (s.timing.routing_delay > 0) await_effect(s, undecided.packet, undecided.input_vc, {}, now);
  return true;
}

template <Mode mode>
void EventLoop<mode>::answer(State& s, const std::int32_t* actions) {
  constexpr std::uint32_t kAhead = 8;
  DecisionDesk& desk = *s.desk;
  const std::uint32_t count = desk.size();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const std::uint32_t later = desk.pending(i + kAhead).packet;
      prefetch(&s.store.packets[later]);
      prefetch(&s.store.decided[later]);
      desk.touch(later);
    }
    const PendingDecision& asked = desk.pending(i);
    Packet& packet = s.store.packets[asked.packet];
    if (desk.decided_before()) desk.undo(i, packet);
    const Hop hop = desk.answer(i, actions[i], packet, s.timing.credit_delay);
    s.store.decided[asked.packet].hop = hop;
    if (desk.decided_before()) {
      // Without a routing delay the packet requests the crossbar already, at the next clock edge.
      const std::uint32_t router = router_of(s, asked.input_vc);
      if (s.input_vcs[asked.input_vc].head != asked.packet ||
          !s.is_ready(router, index_in(s, asked.input_vc))) {
        continue;
      }
      s.wanted[asked.input_vc] = wanted_of(hop);
    } else if (s.timing.routing_delay == 0) {
      await_effect(s, asked.packet, asked.input_vc, hop, asked.time);
    }
  }
  desk.clear_pending();
}

}  // namespace dragonfly
