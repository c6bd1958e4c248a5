// The decisions that a policy makes and the form of its choices: the same record for policies in the core and
// outside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "routing/nonminimal.hpp"
#include "routing/packet.hpp"
#include "routing/vc_ladder.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// The routers that decide about a packet; everywhere else it follows its plan. In its destination group a
// packet goes minimally unless the scope includes that group, and on prescribed routes no router decides.
enum class DecisionScope : std::uint8_t {
  kNowhere,       // minimal routing
  kSource,        // the source router
  kSourceAll,     // the source router, also about packets to its own group
  kSourceAround,  // kSourceAll, and packets to their own group may pass other groups (OwnGroup::kMayLeave)
  kSourceGroup,   // the source router, and the second router of the source group if the packet is on its
                  // minimal path
  kMinimalPath,   // every router on the path, as long as the packet is on its minimal path
  // Like kMinimalPath inside the source group; then the router by which the packet enters a group: the
  // intermediate one and that of its destination (Aries).
  kProgressive,
  // kProgressive without the decisions that are hardly worth their time: see is_left_alone() in choices.hpp.
  kProgressiveBusy,
  kEvery,  // every router
};

[[nodiscard]] constexpr bool is_progressive(DecisionScope scope) noexcept {
  return scope == DecisionScope::kProgressive || scope == DecisionScope::kProgressiveBusy;
}

// The meaning of actions.
enum class ActionMode : std::uint8_t {
  kPort,  // action i = port p + i: the first local port is 0
  kPath,  // action i = candidate path i, minimal ones first; the packet then follows it
};

// The rule of decisions: whether this router of `group` may still choose for the packet, which has entered it
// by the port `input_port`.
[[nodiscard]] inline bool has_choice(DecisionScope scope, const Dragonfly& topology, const Packet& packet,
                                     std::uint32_t router, std::uint32_t group, Port input_port) noexcept {
  const bool decides_inside =
      is_progressive(scope) || scope == DecisionScope::kSourceAll || scope == DecisionScope::kSourceAround;
  if (packet.destination_group == group) {
    const bool enters = packet.hops == 0 || (is_progressive(scope) && topology.is_global(input_port));
    return decides_inside && enters && router != packet.destination_router;
  }
  if (packet.hops == 0) return scope != DecisionScope::kNowhere;
  switch (scope) {
    case DecisionScope::kNowhere:
    case DecisionScope::kSource:
    case DecisionScope::kSourceAll:
    case DecisionScope::kSourceAround:
      return false;
    case DecisionScope::kSourceGroup:
      return packet.hops == 1 && !packet.non_minimal && group == topology.group_of_host(packet.source_host);
    case DecisionScope::kMinimalPath:
      return !packet.non_minimal;
    case DecisionScope::kProgressive:
    case DecisionScope::kProgressiveBusy:
      return packet.is_on_minimal_plan() ||
             (packet.plan == Plan::kToIntermediate && packet.intermediate_group == group &&
              topology.is_global(input_port));
    case DecisionScope::kEvery:
      break;
  }
  return true;
}

// Whether routers that decide there may send packets to their own group by others.
[[nodiscard]] constexpr OwnGroup own_group_of(DecisionScope scope) noexcept {
  return scope == DecisionScope::kSourceAround ? OwnGroup::kMayLeave : OwnGroup::kStays;
}

// The paths that non-minimal paths of these kinds lead to, where groups are full meshes.
[[nodiscard]] inline PathBudget budget_of_paths(const std::vector<NonMinimalKind>& kinds,
                                                DecisionScope scope) noexcept {
  PathBudget budget;
  for (const NonMinimalKind kind : kinds) {
    const bool inside = kind == NonMinimalKind::kL;
    budget.nonminimal = budget.nonminimal || !inside;
    budget.local_nonminimal = budget.local_nonminimal || inside;
    budget.intermediate_router = budget.intermediate_router || (visits_router(kind) && !inside);
    budget.longest_path = std::max(budget.longest_path, longest_path_hops(kind));
  }
  if (scope == DecisionScope::kSourceAround) {
    budget.own_group_nonminimal = budget.local_nonminimal;
    budget.local_nonminimal = false;  // it begins with a first hop of its own group
  }
  if (scope == DecisionScope::kSource || scope == DecisionScope::kSourceAll ||
      scope == DecisionScope::kSourceAround) {
    return budget;
  }
  // Decides again at the second router of the source group, or at all of its minimal path there.
  budget.reconsiders = true;
  budget.progressive = scope == DecisionScope::kMinimalPath || is_progressive(scope);
  ++budget.longest_path;
  if (is_progressive(scope) && budget.local_nonminimal) {
    // A router of the intermediate group, and one of the destination group.
    if (budget.nonminimal)
      budget.longest_path =
          static_cast<std::uint8_t>(budget.longest_path + (budget.intermediate_router ? 1 : 2));
    budget.intermediate_router = budget.nonminimal;
  }
  return budget;
}

// The unit of the occupancies that observations show.
enum class OccupancyUnit : std::uint8_t {
  kBuffers,  // room in the buffers of a port, so that values are about 1 at most
  kPackets,  // a fixed number of packets, the same in every network
  kTime,     // the time that the link of the port needs to send the packets
};

// Largest number of paths: of each kind, and in all.
inline constexpr std::uint32_t kMostCandidates = 16;
inline constexpr std::uint32_t kMostNonMinimalKinds = 5;
inline constexpr std::uint32_t kMostPaths = kMostCandidates * (1 + kMostNonMinimalKinds);

// The paths that are shown: of each kind of non-minimal path those from `first` on, up to `end`, and before
// them the shortest paths if `first` is 0.
struct ShownPaths {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  [[nodiscard]] std::uint32_t of_a_kind() const noexcept { return end - first; }
};

// The routers that decide, and the contents of rows. Policies that read RouteContext alone need no rows;
// policies that choose among legal actions by their observations do (RoutingPolicy::sees).
struct DecisionSpec {
  DecisionScope scope = DecisionScope::kEvery;
  ActionMode action = ActionMode::kPort;
  bool forced_too = false;    // hops without a choice are decisions too, with one legal action
  std::uint8_t max_hops = 5;  // ports: so many VCs, and no route is longer
  std::vector<NonMinimalKind>
      nonminimal_kinds{};  // paths: kinds of the non-minimal candidates, in this order
  std::uint32_t minimal_candidates = 1;
  std::uint32_t nonminimal_candidates = 1;  // paths of each kind
  // Rows show the first non-minimal path of each kind alone; the second stage shows the others alone.
  bool second_stage = false;
  bool any_gateway = false;  // minimal paths out of the source group: not by the nearest alone
  bool avoid_destination_group = true;
  OccupancyUnit occupancy_unit = OccupancyUnit::kBuffers;
  std::uint32_t features = ~0U;                  // bits, see observation.hpp
  std::vector<std::string> tracked{};            // names of further features: tracked numbers
  std::map<std::string, Parameters> trackers{};  // parameters of the trackers behind `tracked`, by name;
                                                 // absent: the policy's, or the defaults

  // Number of paths of each kind that a row shows.
  [[nodiscard]] std::uint32_t shown_nonminimal() const noexcept {
    return second_stage ? 1 : nonminimal_candidates;
  }
  [[nodiscard]] std::uint32_t num_candidates() const noexcept {
    if (action == ActionMode::kPort) return 0;
    return minimal_candidates + shown_nonminimal() * static_cast<std::uint32_t>(nonminimal_kinds.size());
  }
  // The paths that the second stage shows. Precondition: second_stage.
  [[nodiscard]] ShownPaths further_paths() const noexcept { return {1, nonminimal_candidates}; }
  [[nodiscard]] std::uint32_t num_further_candidates() const noexcept {
    return further_paths().of_a_kind() * static_cast<std::uint32_t>(nonminimal_kinds.size());
  }

  // The paths that choices can lead to where groups are full meshes; the VC ladder is built from it.
  [[nodiscard]] PathBudget budget() const noexcept {
    if (action == ActionMode::kPath) return budget_of_paths(nonminimal_kinds, scope);
    return {.any_port = true, .longest_path = max_hops};
  }
  // The budget on a topology. The longest route of ports is fixed; paths are as long as the local paths of
  // the topology make them.
  [[nodiscard]] PathBudget budget_on(const Dragonfly& topology) const noexcept {
    return action == ActionMode::kPort ? budget() : budget().with_local_paths(topology.longest_local());
  }

  bool operator==(const DecisionSpec&) const = default;
};

}  // namespace dragonfly
