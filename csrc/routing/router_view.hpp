// The view of a router that all decisions of a partition share: everything but the packet and its router.
#pragma once

#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "routing/candidate.hpp"
#include "routing/path_follower.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

// The rows of the decisions of one time, for policies that read rows (RoutingPolicy::sees).
struct ObservationRows {
  const float* features = nullptr;        // [decision * num_features]
  const std::uint8_t* mask = nullptr;     // [decision * num_actions]: 1 where an action is legal
  const Candidate* candidates = nullptr;  // [decision * num_candidates], path actions
  std::uint32_t num_features = 0;
  std::uint32_t num_actions = 0;
  std::uint32_t num_candidates = 0;
};

struct RouterView {
  const PathFollower& paths;
  TrackedNumbers& tracked;
  std::uint64_t seed = 0;
  TimePs quantum_ps = 1;
  const std::uint32_t* buffers = nullptr;  // [link class]: packets of the input buffer behind a port
  bool credits_at_crossbar = false;
  Tick now = 0;  // the time of the decisions
  ObservationRows rows{};
  mutable std::vector<float> scratch{};  // memory for intermediate results of a policy
};

}  // namespace dragonfly
