#include "simulation/controlled_network.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

ControlledNetwork::ControlledNetwork(SimulationSetup setup, TimePs warmup_ps, TimePs duration_ps)
    : simulation_{std::move(setup)},
      plan_{*simulation_.network().blueprint().deciders.outside},
      has_background_{simulation_.network().blueprint().deciders.background.has_value()},
      outcomes_{simulation_.network(), plan_},
      seed_{simulation_.network().blueprint().options.seed},
      warmup_ps_{warmup_ps},
      target_ps_{warmup_ps + duration_ps} {
  if (has_background_) simulation_.network().select({.kind = PacketSelection::Kind::kAtSource});
}

bool ControlledNetwork::advance(const std::function<bool()>& keep_going) {
  if (done_ || !waiting_.empty()) return true;
  if (!warm_) {
    if (simulation_.time_ps() < warmup_ps_ &&
        simulation_.run_until(warmup_ps_, keep_going) == RunEnd::kInterrupted) {
      return false;
    }
    warm_ = true;
    simulation_.network().start_external();
    if (warmup_ps_ > 0) simulation_.reset_statistics();
    outcomes_.begin(warmup_ps_);
  }
  const Timing& timing = simulation_.network().blueprint().timing;
  const bool uncollected = outcomes_.transitions() > 0;
  const RunGoal goal = simulation_.workload() != nullptr ? RunGoal::kCompletion : RunGoal::kTime;
  for (;;) {
    RunEnd end = simulation_.run_until(target_ps_, keep_going, goal);
    // A workload that can never complete: the rest of the time is silent.
    if (end == RunEnd::kStuck) end = simulation_.run_until(target_ps_, keep_going);
    if (end == RunEnd::kInterrupted) return false;
    order_waiting();
    if (!waiting_.empty()) break;
    if (has_background_ && waits()) {
      if (!uncollected && outcomes_.transitions() > 0) break;
      clear_pending_decisions();
      continue;
    }
    if (end == RunEnd::kComplete || !draining_ || simulation_.empty()) {
      done_ = true;
      simulation_.network().receive_messages();
      outcomes_.truncate(simulation_.network().now());
      break;
    }
    const TimePs slice = timing.lookahead * timing.quantum_ps;
    if (target_ps_ > latest_ps_ - slice) throw ConfigError{refusal_};
    target_ps_ += slice;
  }
  outcomes_.limit_kept();
  return true;
}

void ControlledNetwork::archive(Archive& archive) {
  archive(simulation_, target_ps_, latest_ps_, refusal_, warm_, draining_, outcomes_);
  bool done = done_;
  archive(done);
  done_ = done;
  if (!archive.reads()) return;
  waiting_.clear();
  if (warm_) order_waiting();
}

bool ControlledNetwork::waits() {
  return std::ranges::any_of(simulation_.network().partitions(),
                             [](Partition& partition) { return partition.pending().waits(); });
}

void ControlledNetwork::clear_pending_decisions() {
  for (Partition& partition : simulation_.network().partitions()) partition.pending().clear_pending();
}

void ControlledNetwork::order_waiting() {
  waiting_.clear();
  std::uint32_t number = 0;
  for (Partition& partition : simulation_.network().partitions()) {
    const PendingDecisions& pending = partition.pending();
    for (std::uint32_t i = 0; i < pending.size(); ++i) {
      waiting_.add({pending.decision_at(i).id(), number, i});
    }
    ++number;
  }
  waiting_.sort(simulation_.topology().num_hosts());
}

void ControlledNetwork::seek() {
  clear_pending_decisions();
  simulation_.network().select({.kind = PacketSelection::Kind::kAtSource});
  waiting_.clear();
}

void ControlledNetwork::follow(std::size_t row) {
  const DecisionOrder::Row followed = waiting_[row];
  std::vector<Partition>& partitions = simulation_.network().partitions();
  PendingDecisions& kept = partitions[followed.partition].pending();
  const PendingDecision packet = kept.decision_at(followed.index);
  kept.keep_only(followed.index);
  for (Partition& partition : partitions) {
    if (&partition.pending() != &kept) partition.pending().dismiss();
  }
  simulation_.network().select(
      {.kind = PacketSelection::Kind::kOne, .source_host = packet.source_host, .number = packet.number});
  order_waiting();
}

std::optional<double> ControlledNetwork::first_decision_ns() {
  std::optional<Tick> first;
  for (Partition& partition : simulation_.network().partitions()) {
    const PendingDecisions& pending = partition.pending();
    if (pending.waits()) first = std::min(first.value_or(pending.first_time()), pending.first_time());
  }
  if (!first) return std::nullopt;
  return plan_.to_ns(*first);
}

void ControlledNetwork::extend(TimePs duration_ps) {
  target_ps_ += duration_ps;
  done_ = false;
}

void ControlledNetwork::begin_drain(TimePs latest_ps, std::string refusal) {
  latest_ps_ = std::max(latest_ps, TimePs{0});
  refusal_ = std::move(refusal);
  draining_ = true;
  done_ = false;
  simulation_.stop_generating();
}

void ControlledNetwork::write(DecisionBatch& batch, std::size_t row) {
  const std::uint32_t features = plan_.layout.num_features();
  const std::uint32_t actions = plan_.num_actions;
  const std::uint32_t candidates = plan_.num_candidates;
  std::vector<Partition>& partitions = simulation_.network().partitions();
  for (std::size_t k = 0; k < waiting_.size(); ++k) {
    if (k + DecisionOrder::kAhead < waiting_.size()) {
      const DecisionOrder::Row& later = waiting_[k + DecisionOrder::kAhead];
      partitions[later.partition].pending().prefetch_row(later.index);
    }
    const auto& [id, partition, i] = waiting_[k];
    const PendingDecisions& pending = partitions[partition].pending();
    plan_.rows.unpack(pending.row(i), batch.observations.data() + row * features,
                      batch.mask.data() + row * actions);
    const PendingDecision& decision = pending.decision_at(i);
    batch.agents.data()[row] = static_cast<std::int32_t>(decision.router);
    batch.ids.data()[row] = id;
    batch.times_ns.data()[row] = plan_.to_ns(decision.time);
    pending.write_facts(i, batch.packets.data()[row]);
    std::copy_n(pending.candidates(i), candidates, batch.candidates.data() + row * candidates);
    ++row;
  }
}

void ControlledNetwork::hand_out(const std::int32_t* actions) {
  std::vector<Partition>& partitions = simulation_.network().partitions();
  std::vector<std::int32_t*> firsts;
  actions_.resize(waiting_.size());
  std::int32_t* first = actions_.data();
  for (Partition& partition : partitions) {
    firsts.push_back(first);
    first += partition.pending().size();
  }
  for (const DecisionOrder::Row& row : waiting_.rows()) firsts[row.partition][row.index] = *actions++;
  for (std::size_t i = 0; i < partitions.size(); ++i) partitions[i].decide(firsts[i]);
  waiting_.clear();
}

void ControlledNetwork::draw(std::span<const PacketFacts> packets, std::uint32_t each, double* into) const {
  for (const PacketFacts& facts : packets) {
    RandomStream stream{seed_, Purpose::kLearning, facts.source_host, facts.number, facts.hops};
    for (std::uint32_t k = 0; k < each; ++k) *into++ = stream.uniform();
  }
}

void ControlledNetwork::read_state(float* into) {
  const std::uint32_t radix = simulation_.topology().radix();
  const std::uint32_t width = state_width();
  const auto passed = static_cast<double>(simulation_.network().now() * plan_.quantum_ps - warmup_ps_);
  const auto over =
      static_cast<float>(std::clamp(passed / static_cast<double>(target_ps_ - warmup_ps_), 0.0, 1.0));
  for (Partition& partition : simulation_.network().partitions()) {
    float* row = into + std::size_t{partition.first_router()} * width;
    for (std::uint32_t i = 0; i < partition.num_routers(); ++i, row += width) {
      plan_.layout.fill_state(row, partition.state().ports.of_router(i));
      row[width - 1] = over;
    }
  }
  outcomes_.read_load(into + radix, width, static_cast<float>(radix));
}

}  // namespace dragonfly
