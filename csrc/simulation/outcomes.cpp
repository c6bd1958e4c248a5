#include "simulation/outcomes.hpp"

#include <algorithm>
#include <tuple>

namespace dragonfly {

namespace {

constexpr std::size_t kAhead = 8;  // rows that are fetched before they are copied

}  // namespace

void Outcomes::begin_step() {
  for (Partition& partition : network_.partitions()) partition.desk().begin_step();
}

// Rewards of what was completed, and whether that is still kept.
void Outcomes::end_step() {
  const double per_tick = static_cast<double>(plan_.quantum_ps) / reward_scale_ps_;
  limit_reports();
  const bool team = plan_.spec.reward == RewardKind::kTeam;
  const double together = team ? team_reward() : 0;
  std::uint64_t bytes = 0;
  for (Partition& partition : network_.partitions()) {
    TransitionLog& log = partition.desk().log();
    for (std::size_t i = partition.desk().first_of_step(); i < log.size(); ++i) {
      log.rewards()[i] = team ? together : -static_cast<double>(log.heads()[i].reward) * per_tick;
    }
    bytes += log.bytes();
  }
  if (overflowed_ || !keeps_transitions_ || static_cast<double>(bytes) <= most_bytes_) return;
  overflowed_ = true;
  for (Partition& partition : network_.partitions()) partition.desk().stop_keeping();
}

void Outcomes::limit_reports() {
  if (!keeps_feedback_ || reports_overflowed_) return;
  if (static_cast<double>(reports() * sizeof(HopReport)) <= most_bytes_) return;
  reports_overflowed_ = true;
  for (Partition& partition : network_.partitions()) partition.desk().reports().stop_keeping();
}

std::size_t Outcomes::transitions() {
  std::size_t total = 0;
  for (Partition& partition : network_.partitions()) total += partition.desk().not_taken();
  return total;
}

void Outcomes::take_transitions(const TransitionColumns& to) {
  const std::uint32_t features = plan_.layout.num_features();
  const std::uint32_t actions = plan_.num_actions;
  order(false);
  for (std::size_t at = 0; at < order_.size(); ++at) {
    if (at + kAhead < order_.size()) {
      const DecisionOrder::Row& later = order_[at + kAhead];
      network_.partitions()[later.partition].desk().log().touch(later.index);
    }
    const DecisionOrder::Row& from = order_[at];
    TransitionLog& log = network_.partitions()[from.partition].desk().log();
    const std::uint32_t i = from.index;
    const CompletedDecision& head = log.heads()[i];
    to.ids[at] = head.id;
    to.next_ids[at] = head.next_id;
    to.agents[at] = head.agent;
    to.next_agents[at] = head.next_agent;
    to.actions[at] = head.action;
    to.rewards[at] = log.rewards()[i];
    to.latency_ns[at] = plan_.to_ns(head.leg);
    to.times_ns[at] = plan_.to_ns(head.feedback);
    to.done[at] = head.next_agent < 0;
    plan_.rows.unpack(log.row(i), to.observations + at * features, to.mask + at * actions);
    if (head.next_agent < 0) {
      std::fill_n(to.next_observations + at * features, features, 0.0F);
      std::fill_n(to.next_mask + at * actions, actions, std::uint8_t{0});
    } else {
      plan_.rows.unpack(log.next_row(i), to.next_observations + at * features, to.next_mask + at * actions);
    }
  }
  for (Partition& partition : network_.partitions()) partition.desk().mark_taken();
}

void Outcomes::order(bool of_step) {
  order_.clear();
  std::uint32_t number = 0;
  for (Partition& partition : network_.partitions()) {
    DecisionDesk& desk = partition.desk();
    const std::size_t first = of_step ? desk.first_of_step() : 0;
    const std::size_t end = of_step ? desk.log().size() : desk.not_taken();
    for (std::size_t i = first; i < end; ++i) {
      order_.add({desk.log().heads()[i].id, number, static_cast<std::uint32_t>(i)});
    }
    ++number;
  }
  order_.sort(network_.blueprint().topology.num_hosts());
}

std::size_t Outcomes::reports() {
  std::size_t total = 0;
  for (Partition& partition : network_.partitions()) total += partition.desk().reports().size();
  return total;
}

void Outcomes::take_reports(const ReportColumns& to) {
  merged_.clear();
  for (Partition& partition : network_.partitions()) {
    HopReports& reports = partition.desk().reports();
    merged_.insert(merged_.end(), reports.data(), reports.data() + reports.size());
    reports.clear();
  }
  std::ranges::sort(merged_, {}, [](const HopReport& report) {
    return std::tuple{report.when, report.agent, report.port};
  });
  for (std::size_t i = 0; i < merged_.size(); ++i) {
    const HopReport& report = merged_[i];
    to.ids[i] = report.id;
    to.next_ids[i] = report.next_id;
    to.agents[i] = report.agent;
    to.ports[i] = report.port;
    to.travel_ns[i] = plan_.to_ns(report.travel);
    to.times_ns[i] = plan_.to_ns(report.when);
  }
}

std::size_t Outcomes::payments() {
  if (plan_.spec.reward == RewardKind::kTeam) return network_.blueprint().topology.num_routers();
  std::size_t total = 0;
  for (Partition& partition : network_.partitions()) {
    total += partition.desk().log().size() - partition.desk().first_of_step();
  }
  return total;
}

void Outcomes::read_payments(std::int32_t* agents, double* rewards) {
  if (plan_.spec.reward == RewardKind::kTeam) {
    const double together = team_reward();
    for (std::uint32_t i = 0; i < network_.blueprint().topology.num_routers(); ++i) {
      *agents++ = static_cast<std::int32_t>(i);
      *rewards++ = together;
    }
    return;
  }
  order(true);
  for (const DecisionOrder::Row& row : order_.rows()) {
    TransitionLog& log = network_.partitions()[row.partition].desk().log();
    *agents++ = log.heads()[row.index].agent;
    *rewards++ = log.rewards()[row.index];
  }
}

double Outcomes::team_reward() {
  std::uint64_t delivered = 0;
  Tick latency = 0;
  for (Partition& partition : network_.partitions()) {
    delivered += partition.desk().delivered_in_step();
    latency += partition.desk().latency_in_step();
  }
  if (delivered == 0) return 0;
  const double mean_ps = static_cast<double>(latency * plan_.quantum_ps) / static_cast<double>(delivered);
  return -mean_ps / reward_scale_ps_;
}

}  // namespace dragonfly
