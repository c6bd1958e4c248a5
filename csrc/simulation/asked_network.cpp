#include "simulation/asked_network.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

namespace {

constexpr std::size_t kAhead = 8;  // rows that are fetched before they are copied

}  // namespace

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
  if (done_ || !waiting_.empty()) return true;
  if (!warm_) {
    if (simulation_.time_ps() < warmup_ps_ &&
        simulation_.run_until(warmup_ps_, keep_going) == RunEnd::kInterrupted) {
      return false;
    }
    warm_ = true;
    simulation_.network().start_asking();
    if (warmup_ps_ > 0) simulation_.reset_statistics(true);
    outcomes_.begin(warmup_ps_);
  }
  const Timing& timing = simulation_.network().blueprint().timing;
  const bool uncollected = outcomes_.transitions() > 0;
  const RunGoal goal = simulation_.workload() != nullptr ? RunGoal::kCompletion : RunGoal::kInstant;
  for (;;) {
    RunEnd end = simulation_.run_until(target_ps_, keep_going, goal);
    // A workload that can never complete: the rest of the time is silent.
    if (end == RunEnd::kStuck) end = simulation_.run_until(target_ps_, keep_going);
    if (end == RunEnd::kInterrupted) return false;
    order_waiting();
    if (!waiting_.empty()) break;
    if (has_background_ && waits()) {
      if (!uncollected && outcomes_.transitions() > 0) break;
      clear_desks();
      continue;
    }
    if (end == RunEnd::kComplete || !draining_ || simulation_.empty()) {
      done_ = true;
      simulation_.network().take_in_mail();
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

void AskedNetwork::archive(Archive& archive) {
  archive(simulation_, target_ps_, latest_ps_, refusal_, warm_, draining_, outcomes_);
  bool done = done_;
  archive(done);
  done_ = done;
  if (!archive.reads()) return;
  waiting_.clear();
  if (warm_) order_waiting();
}

bool AskedNetwork::waits() {
  return std::ranges::any_of(simulation_.network().partitions(),
                             [](Partition& partition) { return partition.desk().waits(); });
}

void AskedNetwork::clear_desks() {
  for (Partition& partition : simulation_.network().partitions()) partition.desk().clear_pending();
}

void AskedNetwork::order_waiting() {
  waiting_.clear();
  std::uint32_t number = 0;
  for (Partition& partition : simulation_.network().partitions()) {
    const DecisionDesk& desk = partition.desk();
    for (std::uint32_t i = 0; i < desk.size(); ++i) {
      waiting_.add({desk.pending(i).id(), number, i});
    }
    ++number;
  }
  waiting_.sort(simulation_.topology().num_hosts());
}

void AskedNetwork::seek() {
  clear_desks();
  simulation_.network().want({.kind = WantedPackets::Kind::kAtSource});
  waiting_.clear();
}

void AskedNetwork::follow(std::size_t row) {
  const DecisionOrder::Row followed = waiting_[row];
  std::vector<Partition>& partitions = simulation_.network().partitions();
  DecisionDesk& kept = partitions[followed.partition].desk();
  const PendingDecision packet = kept.pending(followed.index);
  kept.keep_only(followed.index);
  for (Partition& partition : partitions) {
    if (&partition.desk() != &kept) partition.desk().dismiss();
  }
  simulation_.network().want(
      {.kind = WantedPackets::Kind::kOne, .source_host = packet.source_host, .number = packet.number});
  order_waiting();
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
}

void AskedNetwork::begin_drain(TimePs latest_ps, std::string refusal) {
  latest_ps_ = std::max(latest_ps, TimePs{0});
  refusal_ = std::move(refusal);
  draining_ = true;
  done_ = false;
  simulation_.stop_generating();
}

void AskedNetwork::write(DecisionBatch& batch, std::size_t row) {
  const std::uint32_t features = plan_.layout.num_features();
  const std::uint32_t actions = plan_.num_actions;
  const std::uint32_t candidates = plan_.num_candidates;
  std::vector<Partition>& partitions = simulation_.network().partitions();
  for (std::size_t k = 0; k < waiting_.size(); ++k) {
    if (k + kAhead < waiting_.size()) {
      const DecisionOrder::Row& later = waiting_[k + kAhead];
      partitions[later.partition].desk().touch_row(later.index);
    }
    const auto& [id, partition, i] = waiting_[k];
    const DecisionDesk& desk = partitions[partition].desk();
    plan_.rows.unpack(desk.row(i), batch.observations.data() + row * features,
                      batch.mask.data() + row * actions);
    const PendingDecision& asked = desk.pending(i);
    batch.agents.data()[row] = static_cast<std::int32_t>(asked.router);
    batch.ids.data()[row] = id;
    batch.times_ns.data()[row] = plan_.to_ns(asked.time);
    desk.write_facts(i, batch.packets.data()[row]);
    std::copy_n(desk.candidates(i), candidates, batch.candidates.data() + row * candidates);
    ++row;
  }
}

void AskedNetwork::answer(const std::int32_t* answers) {
  std::vector<Partition>& partitions = simulation_.network().partitions();
  std::vector<std::int32_t*> firsts;
  answers_.resize(waiting_.size());
  std::int32_t* first = answers_.data();
  for (Partition& partition : partitions) {
    firsts.push_back(first);
    first += partition.desk().size();
  }
  for (const DecisionOrder::Row& row : waiting_.rows()) firsts[row.partition][row.index] = *answers++;
  for (std::size_t i = 0; i < partitions.size(); ++i) partitions[i].answer(firsts[i]);
  waiting_.clear();
}

void AskedNetwork::draw(std::span<const PacketFacts> packets, std::uint32_t each, double* into) const {
  for (const PacketFacts& facts : packets) {
    RandomStream stream{seed_, Purpose::kLearning, facts.source_host, facts.number, facts.hops};
    for (std::uint32_t k = 0; k < each; ++k) *into++ = stream.uniform();
  }
}

void AskedNetwork::read_tallies(const TallyColumns& columns) {
  outcomes_.read_tallies(columns, done_ ? std::optional{simulation_.time_ps()} : std::nullopt);
}

void AskedNetwork::read_state(float* into) {
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
