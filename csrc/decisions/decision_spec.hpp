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

// One row per plain option of an environment that the core looks at: type and name. `EnvOptions` in Python
// has its default, range, unit and meaning; a time in ns there is one in ps here.
// clang-format off
#define DRAGONFLY_DECISION_OPTIONS(X)                                                        \
  X(double, reward_scale_ps)               /* a reward of -1 */                              \
  X(bool, keep_transitions)                                                                  \
  X(bool, keep_feedback)                                                                     \
  X(std::uint64_t, most_uncollected_bytes) /* of either; then it is no longer kept */
// clang-format on

struct DecisionSpec : QuestionSpec {
  RewardKind reward = RewardKind::kHop;
#define DRAGONFLY_MEMBER(type, name) type name{};
  DRAGONFLY_DECISION_OPTIONS(DRAGONFLY_MEMBER)
#undef DRAGONFLY_MEMBER
};

}  // namespace dragonfly
