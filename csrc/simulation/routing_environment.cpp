#include "simulation/routing_environment.hpp"

#include <algorithm>
#include <utility>

namespace dragonfly {

RoutingEnvironment::RoutingEnvironment(SimulationSetup setup, TimePs warmup_ps, TimePs duration_ps)
    : simulation_{std::move(setup)},
      plan_{*simulation_.network().blueprint().decisions},
      has_background_{simulation_.network().blueprint().background.has_value()},
      outcomes_{simulation_.network(), plan_},
      seed_{simulation_.network().blueprint().options.seed},
      warmup_ps_{warmup_ps},
      target_ps_{warmup_ps + duration_ps} {
  if (has_background_) simulation_.network().want({.kind = WantedPackets::Kind::kAtSource});
}

bool RoutingEnvironment::advance(const std::function<bool()>& keep_going) {
  if (done_ || batch_.size > 0) return true;
  if (!warm_) {
    if (simulation_.time_ps() < warmup_ps_ &&
        simulation_.run_until(warmup_ps_, keep_going) == RunEnd::kInterrupted) {
      return false;
    }
    warm_ = true;
    simulation_.network().start_asking();
    if (warmup_ps_ > 0) simulation_.reset_statistics();
    outcomes_.begin_step();
  }
  const Timing& timing = simulation_.network().blueprint().timing;
  const RunGoal goal = simulation_.closed_loop() ? RunGoal::kCompletion : RunGoal::kInstant;
  for (;;) {
    RunEnd end = simulation_.run_until(target_ps_, keep_going, goal);
    // A workload that can never complete: the rest of the time is silent.
    if (end == RunEnd::kStuck) end = simulation_.run_until(target_ps_, keep_going);
    if (end == RunEnd::kInterrupted) return false;
    collect();
    if (batch_.size > 0) break;
    if (has_background_ && waits()) {
      if (outcomes_.transitions() > 0) break;
      clear_desks();
      continue;
    }
    if (end == RunEnd::kComplete) {
      done_ = true;
      break;
    }
    if (!draining_ || simulation_.empty()) {
      done_ = true;
      break;
    }
    const TimePs slice = timing.lookahead * timing.quantum_ps;
    if (target_ps_ > latest_ps_ - slice) throw ConfigError{refusal_};
    target_ps_ += slice;
  }
  outcomes_.end_step();
  return true;
}

void RoutingEnvironment::extend(TimePs duration_ps) {
  target_ps_ += duration_ps;
  done_ = false;
  outcomes_.begin_step();
}

void RoutingEnvironment::begin_drain(TimePs latest_ps, std::string refusal) {
  latest_ps_ = std::max(latest_ps, TimePs{0});
  refusal_ = std::move(refusal);
  draining_ = true;
  done_ = false;
  simulation_.stop_generating();
  outcomes_.begin_step();
}

void RoutingEnvironment::collect() {
  std::size_t size = 0;
  auto& partitions = simulation_.network().partitions();
  for (Partition& partition : partitions) size += partition.desk().size();
  batch_.size = size;
  if (size == 0) return;
  const std::uint32_t features = plan_.layout.num_features();
  const std::uint32_t actions = plan_.num_actions;
  const std::uint32_t candidates = plan_.num_candidates;
  batch_.observations.reserve(size * features, 0);
  batch_.mask.reserve(size * actions, 0);
  batch_.agents.reserve(size, 0);
  batch_.ids.reserve(size, 0);
  batch_.times_ns.reserve(size, 0);
  batch_.packets.reserve(size, 0);
  batch_.candidates.reserve(size * candidates, 0);
  std::size_t row = 0;
  for (Partition& partition : partitions) {
    const DecisionDesk& desk = partition.desk();
    const std::uint32_t count = desk.size();
    if (count == 0) continue;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t at = row + i;
      std::copy_n(desk.observation(i), features, batch_.observations.data() + at * features);
      std::copy_n(desk.mask(i), actions, batch_.mask.data() + at * actions);
      const PendingDecision& asked = desk.pending(i);
      const PacketFacts& facts = desk.facts(i);
      batch_.agents.data()[at] = static_cast<std::int32_t>(asked.router);
      batch_.ids.data()[at] = decision_id(facts.source_host, facts.number, facts.hops);
      batch_.times_ns.data()[at] = plan_.to_ns(asked.time);
    }
    std::copy_n(&desk.facts(0), count, batch_.packets.data() + row);
    std::copy_n(desk.candidates(0), std::size_t{count} * candidates,
                batch_.candidates.data() + row * candidates);
    row += count;
  }
}

std::optional<IllegalAnswer> RoutingEnvironment::take_answers(std::span<const std::int64_t> actions) {
  const std::uint8_t* mask = batch_.mask.data();
  answers_.resize(actions.size());
  for (std::size_t i = 0; i < actions.size(); ++i, mask += plan_.num_actions) {
    const std::int64_t given = __atomic_load_n(&actions[i], __ATOMIC_RELAXED);  // others may write to it
    const auto action = static_cast<std::uint64_t>(given);  // negative ones become too large
    if (action >= plan_.num_actions || mask[action] == 0) return IllegalAnswer{i, given};
    answers_[i] = static_cast<std::int32_t>(action);
  }
  return std::nullopt;
}

bool RoutingEnvironment::waits() {
  return std::ranges::any_of(simulation_.network().partitions(),
                             [](Partition& partition) { return partition.desk().waits(); });
}

void RoutingEnvironment::clear_desks() {
  for (Partition& partition : simulation_.network().partitions()) partition.desk().clear_pending();
}

void RoutingEnvironment::seek() {
  outcomes_.begin_step();
  clear_desks();
  simulation_.network().want({.kind = WantedPackets::Kind::kAtSource});
  batch_.size = 0;
  ++batches_answered_;
}

void RoutingEnvironment::follow(std::size_t row) {
  const PacketFacts packet = batch_.packets.data()[row];
  std::size_t first = 0;  // row of the partition
  for (Partition& partition : simulation_.network().partitions()) {
    DecisionDesk& desk = partition.desk();
    const std::size_t behind = first + desk.size();
    if (row >= first && row < behind) {
      desk.keep_only(static_cast<std::uint32_t>(row - first));
    } else {
      desk.dismiss();
    }
    first = behind;
  }
  simulation_.network().want(
      {.kind = WantedPackets::Kind::kOne, .source_host = packet.source_host, .number = packet.number});
  ++batches_answered_;
  collect();
}

void RoutingEnvironment::ask_outside() {
  has_background_ = false;
  if (batch_.size == 0) clear_desks();
  simulation_.network().want({.kind = WantedPackets::Kind::kAll});
}

void RoutingEnvironment::answer() {
  const std::int32_t* next = answers_.data();
  outcomes_.begin_step();
  for (Partition& partition : simulation_.network().partitions()) {
    const std::uint32_t count = partition.desk().size();
    partition.answer(next);
    next += count;
  }
  batch_.size = 0;
  ++batches_answered_;
}

double RoutingEnvironment::time_ns() {
  if (batch_.size > 0 || has_background_) {
    Tick first = Blueprint::kNeverTick;
    for (Partition& partition : simulation_.network().partitions()) {
      if (partition.desk().waits()) first = std::min(first, partition.desk().first_time());
    }
    if (first != Blueprint::kNeverTick) return plan_.to_ns(first);
  }
  return static_cast<double>(simulation_.time_ps()) / static_cast<double>(kPsPerNs);
}

void RoutingEnvironment::draw(double* into, std::uint32_t each) const {
  for (std::size_t i = 0; i < batch_.size; ++i) {
    const PacketFacts& facts = batch_.packets.data()[i];
    RandomStream stream{seed_, Purpose::kLearning, facts.source_host, facts.number, facts.hops};
    for (std::uint32_t k = 0; k < each; ++k) *into++ = stream.uniform();
  }
}

void RoutingEnvironment::read_state(float* into) {
  const std::uint32_t radix = simulation_.topology().radix();
  for (Partition& partition : simulation_.network().partitions()) {
    const OutputPort* const ports = partition.output_ports().data();
    float* const first = into + std::size_t{partition.first_router()} * radix;
    for (std::uint32_t i = 0; i < partition.num_routers(); ++i) {
      plan_.layout.fill_state(first + std::size_t{i} * radix, ports + std::size_t{i} * radix);
    }
  }
}

}  // namespace dragonfly
