#include "decisions/decision_desk.hpp"

namespace dragonfly {

DecisionDesk::DecisionDesk(const DecisionPlan& plan, OpenDecisions& open, std::uint32_t first_router,
                           std::uint32_t num_routers)
    : PendingDecisions{plan},
      open_{open},
      writer_{plan, first_router, num_routers},
      log_{row_bytes_},
      reports_{open, plan.first_port, plan.spec.flag("keep_feedback")} {
  log_.keep_rows(plan.spec.flag("keep_transitions"));
}

void DecisionDesk::begin_step() noexcept {
  if (taken_ || !log_.keeps_rows()) log_.clear();
  taken_ = false;
  first_of_step_ = log_.size();
  delivered_in_step_ = 0;
  latency_in_step_ = 0;
}

bool DecisionDesk::raise(const RouteContext& context, std::uint32_t packet_index, std::uint32_t input_vc,
                         Port input_port, Tick now) {
  const Packet& packet = context.packet();
  const Standing standing = standing_of(plan_.asked, context);
  if (standing == Standing::kNone) return false;

  const std::uint32_t i = size_;
  std::byte* const row = rows_.data() + i * row_bytes_;
  Candidate* const candidates = candidates_.data() + std::size_t{i} * plan_.num_candidates;

  Way way;
  if (!writer_.keep(context, standing, now, plan_.rows, row, candidates, way)) return false;

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
      .minimal_action = static_cast<std::int16_t>(plan_.by_port() ? way.hop.port - plan_.first_port : 0U),
      .hops = packet.hops,
      .vc = context.vc(),
      .minimal = !packet.non_minimal,
      .forced = standing == Standing::kForced};
  if (plan_.spec.reward != RewardKind::kDelivery && open_.count(packet_index) > 0) {
    complete(packet_index, 0, now, now, decision_id(packet.source_host, packet.number, packet.hops),
             static_cast<std::int32_t>(context.router()), row);
    open_.clear(packet_index);
  }
  if (reports_.keeps()) reports_.raised(packet_index);
  if (++size_ % 64 == 0) make_room();
  return true;
}

void DecisionDesk::consider(const RouteContext& context, std::uint32_t packet_index, std::uint32_t input_vc,
                            Port input_port, Tick now) {
  if (keep_plan(context.packet())) {
    raise(context, packet_index, input_vc, input_port, now);
    return;
  }
  const Standing standing = standing_of(plan_.asked, context);
  if (standing == Standing::kNone || !writer_.note(context, standing, now)) return;
  note_time(now);
  ++others_;
}

void DecisionDesk::complete(std::uint32_t packet, std::uint32_t i, Tick leg_end, Tick paid_until,
                            std::int64_t next_id, std::int32_t next_agent, const std::byte* next_row) {
  const OpenDecision& decision = open_.head(packet, i);
  log_.add({.id = decision.id,
            .next_id = next_id,
            .time = decision.time,
            .leg = leg_end - decision.time,
            .reward = paid_until - decision.time,
            .feedback = leg_end + decision.feedback_delay,
            .agent = decision.agent,
            .action = decision.action,
            .next_agent = next_agent},
           open_.row(packet, i), next_row);
}

void DecisionDesk::delivered(std::uint32_t packet, Tick when, Tick latency, bool counted) {
  if (counted) {
    ++delivered_in_step_;
    latency_in_step_ += latency;
  }
  const std::uint32_t count = open_.count(packet);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i + 1 == count) {
      complete(packet, i, when, when, -1, -1, nullptr);
    } else {
      const OpenDecision& next = open_.head(packet, i + 1);
      complete(packet, i, next.time, when, next.id, next.agent, open_.row(packet, i + 1));
    }
  }
  open_.clear(packet);
}

Hop DecisionDesk::answer(std::uint32_t i, std::int32_t action, Packet& packet,
                         std::span<const Tick> credit_delays) {
  const PendingDecision& asked = pending_.data()[i];
  const PathFollower& paths = plan_.paths;
  const auto index = static_cast<std::uint32_t>(action);
  const std::uint8_t hops = packet.hops;
  Hop hop;
  if (asked.forced) {
    hop = paths.next(packet, asked.router, asked.group);
  } else {
    Answer answer;
    if (plan_.by_port()) {
      answer.port = static_cast<Port>(plan_.first_port + index);
      answer.shortest = index == static_cast<std::uint32_t>(asked.minimal_action);
    } else {
      answer = answer_of(candidates(i)[index]);
    }
    hop = take_answer(paths, packet, asked.router, asked.group, answer);
  }
  const LinkClass link = paths.topology().port_class(hop.port);
  open_.add(asked.packet,
            {.id = decision_id(packet.source_host, packet.number, hops),
             .time = asked.time,
             .agent = static_cast<std::int32_t>(asked.router),
             .action = action,
             .feedback_delay = static_cast<std::uint32_t>(credit_delays[static_cast<std::size_t>(link)])},
            log_.keeps_rows() ? row(i) : nullptr);
  return hop;
}

}  // namespace dragonfly
