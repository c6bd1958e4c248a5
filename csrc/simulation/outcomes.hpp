// What came of decisions that were made outside: transitions, rewards, and what routers hear of their hops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decisions/decision_plan.hpp"
#include "decisions/hop_reports.hpp"
#include "network/network.hpp"
#include "simulation/decision_order.hpp"

namespace dragonfly {

// Where completed transitions go; each pointer has room for transitions() rows.
struct TransitionColumns {
  std::int64_t* ids;
  std::int64_t* next_ids;
  std::int32_t* agents;
  std::int32_t* next_agents;
  std::int32_t* actions;
  double* rewards;
  double* latency_ns;
  double* times_ns;
  bool* done;
  float* observations;
  float* next_observations;
  std::uint8_t* next_mask;  // 0 or 1
  std::uint8_t* mask;

  // Where they go after so many rows.
  [[nodiscard]] TransitionColumns behind(std::size_t rows, const QuestionPlan& plan) const noexcept {
    const std::size_t features = rows * plan.layout.num_features();
    const std::size_t actions_before = rows * plan.num_actions;
    return {.ids = ids + rows,
            .next_ids = next_ids + rows,
            .agents = agents + rows,
            .next_agents = next_agents + rows,
            .actions = actions + rows,
            .rewards = rewards + rows,
            .latency_ns = latency_ns + rows,
            .times_ns = times_ns + rows,
            .done = done + rows,
            .observations = observations + features,
            .next_observations = next_observations + features,
            .next_mask = next_mask + actions_before,
            .mask = mask + actions_before};
  }
};

// Where reports on hops go; each pointer has room for reports() rows.
struct ReportColumns {
  std::int64_t* ids;
  std::int64_t* next_ids;
  std::int32_t* agents;
  std::int32_t* ports;
  double* travel_ns;
  double* times_ns;

  [[nodiscard]] ReportColumns behind(std::size_t rows) const noexcept {
    return {.ids = ids + rows,
            .next_ids = next_ids + rows,
            .agents = agents + rows,
            .ports = ports + rows,
            .travel_ns = travel_ns + rows,
            .times_ns = times_ns + rows};
  }
};

class Outcomes {
 public:
  // Both must outlive it.
  Outcomes(Network& network, const DecisionPlan& plan)
      : network_{network},
        plan_{plan},
        reward_scale_ps_{plan.spec.option("reward_scale_ps")},
        keeps_transitions_{plan.spec.flag("keep_transitions")},
        keeps_feedback_{plan.spec.flag("keep_feedback")},
        most_bytes_{plan.spec.option("most_uncollected_bytes")} {}

  // Around the time in which the network runs: forgets what was rewarded with; works out what is given now,
  // and whether what piled up is still kept.
  void begin_step();
  void end_step();

  // Completed since they were last taken; ordered by decision id.
  [[nodiscard]] std::size_t transitions();
  void take_transitions(const TransitionColumns& columns);
  // Whether transitions piled up so much that they are no longer kept.
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }
  // Reports on hops (hop_reports.hpp) since they were last taken: all that arrive before or with a decision
  // of the batch, and some that are still on their way. Ordered by arrival, then by router and port: a port
  // gets no two at one instant, so neither partitions nor threads can be told from the order.
  [[nodiscard]] std::size_t reports();
  void take_reports(const ReportColumns& columns);
  [[nodiscard]] bool reports_overflowed() const noexcept { return reports_overflowed_; }
  // Rewards paid during the last advance(): number, then router and reward of each, ordered by decision id.
  [[nodiscard]] std::size_t payments();
  void read_payments(std::int32_t* agents, double* rewards);
  // Minus the mean latency of what was delivered during the last advance(), scaled; 0 if nothing was.
  [[nodiscard]] double team_reward();
  void archive(Archive& archive) { archive(overflowed_, reports_overflowed_); }

 private:
  void limit_reports();
  // The decisions that were completed since the last advance() began, or since transitions were last taken.
  void order(bool of_step);

  Network& network_;
  const DecisionPlan& plan_;
  double reward_scale_ps_;  // a reward of -1
  bool keeps_transitions_;
  bool keeps_feedback_;
  double most_bytes_;  // of either; then it is no longer kept
  bool overflowed_ = false;
  bool reports_overflowed_ = false;
  std::vector<HopReport> merged_;  // scratch
  DecisionOrder order_;            // scratch
};

}  // namespace dragonfly
