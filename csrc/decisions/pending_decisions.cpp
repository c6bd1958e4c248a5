#include "decisions/pending_decisions.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

constexpr TimePs kArrivalPeriodPs = 1'000'000;

Tick credit_of(const DecisionPlan& plan) {
  return static_cast<Tick>(plan.environment.option("latency_credit_ps")) / plan.quantum_ps;
}

}  // namespace

PendingDecisions::PendingDecisions(const DecisionPlan& plan, OpenDecisions& open, std::uint32_t first_router,
                                   std::uint32_t num_routers)
    : PendingRows{plan},
      open_{open},
      writer_{plan, first_router, num_routers},
      log_{row_bytes_, plan.environment.flag("keep_transitions")},
      outcomes_{plan.environment.flag("keep_outcomes")},
      reports_{open, plan.first_port, plan.environment.flag("keep_feedback")},
      tallies_{plan.paths.topology().num_routers(), credit_of(plan)},
      arrivals_{num_routers, plan.paths.topology().num_groups(),
                std::max<Tick>(1, kArrivalPeriodPs / plan.quantum_ps)},
      first_router_{first_router} {}

PendingDecisions::Holder PendingDecisions::holder(std::uint32_t packet_index, const Packet& packet,
                                                  Tick created) const noexcept {
  if (const std::uint32_t open = open_.count(packet_index); open > 0) {
    const OpenDecision& last = open_.head(packet_index, open - 1);
    return {static_cast<std::uint32_t>(last.agent), last.time};
  }
  return {plan_.paths.topology().router_of_host(packet.source_host), created};
}

bool PendingDecisions::raise(const RouteContext& context, std::uint32_t packet_index, std::uint32_t input_vc,
                             Port input_port, Tick now) {
  const Packet& packet = context.packet();
  const DecisionStatus status = status_of(plan_.spec, context);
  if (status == DecisionStatus::kNone) return false;

  const std::uint32_t i = size_;
  std::byte* const row = rows_.data() + i * row_bytes_;
  Candidate* const candidates = candidates_.data() + std::size_t{i} * plan_.num_candidates;

  PlannedHop planned;
  if (!writer_.keep(context, status, now, plan_.rows, row, candidates, planned)) return false;

  note_time(now);
  pending_.data()[i] = {
      .packet = packet_index,
      .input_vc = input_vc,
      .router = context.router(),
      .source_host = packet.source_host,
      .number = packet.number,
      .destination_host = packet.destination_host,
      .destination_router = packet.destination_router,
      .arrived = packet.arrived,
      .created = context.times().created,
      .time = now,
      .group = static_cast<std::uint16_t>(context.group()),
      .destination_group = packet.destination_group,
      .input_port = static_cast<std::int16_t>(input_port),
      .minimal_action = static_cast<std::int16_t>(plan_.by_port() ? planned.hop.port - plan_.first_port : 0U),
      .hops = packet.hops,
      .vc = context.vc(),
      .minimal = !packet.non_minimal,
      .forced = status == DecisionStatus::kForced};
  if (selects_all()) {
    const Holder last = holder(packet_index, packet, context.times().created);
    tallies_.hand_over(last.router, last.since, context.router(), now);
  }
  if (plan_.environment.reward == RewardKind::kHop && open_.count(packet_index) > 0) {
    const NextDecision next{decision_id(packet.source_host, packet.number, packet.hops),
                            static_cast<std::int32_t>(context.router()), row};
    complete(packet_index, 0, now, &next);
    open_.clear(packet_index);
  }
  if (reports_.keeps()) reports_.raised(packet_index);
  if (++size_ % 64 == 0) make_room();
  return true;
}

void PendingDecisions::consider(const RouteContext& context, std::uint32_t packet_index,
                                std::uint32_t input_vc, Port input_port, Tick now) {
  if (keep_plan(context.packet())) {
    raise(context, packet_index, input_vc, input_port, now);
    return;
  }
  const DecisionStatus status = status_of(plan_.spec, context);
  if (status == DecisionStatus::kNone || !writer_.note(context, status, now)) return;
  note_time(now);
  ++others_;
}

void PendingDecisions::complete(std::uint32_t packet_index, std::uint32_t i, Tick end,
                                const NextDecision* next, bool truncated) {
  const OpenDecision& decision = open_.head(packet_index, i);
  const std::int64_t next_id = next != nullptr ? next->id : std::int64_t{-1};
  if (outcomes_.keeps()) {
    outcomes_.add({.id = decision.id,
                   .next_id = next_id,
                   .leg = end - decision.time,
                   .agent = decision.agent,
                   .truncated = truncated});
  }
  if (!log_.keeps()) return;
  log_.add({.id = decision.id,
            .next_id = next_id,
            .time = decision.time,
            .leg = end - decision.time,
            .feedback = end + decision.feedback_delay,
            .agent = decision.agent,
            .action = decision.action,
            .next_agent = next != nullptr ? next->agent : -1,
            .truncated = truncated},
           open_.row(packet_index, i), next != nullptr ? next->row : nullptr);
}

void PendingDecisions::delivered(std::uint32_t packet_index, const Packet& packet, Tick created, Tick when) {
  const Holder last = holder(packet_index, packet, created);
  tallies_.deliver(last.router, last.since, plan_.paths.topology().router_of_host(packet.source_host),
                   created, when);
  const std::uint32_t count = open_.count(packet_index);
  for (std::uint32_t i = 0; i < count; ++i) complete(packet_index, i, when, nullptr);
  open_.clear(packet_index);
}

void PendingDecisions::truncate(std::uint32_t packet_index, Tick now) {
  const std::uint32_t count = open_.count(packet_index);
  for (std::uint32_t i = 0; i < count; ++i) complete(packet_index, i, now, nullptr, true);
}

Hop PendingDecisions::apply(std::uint32_t i, std::int32_t action, Packet& packet, const PathFollower& paths,
                            std::span<const Tick> credit_delays) {
  const PendingDecision& decision = pending_.data()[i];
  const auto index = static_cast<std::uint32_t>(action);
  const std::uint8_t hops = packet.hops;
  Hop hop;
  if (decision.forced) {
    hop = paths.next(packet, decision.router, decision.group);
  } else {
    RouteChoice choice;
    if (plan_.by_port()) {
      choice.port = static_cast<Port>(plan_.first_port + index);
      choice.shortest = index == static_cast<std::uint32_t>(decision.minimal_action);
    } else {
      choice = choice_of_action(candidates(i)[index]);
    }
    hop = apply_choice(paths, packet, decision.router, decision.group, choice);
  }
  const LinkClass link = paths.topology().port_class(hop.port);
  open_.add(decision.packet,
            {.id = decision_id(packet.source_host, packet.number, hops),
             .time = decision.time,
             .agent = static_cast<std::int32_t>(decision.router),
             .action = action,
             .feedback_delay = static_cast<std::uint32_t>(credit_delays[static_cast<std::size_t>(link)])},
            log_.keeps() ? row(i) : nullptr);
  return hop;
}

}  // namespace dragonfly
