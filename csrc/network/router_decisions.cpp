// Decisions: by the policy, or from outside.
#include "network/router_decisions.hpp"
#include "core/fixed_list.hpp"
#include "core/prefetch.hpp"
#include "network/router_inline.hpp"
#include "routing/choices.hpp"

namespace dragonfly {

RouterDecisions::RouterDecisions(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback,
                                 OpenDecisions* open, std::uint32_t index)
    : RouterPorts{blueprint, store, feedback, open, index},
      around_{.paths = blueprint.paths,
              .tracked = trackers_.numbers(),
              .seed = blueprint.options.seed,
              .quantum_ps = blueprint.timing.quantum_ps,
              .queue_stride = blueprint.queue_stride,
              .credits_at_crossbar = blueprint.shared_output} {}

void RouterDecisions::start_asking() noexcept {
  asking_ = desk_ != nullptr;
  if (plan_.background) trackers_.numbers().policy_trackers = &plan_.background->trackers;
}

// Precondition: the packet stands at `router`.
inline RouteContext RouterDecisions::context_of(const Packet& packet, std::uint32_t router,
                                                std::uint32_t group, Port came_by) {
  const std::size_t first = std::size_t{router - first_router_} * radix_;
  return {around_, packet, router, group, &outputs_[first], &queues_[first * plan_.queue_stride], came_by};
}

// All decisions of an instant: each sees the router before any of them takes effect.
void RouterDecisions::make_decisions(Tick now) {
  if (asking_ && desk_->wants_all()) {
    for (const Undecided& undecided : undecided_) {
      if (!ask(undecided, now)) go_on(undecided, now);
    }
  } else if (asking_) {
    ask_background(now);
  } else if (plan_.deciders.size() > 1) {
    ask_policies_of_jobs(now);
  } else {
    ask_policy<false>(0, now);
  }
  undecided_.clear();
}

template <bool kShared>
inline void RouterDecisions::ask_policy(std::uint32_t decider, Tick now) {
  const Decider& asked = plan_.deciders[decider];
  if (asked.scope == DecisionScope::kNowhere) {
    for (const Undecided& undecided : undecided_) {
      if (!kShared || messages_[undecided.packet].policy == decider) go_on(undecided, now);
    }
    return;
  }
  around_.now = now;
  if (plan_.learner != nullptr) {
    put_questions<Asker::kLearner, false>(decider, now);  // it never shares
  } else if (asked.seen != nullptr) {
    put_questions<Asker::kSeeing, kShared>(decider, now);
  } else {
    put_questions<Asker::kPlain, kShared>(decider, now);
  }
}

// One after the other: an answer changes nothing but its packet before the instant is over, so that all see
// the network before any answer takes effect, as with one policy.
void RouterDecisions::ask_policies_of_jobs(Tick now) {
  TrackedNumbers& tracked = trackers_.numbers();
  for (std::uint32_t decider = 0; decider < plan_.deciders.size(); ++decider) {
    tracked.policy_trackers = &plan_.deciders[decider].trackers;
    ask_policy<true>(decider, now);
  }
  tracked.policy_trackers = &plan_.deciders.front().trackers;
}

// The desk looks first: it shows packets, and counts questions, as they are before anybody has decided.
void RouterDecisions::ask_background(Tick now) {
  for (const Undecided& undecided : undecided_) {
    const InputVc& input = input_vcs_[undecided.input_vc];
    const std::uint32_t router = first_router_ + input.router;
    const RouteContext context =
        context_of(packets_[undecided.packet], router, plan_.topology.group_of(router), input.port);
    desk_->consider(context, undecided.packet, undecided.input_vc, input.port, now);
  }
  around_.now = now;
  const auto place = static_cast<std::uint32_t>(plan_.deciders.size());
  if (plan_.background->scope == DecisionScope::kNowhere) {
    for (const Undecided& undecided : undecided_) go_on(undecided, now);
  } else if (plan_.background->seen != nullptr) {
    put_questions<Asker::kSeeing, false>(place, now);
  } else {
    put_questions<Asker::kPlain, false>(place, now);
  }
}

// What nobody is asked about goes on at once. The others are asked a few at a time, which the first-level
// cache holds: as above, it does not matter that some have their answer when the next are asked.
template <RouterDecisions::Asker asker, bool kShared>
void RouterDecisions::put_questions(std::uint32_t decider, Tick now) {
  constexpr bool learns = asker == Asker::kLearner;
  const Decider& who = decider < plan_.deciders.size() ? plan_.deciders[decider] : *plan_.background;
  QuestionSheet* sheet = nullptr;
  if constexpr (asker == Asker::kSeeing) {
    sheets_.resize(plan_.deciders.size() + 1);
    Sheet& own = sheets_[decider];
    if (own.rows == nullptr || own.of != plan_.policies_before) {
      own.rows = std::make_unique<QuestionSheet>(*who.seen, first_router_, num_routers_);
      own.of = plan_.policies_before;
    }
    sheet = own.rows.get();
    sheet->clear();
  }
  auto next = undecided_.begin();
  while (next != undecided_.end()) {
    if constexpr (asker == Asker::kSeeing) sheet->clear();
    FixedList<Question, kQuestionsAtOnce> questions;
    for (; next != undecided_.end() && !questions.full(); ++next) {
      const Undecided undecided = *next;
      if constexpr (kShared) {
        if (messages_[undecided.packet].policy != decider) continue;
      }
      const Packet& packet = packets_[undecided.packet];
      const InputVc& input = input_vcs_[undecided.input_vc];
      const std::uint32_t router = first_router_ + input.router;
      const std::uint32_t group = plan_.topology.group_of(router);
      bool asked = packet.plan != Plan::kRouted;
      if constexpr (learns) {  // everywhere, while the packet has not reached its group
        asked =
            asked && (packet.destination_group != group || hears_arrival(plan_.topology, packet, input.port));
      } else {
        asked = asked && has_choice(who.scope, plan_.topology, packet, router, group, input.port);
      }
      if (!asked) {
        go_on(undecided, now);
        continue;
      }
      if constexpr (learns) {  // its row has time to come while the other questions are put
        if (packet.destination_group != group) {
          plan_.learner->touch(router, plan_.learner->row_of(packet, group));
        }
      }
      const RouteContext context = context_of(packet, router, group, input.port);
      if constexpr (asker == Asker::kSeeing) {
        trackers_.touch(router, packet.destination_router);
        if (!sheet->add(context, now)) {
          go_on(undecided, now);
          continue;
        }
      }
      questions.add(context, undecided.packet, undecided.input_vc,
                    static_cast<std::uint32_t>(questions.size()));
    }
    if constexpr (asker == Asker::kSeeing) around_.rows = sheet->rows();
    if (questions.size() > 0) ask_and_apply<learns>(*who.policy, questions.all(), now);
  }
}

template <bool kLearns>
inline void RouterDecisions::ask_and_apply(const RoutingPolicy& policy, std::span<const Question> questions,
                                           Tick now) {
  policy.decide(questions, std::span{answers_}.first(questions.size()));
  const Answer* answer = answers_.data();
  for (const Question& question : questions) {
    Packet& packet = packets_[question.packet_index()];
    if constexpr (kLearns) HopFeedback::note_report(packet, *answer);
    const Hop hop = take_answer(plan_.paths, packet, question.router(), question.group(), *answer++);
    packet.out_port = hop.port;
    packet.out_vc = hop.vc;
    await_effect(question.packet_index(), question.input_vc(), now);
  }
}

// Nobody is asked: the packet follows its plan.
inline void RouterDecisions::go_on(const Undecided& undecided, Tick now) {
  Packet& packet = packets_[undecided.packet];
  const std::uint32_t router = first_router_ + input_vcs_[undecided.input_vc].router;
  Hop hop;
  if (packet.plan == Plan::kRouted) {
    hop = plan_.paths.routed(packet, router,
                             plan_.source.routes().subspan(packet.detour_router, packet.detour_group));
  } else {
    hop = take_answer(plan_.paths, packet, router, plan_.topology.group_of(router), {});
  }
  packet.out_port = hop.port;
  packet.out_vc = hop.vc;
  await_effect(undecided.packet, undecided.input_vc, now);
}

// Puts a decision on the desk; false: nobody needs to be asked.
bool RouterDecisions::ask(const Undecided& undecided, Tick now) {
  const InputVc& input = input_vcs_[undecided.input_vc];
  const std::uint32_t router = first_router_ + input.router;
  const RouteContext context =
      context_of(packets_[undecided.packet], router, plan_.topology.group_of(router), input.port);
  if (!desk_->raise(context, undecided.packet, undecided.input_vc, input.port, now)) return false;
  if (plan_.timing.routing_delay > 0) await_effect(undecided.packet, undecided.input_vc, now);
  return true;
}

void RouterDecisions::answer(const std::int32_t* actions) {
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
    if (desk_->decided_before()) desk_->undo(i, packet);
    const Hop hop = desk_->answer(i, actions[i], packet, plan_.timing.credit_delay);
    packet.out_port = hop.port;
    packet.out_vc = hop.vc;
    if (desk_->decided_before()) {
      // Without a routing delay it asks for the crossbar already, at the next clock edge.
      InputVc& input = input_vcs_[asked.input_vc];
      if (input.head != asked.packet || input.state != HeadState::kReady) continue;
      input.out_port = hop.port;
      input.out_vc = hop.vc;
    } else if (plan_.timing.routing_delay == 0) {
      await_effect(asked.packet, asked.input_vc, asked.time);
    }
  }
  desk_->clear_pending();
}

}  // namespace dragonfly
