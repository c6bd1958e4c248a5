// What an outside policy is asked, and how it answers: the settings of a decision environment.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "core/time.hpp"
#include "routing/detour.hpp"
#include "routing/vc_ladder.hpp"

namespace dragonfly {

// Which routers ask.
enum class AskScope : std::uint8_t {
  kSource,  // the source router only
  kEvery,   // every router where the packet has more than one legal output
  kAll,     // forced hops are reported too, with one legal action
};

enum class ActionMode : std::uint8_t {
  kPort,  // action i = port p + i: the first local port is 0
  kPath,  // action i = candidate path i, minimal ones first; the packet then follows it
};

enum class RewardKind : std::uint8_t {
  kHop,       // minus the time from this decision to the packet's next one, or to its delivery
  kDelivery,  // minus the time from this decision to the delivery
  kTeam,      // minus the mean latency of all packets delivered in the step
};

struct DecisionSpec {
  AskScope scope = AskScope::kEvery;
  ActionMode action = ActionMode::kPort;
  RewardKind reward = RewardKind::kHop;
  std::uint8_t max_hops = 5;        // ports: so many VCs, and no route is longer
  std::vector<DetourKind> detours;  // paths: kinds of the non-minimal candidates, in this order
  std::uint32_t minimal_candidates = 1;
  std::uint32_t detour_candidates = 1;  // of each kind
  bool avoid_destination_group = true;
  std::uint32_t features = ~0U;      // bits, see observation.hpp
  std::vector<std::string> tracked;  // names of further features: what routers remember
  std::map<std::string, Parameters>
      trackers;                        // of those behind them, by name; absent: as the policy, or by default
  double reward_scale_ps = 1'000'000;  // a reward of -1
  bool keep_transitions = true;
  bool keep_feedback = false;
  std::uint64_t most_uncollected_bytes = std::uint64_t{1} << 28;  // of either; then it is no longer kept

  [[nodiscard]] std::uint32_t num_candidates() const noexcept {
    if (action == ActionMode::kPort) return 0;
    return minimal_candidates + detour_candidates * static_cast<std::uint32_t>(detours.size());
  }

  // The paths that answers can lead to, where a local way takes so many hops; the VC ladder is built from it.
  [[nodiscard]] PathBudget budget(std::uint32_t local_way_hops) const noexcept {
    PathBudget budget;
    if (action == ActionMode::kPort) {
      budget.any_port = true;
      budget.longest_path = max_hops;
      return budget;
    }
    budget.detours = !detours.empty();
    for (const DetourKind kind : detours) {
      budget.detour_router = budget.detour_router || visits_router(kind);
      if (longest_path_hops(kind) > budget.longest_path) budget.longest_path = longest_path_hops(kind);
    }
    if (scope != AskScope::kSource) {  // asked again at the second router of the source group
      budget.reconsiders = true;
      ++budget.longest_path;
    }
    return budget.with_local_ways(local_way_hops);
  }
};

}  // namespace dragonfly
