// What an outside policy is asked, and what it is paid: the settings of a decision environment.
#pragma once

#include <cstdint>

#include "routing/question_spec.hpp"

namespace dragonfly {

enum class RewardKind : std::uint8_t {
  kHop,       // minus the time from this decision to the packet's next one, or to its delivery
  kDelivery,  // minus the time from this decision to the delivery
  kTeam,      // minus the mean latency of all packets delivered in the step
};

struct DecisionSpec : QuestionSpec {
  RewardKind reward = RewardKind::kHop;
  double reward_scale_ps = 1'000'000;  // a reward of -1
  bool keep_transitions = true;
  bool keep_feedback = false;
  std::uint64_t most_uncollected_bytes = std::uint64_t{1} << 28;  // of either; then it is no longer kept
};

}  // namespace dragonfly
