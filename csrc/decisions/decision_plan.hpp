// Constant data of decisions that all partitions of a network share.
#pragma once

#include <cstdint>
#include <vector>

#include "decisions/environment_spec.hpp"
#include "routing/observation_plan.hpp"
#include "routing/row_format.hpp"

namespace dragonfly {

struct DecisionPlan : ObservationPlan {
  // Arguments as for ObservationPlan.
  DecisionPlan(const EnvironmentSpec& spec_in, const PathFollower& paths_in, const BufferSizes& buffers,
               TimePs quantum, const std::vector<TrackerRequest>& trackers)
      : ObservationPlan{spec_in, paths_in, buffers, quantum, trackers}, environment{spec_in}, rows{*this} {
    // Number of decisions of one packet that may be open at once.
    const bool once = environment.reward != RewardKind::kDelivery ||
                      (environment.scope == DecisionScope::kSource && !environment.forced_too);
    most_open =
        once ? 1U : (by_port() ? environment.max_hops : environment.budget_on(paths.topology()).longest_path);
  }

  [[nodiscard]] double to_ns(Tick tick) const noexcept {
    return static_cast<double>(tick * quantum_ps) / static_cast<double>(kPsPerNs);
  }

  // Rows refer to the plan.
  DecisionPlan(const DecisionPlan&) = delete;
  DecisionPlan& operator=(const DecisionPlan&) = delete;

  EnvironmentSpec environment;
  RowFormat rows;  // format of the observations that are kept
  std::uint32_t most_open = 1;
};

}  // namespace dragonfly
