#include "simulation/asked_network.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

AskedNetwork::AskedNetwork(SimulationSetup setup, TimePs warmup_ps, TimePs duration_ps)
    : simulation_{std::move(setup)},
      plan_{*simulation_.network().blueprint().decisions},
      has_background_{simulation_.network().blueprint().background.has_value()},
      outcomes_{simulation_.network(), plan_},
      seed_{simulation_.network().blueprint().options.seed},
      warmup_ps_{warmup_ps},
      target_ps_{warmup_ps + duration_ps} {
  if (has_background_) simulation_.network().want({.kind = WantedPackets::Kind::kAtSource});
}

bool AskedNetwork::advance(const std::function<bool()>& keep_going) {
  if (done_ || waiting_ > 0) return true;
  if (!warm_) {
    if (simulation_.time_ps() < warmup_ps_ &&
        simulation_.run_until(warmup_ps_, keep_going) == RunEnd::kInterrupted) {
      return false;
    }
    warm_ = true;
    simulation_.network().start_asking();
    if (warmup_ps_ > 0) simulation_.reset_statistics(true);
    outcomes_.begin_step();
  }
  const Timing& timing = simulation_.network().blueprint().timing;
  const RunGoal goal = simulation_.workload() != nullptr ? RunGoal::kCompletion : RunGoal::kInstant;
  for (;;) {
    RunEnd end = simulation_.run_until(target_ps_, keep_going, goal);
    // A workload that can never complete: the rest of the time is silent.
    if (end == RunEnd::kStuck) end = simulation_.run_until(target_ps_, keep_going);
    if (end == RunEnd::kInterrupted) return false;
    for (Partition& partition : simulation_.network().partitions()) waiting_ += partition.desk().size();
    if (waiting_ > 0) break;
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

bool AskedNetwork::waits() {
  return std::ranges::any_of(simulation_.network().partitions(),
                             [](Partition& partition) { return partition.desk().waits(); });
}

void AskedNetwork::clear_desks() {
  for (Partition& partition : simulation_.network().partitions()) partition.desk().clear_pending();
}

void AskedNetwork::seek() {
  outcomes_.begin_step();
  clear_desks();
  simulation_.network().want({.kind = WantedPackets::Kind::kAtSource});
  waiting_ = 0;
}

void AskedNetwork::follow(std::size_t row) {
  PacketFacts packet;
  std::size_t first = 0;  // row of the partition
  for (Partition& partition : simulation_.network().partitions()) {
    DecisionDesk& desk = partition.desk();
    const std::size_t behind = first + desk.size();
    if (row >= first && row < behind) {
      packet = desk.facts(static_cast<std::uint32_t>(row - first));
      desk.keep_only(static_cast<std::uint32_t>(row - first));
    } else {
      desk.dismiss();
    }
    first = behind;
  }
  simulation_.network().want(
      {.kind = WantedPackets::Kind::kOne, .source_host = packet.source_host, .number = packet.number});
  waiting_ = 1;
}

void AskedNetwork::ask_outside() {
  has_background_ = false;
  if (waiting_ == 0) clear_desks();
  simulation_.network().want({.kind = WantedPackets::Kind::kAll});
}

std::optional<double> AskedNetwork::first_asked_ns() {
  std::optional<Tick> first;
  for (Partition& partition : simulation_.network().partitions()) {
    const DecisionDesk& desk = partition.desk();
    if (desk.waits()) first = std::min(first.value_or(desk.first_time()), desk.first_time());
  }
  if (!first) return std::nullopt;
  return plan_.to_ns(*first);
}

void AskedNetwork::extend(TimePs duration_ps) {
  target_ps_ += duration_ps;
  done_ = false;
  outcomes_.begin_step();
}

void AskedNetwork::begin_drain(TimePs latest_ps, std::string refusal) {
  latest_ps_ = std::max(latest_ps, TimePs{0});
  refusal_ = std::move(refusal);
  draining_ = true;
  done_ = false;
  simulation_.stop_generating();
  outcomes_.begin_step();
}

void AskedNetwork::write(DecisionBatch& batch, std::size_t row) {
  const std::uint32_t features = plan_.layout.num_features();
  const std::uint32_t actions = plan_.num_actions;
  const std::uint32_t candidates = plan_.num_candidates;
  for (Partition& partition : simulation_.network().partitions()) {
    const DecisionDesk& desk = partition.desk();
    const std::uint32_t count = desk.size();
    if (count == 0) continue;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t at = row + i;
      std::copy_n(desk.observation(i), features, batch.observations.data() + at * features);
      std::copy_n(desk.mask(i), actions, batch.mask.data() + at * actions);
      const PendingDecision& asked = desk.pending(i);
      const PacketFacts& facts = desk.facts(i);
      batch.agents.data()[at] = static_cast<std::int32_t>(asked.router);
      batch.ids.data()[at] = decision_id(facts.source_host, facts.number, facts.hops);
      batch.times_ns.data()[at] = plan_.to_ns(asked.time);
    }
    std::copy_n(&desk.facts(0), count, batch.packets.data() + row);
    std::copy_n(desk.candidates(0), std::size_t{count} * candidates,
                batch.candidates.data() + row * candidates);
    row += count;
  }
}

void AskedNetwork::answer(const std::int32_t* answers) {
  outcomes_.begin_step();
  for (Partition& partition : simulation_.network().partitions()) {
    const std::uint32_t count = partition.desk().size();
    partition.answer(answers);
    answers += count;
  }
  waiting_ = 0;
}

void AskedNetwork::draw(std::span<const PacketFacts> packets, std::uint32_t each, double* into) const {
  for (const PacketFacts& facts : packets) {
    RandomStream stream{seed_, Purpose::kLearning, facts.source_host, facts.number, facts.hops};
    for (std::uint32_t k = 0; k < each; ++k) *into++ = stream.uniform();
  }
}

void AskedNetwork::read_state(float* into) {
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
