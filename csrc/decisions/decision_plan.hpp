// Constant data of decisions that all partitions of a network share.
#pragma once

#include <cstdint>
#include <vector>

#include "decisions/decision_spec.hpp"
#include "routing/question_plan.hpp"
#include "routing/row_format.hpp"

namespace dragonfly {

struct DecisionPlan : QuestionPlan {
  // Arguments as for QuestionPlan.
  DecisionPlan(const DecisionSpec& spec_in, const PathFollower& paths_in, const BufferSizes& buffers,
               TimePs quantum, const std::vector<TrackerRequest>& trackers)
      : QuestionPlan{spec_in, paths_in, buffers, quantum, trackers}, spec{spec_in}, rows{*this} {
    // Number of decisions of one packet that may be open at once.
    const bool once =
        spec.reward != RewardKind::kDelivery || (spec.scope == DecisionScope::kSource && !spec.forced_too);
    most_open = once ? 1U : (by_port() ? spec.max_hops : spec.budget_on(paths.topology()).longest_path);
  }

  [[nodiscard]] double to_ns(Tick tick) const noexcept {
    return static_cast<double>(tick * quantum_ps) / static_cast<double>(kPsPerNs);
  }

  // Rows refer to the plan.
  DecisionPlan(const DecisionPlan&) = delete;
  DecisionPlan& operator=(const DecisionPlan&) = delete;

  DecisionSpec spec;
  RowFormat rows;  // of those that are kept
  std::uint32_t most_open = 1;
};

}  // namespace dragonfly
