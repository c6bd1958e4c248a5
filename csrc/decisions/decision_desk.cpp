#include "decisions/decision_desk.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

constexpr TimePs kTrafficPeriodPs = 1'000'000;

}  // namespace

DecisionDesk::DecisionDesk(const DecisionPlan& plan, OpenDecisions& open, std::uint32_t first_router,
                           std::uint32_t num_routers)
    : plan_{plan},
      open_{open},
      first_router_{first_router},
      row_bytes_{row_bytes(plan)},
      period_{std::max<Tick>(1, kTrafficPeriodPs / plan.quantum_ps)},
      recent_(plan.layout.counts_traffic() ? std::size_t{num_routers} * plan.paths.topology().num_groups()
                                           : 0U),
      minimal_(plan.num_ports),
      log_{row_bytes_},
      reports_{open, plan.first_port, plan.spec.keep_feedback} {
  log_.keep_rows(plan.spec.keep_transitions);
  make_room();
}

void DecisionDesk::make_room() {
  const std::size_t room = std::max<std::size_t>(64, std::size_t{size_} * 2);
  pending_.reserve(room, size_);
  rows_.reserve(room * row_bytes_, size_ * row_bytes_);
  facts_.reserve(room, size_);
  candidates_.reserve(room * plan_.num_candidates, std::size_t{size_} * plan_.num_candidates);
}

void DecisionDesk::begin_step() noexcept {
  if (taken_ || !log_.keeps_rows()) log_.clear();
  taken_ = false;
  first_of_step_ = log_.size();
  delivered_in_step_ = 0;
  latency_in_step_ = 0;
}

std::uint32_t DecisionDesk::count_traffic(std::uint32_t router, std::uint32_t group, Tick now) noexcept {
  if (recent_.empty()) return 0;
  Recent& recent = recent_[std::size_t{router - first_router_} * plan_.paths.topology().num_groups() + group];
  const auto period = static_cast<std::uint32_t>(now / period_);
  if (recent.period != period) {
    recent.last = recent.period + 1 == period ? recent.present : std::uint16_t{0};
    recent.present = 0;
    recent.period = period;
  }
  const std::uint32_t count = std::uint32_t{recent.last} + recent.present;
  if (recent.present < 0xffff) ++recent.present;
  return count;
}

bool DecisionDesk::raise(RouteContext& context, std::uint32_t packet_index, std::uint32_t input_vc,
                         Port input_port, Tick now) {
  const Packet& packet = context.packet();
  const Question question = question_for(plan_, packet, context.router(), context.group());
  if (question == Question::kNone) return false;
  const bool forced = question == Question::kForced;

  const std::uint32_t i = size_;
  std::byte* const row = rows_.data() + i * row_bytes_;
  auto* const features = reinterpret_cast<float*>(row);
  auto* const mask = reinterpret_cast<std::uint8_t*>(features + plan_.layout.num_features());
  Candidate* const candidates = candidates_.data() + std::size_t{i} * plan_.num_candidates;

  // Where it would go by itself; a copy, because following a plan moves it on.
  const Port minimal_port = context.topology().minimal_port(context.router(), packet.destination_router,
                                                            plan_.paths.choice_of(packet));
  Way way{.hop = {.port = minimal_port}};
  if (forced) {
    Packet copy = packet;
    way.hop = plan_.paths.next(copy, context.router(), context.group());
    way.to_detour = copy.plan == Plan::kToDetour;
  }
  std::uint32_t legal = 0;
  if (plan_.spec.action == ActionMode::kPort) {
    legal = port_choices(plan_, context, forced, way.hop.port, mask);
  } else {
    legal = path_choices(plan_, context, forced, way, mask, candidates);
  }
  // Where nothing is legal, the warm-up's policy has sent the packet too far round: it goes on as that has
  // planned.
  if (legal < (plan_.spec.scope == AskScope::kAll ? 1U : 2U)) return false;

  mark_minimal_ports(plan_, context, minimal_port, minimal_.data());
  const std::uint32_t recent = count_traffic(context.router(), packet.destination_group, now);
  plan_.layout.fill(features, context, minimal_.data(), candidates, recent, now);

  const bool ports = plan_.spec.action == ActionMode::kPort;
  const Dragonfly& topology = context.topology();
  pending_.data()[i] = {packet_index, input_vc, context.router(), static_cast<std::uint16_t>(context.group()),
                        forced,       now};
  facts_.data()[i] = {
      .created_ns = plan_.to_ns(packet.created),
      .arrived_ns = plan_.to_ns(packet.arrived),
      .source_host = packet.source_host,
      .destination_host = packet.destination_host,
      .number = packet.number,
      .source_router = topology.router_of_host(packet.source_host),
      .destination_router = packet.destination_router,
      .destination_group = packet.destination_group,
      .input_port = static_cast<std::int16_t>(input_port),
      .minimal_action = static_cast<std::int16_t>(ports ? way.hop.port - plan_.first_port : 0U),
      .hops = packet.hops,
      .vc = packet.vc,
      .minimal = !packet.non_minimal};
  if (plan_.spec.reward != RewardKind::kDelivery && open_.count(packet_index) > 0) {
    complete(packet_index, 0, now, now, decision_id(packet.source_host, packet.number, packet.hops),
             static_cast<std::int32_t>(context.router()), row);
    open_.clear(packet_index);
  }
  if (reports_.keeps()) reports_.raised(packet_index);
  if (++size_ % 64 == 0) make_room();
  return true;
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

void DecisionDesk::delivered(std::uint32_t packet, Tick when, Tick latency) {
  ++delivered_in_step_;
  latency_in_step_ += latency;
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
  } else if (plan_.spec.action == ActionMode::kPort) {
    const auto port = static_cast<Port>(plan_.first_port + index);
    packet.plan = Plan::kMinimal;
    hop = {port, paths.ladder().vc(Stage::kSource, paths.topology().is_global(port), true, false, hops, 0)};
    if (index != static_cast<std::uint32_t>(facts_.data()[i].minimal_action) && !packet.non_minimal) {
      const Dragonfly& topology = paths.topology();
      const std::uint32_t next = topology.neighbor(asked.router, port).router;
      packet.non_minimal = topology.minimal_hops(next, packet.destination_router) + 1U !=
                           topology.minimal_hops(asked.router, packet.destination_router);
    }
  } else {
    const Candidate& chosen = candidates(i)[index];
    if (chosen.kind > 0) PathFollower::set_detour(packet, detour_of(chosen));
    const Stage stage = hops == 0 && paths.ladder().reconsiders() ? Stage::kFirst : Stage::kSource;
    hop = chosen.kind > 0 ? paths.next(packet, asked.router, asked.group, stage)
                          : paths.next(packet, asked.router, asked.group, stage,
                                       static_cast<std::uint32_t>(chosen.minimal_choice));
  }
  const LinkClass link = paths.topology().port_class(hop.port);
  open_.add(asked.packet,
            {.id = decision_id(packet.source_host, packet.number, hops),
             .time = asked.time,
             .agent = static_cast<std::int32_t>(asked.router),
             .action = action,
             .feedback_delay = static_cast<std::uint32_t>(credit_delays[static_cast<std::size_t>(link)])},
            log_.keeps_rows() ? rows_.data() + i * row_bytes_ : nullptr);
  return hop;
}

}  // namespace dragonfly
