// The input and the result of a policy, for one decision.
#pragma once

#include <cstdint>
#include <utility>

#include "routing/candidate.hpp"
#include "routing/route_context.hpp"

namespace dragonfly {

// A packet at a router, and all that the router may use for its decision.
class DecisionContext : public RouteContext {
 public:
  // `packet_index`, `input_vc`: for the caller, which applies the choice. `number`: among the decisions of
  // the time. `context`: arguments of RouteContext, which is constructed in place, as a copy of fields that
  // were just written piece by piece stalls the processor.
  template <class... Context>
  DecisionContext(std::uint32_t packet_index, std::uint32_t input_vc, std::uint32_t number,
                  Context&&... context)
      : RouteContext{std::forward<Context>(context)...},
        packet_index_{packet_index},
        input_vc_{input_vc},
        number_{number} {}

  [[nodiscard]] bool leaves() const noexcept { return packet().destination_group != group(); }

  // Inputs of policies that read rows (RoutingPolicy::sees): the row, the legal actions, and, where actions
  // are paths, the candidate paths. At least two actions are legal.
  [[nodiscard]] const float* row() const noexcept {
    return view().rows.features + std::size_t{number_} * view().rows.num_features;
  }
  [[nodiscard]] const std::uint8_t* mask() const noexcept {
    return view().rows.mask + std::size_t{number_} * view().rows.num_actions;
  }
  [[nodiscard]] const Candidate* candidates() const noexcept {
    return view().rows.candidates + std::size_t{number_} * view().rows.num_candidates;
  }

  [[nodiscard]] std::uint32_t packet_index() const noexcept { return packet_index_; }
  [[nodiscard]] std::uint32_t input_vc() const noexcept { return input_vc_; }

 private:
  std::uint32_t packet_index_;
  std::uint32_t input_vc_;
  std::uint32_t number_;
};

// A port; or a non-minimal path; or, with neither, to stay on the shortest path. A policy that chooses ports
// must be called at every router and number VCs by hops (PathBudget::any_port); a policy that chooses
// non-minimal paths must have declared them.
struct RouteChoice {
  NonMinimalPath nonminimal{};
  std::uint32_t minimal_choice = kAsDrawn;  // number of the path among equally short ones
  Hop start{};  // the first hop of that path, where the policy has worked it out; no port: it has not
  std::uint32_t gateway = kNil;  // router to leave the source group by; none: the nearest
  Port port = kNoPort;
  bool shortest = false;  // the port is known to be on a shortest path
  bool reports = false;   // learners (learning.hpp): the previous router receives a report on this hop
  float target_ns = 0;    // ... the time that it would have had to expect

  static constexpr std::uint32_t kAsDrawn = 0xffffffffU;  // the packet's own choice (PathFollower::choice_of)
};

// The choice that an action means.
[[nodiscard]] inline RouteChoice choice_of_action(const Candidate& chosen) noexcept {
  if (chosen.kind > 0) return {.nonminimal = nonminimal_of(chosen)};
  return {.minimal_choice = static_cast<std::uint32_t>(chosen.minimal_choice), .gateway = gateway_of(chosen)};
}

}  // namespace dragonfly
