// Outcomes of decisions that were made outside: transitions, rewards, and reports on hops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "decisions/decision_plan.hpp"
#include "decisions/hop_reports.hpp"
#include "network/network.hpp"
#include "simulation/decision_order.hpp"

namespace dragonfly {

// Destination of completed transitions; each pointer has room for transitions() rows.
struct TransitionColumns {
  std::int64_t* ids;
  std::int64_t* next_ids;
  std::int32_t* agents;
  std::int32_t* next_agents;
  std::int32_t* actions;
  double* reward;
  double* latency_ns;
  double* times_ns;
  double* decision_times_ns;
  bool* done;
  bool* truncated;
  float* observations;
  float* next_observations;
  std::uint8_t* next_mask;  // 0 or 1
  std::uint8_t* mask;

  // The destination behind so many rows.
  [[nodiscard]] TransitionColumns behind(std::size_t rows, const ObservationPlan& plan) const noexcept {
    const std::size_t features = rows * plan.layout.num_features();
    const std::size_t actions_before = rows * plan.num_actions;
    return {.ids = ids + rows,
            .next_ids = next_ids + rows,
            .agents = agents + rows,
            .next_agents = next_agents + rows,
            .actions = actions + rows,
            .reward = reward + rows,
            .latency_ns = latency_ns + rows,
            .times_ns = times_ns + rows,
            .decision_times_ns = decision_times_ns + rows,
            .done = done + rows,
            .truncated = truncated + rows,
            .observations = observations + features,
            .next_observations = next_observations + features,
            .next_mask = next_mask + actions_before,
            .mask = mask + actions_before};
  }
};

// Destination of outcomes alone; each pointer has room for outcomes() rows.
struct OutcomeColumns {
  std::int64_t* ids;
  std::int64_t* next_ids;
  std::int32_t* agents;
  double* reward;
  bool* truncated;

  [[nodiscard]] OutcomeColumns behind(std::size_t rows) const noexcept {
    return {.ids = ids + rows,
            .next_ids = next_ids + rows,
            .agents = agents + rows,
            .reward = reward + rows,
            .truncated = truncated + rows};
  }
};

// Destination of reports on hops; each pointer has room for reports() rows.
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

// Destination of the rewards of routers since the start of the episode; each pointer has room for every
// router.
struct TallyColumns {
  std::int64_t* reward_ps;
  std::int64_t* generated;  // packets that its hosts generated
  std::int64_t* delivered;  // packets of its hosts that were delivered
};

class Outcomes {
 public:
  // Both must outlive the object.
  Outcomes(Network& network, const DecisionPlan& plan)
      : network_{network},
        plan_{plan},
        reward_scale_ps_{plan.environment.option("reward_scale_ps")},
        keeps_transitions_{plan.environment.flag("keep_transitions")},
        keeps_outcomes_{plan.environment.flag("keep_outcomes")},
        keeps_feedback_{plan.environment.flag("keep_feedback")},
        most_bytes_{plan.environment.option("most_uncollected_bytes")} {}

  // Begins the episode: events from `begin_ps` on count.
  void begin(TimePs begin_ps);
  // Call after the network ran: returns whether the collected outcomes are still kept.
  void limit_kept();
  // Ends the episode: open decisions are completed as truncated.
  void truncate(Tick now);

  // Completed since they were last taken; ordered by decision id.
  [[nodiscard]] std::size_t transitions();
  void take_transitions(const TransitionColumns& columns);
  // Outcomes alone, without observations; ordered by router, then by decision id.
  [[nodiscard]] std::size_t outcomes();
  void take_outcomes(const OutcomeColumns& columns);
  [[nodiscard]] bool outcomes_overflowed() const noexcept { return outcomes_overflowed_; }
  // Whether transitions piled up so much that they are no longer kept.
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }
  // Reports on hops (hop_reports.hpp) since they were last taken: all that arrive before or with a decision
  // of the batch, and some that are still in flight. Ordered by arrival, then by router and port: a port
  // gets no two at one time, so the order depends neither on partitions nor on threads.
  [[nodiscard]] std::size_t reports();
  void take_reports(const ReportColumns& columns);
  [[nodiscard]] bool reports_overflowed() const noexcept { return reports_overflowed_; }
  // The rewards of router_tallies.hpp up to now; `end_ps`: the end of the episode, with the rewards of
  // packets that are still open.
  void read_tallies(const TallyColumns& to, std::optional<TimePs> end_ps);
  // The credit of packets that are delivered from now on.
  void set_credit(TimePs credit_ps);
  // The sum of the latencies of all packets that were delivered in the episode.
  [[nodiscard]] TimePs latency_ps();
  // Router by router: packets that it holds, packets in source queues of its hosts, and packets that these
  // have lately given to it, by destination group. Each n as n / (n + half).
  void read_load(float* into, std::size_t stride, float half);
  void archive(Archive& archive) {
    archive(overflowed_, outcomes_overflowed_, reports_overflowed_, generated_before_, begun_ps_);
  }

 private:
  void limit_outcomes();
  void limit_reports();
  [[nodiscard]] double reward_of(Tick leg) const noexcept {
    return -static_cast<double>(leg) * (static_cast<double>(plan_.quantum_ps) / reward_scale_ps_);
  }
  void order();
  // Calls visit(router, packets that its host has generated since time 0) for every host.
  template <class Visit>
  void count_generated(Visit visit);
  // Charges and credits packets that are open at the end.
  void settle(TimePs end_ps, std::int64_t* reward_ps);

  Network& network_;
  const DecisionPlan& plan_;
  double reward_scale_ps_;  // a reward of -1
  bool keeps_transitions_;
  bool keeps_outcomes_;
  bool keeps_feedback_;
  double most_bytes_;  // size at which transitions, or outcomes, are no longer kept
  bool overflowed_ = false;
  bool outcomes_overflowed_ = false;
  bool reports_overflowed_ = false;
  // [router], when the episode began: packets that its hosts had generated, and for the packets that it held
  // the time from the tick before to the beginning, which tallies charge.
  std::vector<std::int64_t> generated_before_;
  std::vector<std::int64_t> begun_ps_;
  std::vector<HopReport> merged_;                 // scratch
  std::vector<DecisionOutcome> merged_outcomes_;  // scratch
  DecisionOrder order_;                           // scratch
};

}  // namespace dragonfly
