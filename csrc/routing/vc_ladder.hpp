// The VC of every hop: the whole deadlock argument, in one place.
//
// A packet passes stages in a fixed order: source group (while its path may still change, then with a fixed
// path), intermediate group before the intermediate router, intermediate group after it, destination group
// (by a router off the shortest path, then to the destination). It may skip any of them, but never goes back.
// Every scheme gives each hop of a path a rank that rises strictly from stage to stage. Within one stage a
// path takes local hops, each at a higher position than the one before (topology's NextHop; a full mesh has
// one position), and then at most one global hop; every position has VCs of its own. A shape of a group may
// need one position for several hops (leaf_spine.cpp has the argument). Channels (link, VC)
// therefore form a directed acyclic graph and no set of packets can wait for each other in a circle (Dally
// and Seitz 1988). Tests walk every path of every policy and check the graph.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/ids.hpp"
#include "topology/local_paths.hpp"

namespace dragonfly {

enum class Stage : std::uint8_t {
  kFirst,   // the first minimal hop of a policy that may still change its mind (PAR), or all of them (Aries)
  kSource,  // leaving the source group
  kNonMinimalIn,    // inside the intermediate group, heading for the intermediate router
  kNonMinimalOut,   // inside the intermediate group, after the intermediate router
  kLastNonMinimal,  // inside the destination group, heading for a router that lies off the shortest path
                    // (Aries)
  kDestination,     // inside the destination group
};

enum class VcScheme : std::uint8_t {
  // A VC per stage, the same for local and global links. Source: the simulator of the Q-adaptive paper (HPDC
  // 2021): VALn 0,1,2,3; UGALg 0,1,2, minimal 1,2; PAR 0 | 1,2,3,4, minimal 3,4.
  kStage,
  // Separate numbers for local and global links: L0 G0 L1 L2 G1 L3. Source: LIA (TACO 2025) table 1.
  kLadder,
  // The number of hops taken so far.
  kHop,
  // Every hop on VC 0: not deadlock-free. For the tests of the watchdog only; Python does not offer this
  // scheme.
  kUnsafeSingle,
};

[[nodiscard]] VcScheme parse_vc_scheme(std::string_view name);  // throws ConfigError

// The paths of a policy, as far as VCs are concerned.
struct PathBudget {
  bool nonminimal = false;  // non-minimal paths exist
  bool intermediate_router =
      false;                 // some of them visit a router of the intermediate group on purpose (lgl, gl)
  bool reconsiders = false;  // a minimal first hop may be followed by a non-minimal path (PAR)
  bool progressive = false;  // any minimal hop inside the source group may be followed by one, too
  // Non-minimal paths inside the group that was entered last (kind l).
  bool local_nonminimal = false;
  // Such paths of the source router alone, for a packet to its own group. Their first local hops are in the
  // stage of a minimal path's out of the source group, unless hops of local paths share VCs (leaf_spine.cpp).
  bool own_group_nonminimal = false;
  bool any_port = false;          // ports are chosen hop by hop: only the hops taken can number the VCs
  std::uint8_t longest_path = 3;  // hops; of a policy: where groups are full meshes

  // The budget where local paths have up to so many hops: along planned paths every one of them grows; where
  // ports are chosen hop by hop, only those of the minimal rest. Paths by a relay are those of kind lg.
  [[nodiscard]] constexpr PathBudget with_local_paths(const LocalHops& local) const noexcept {
    PathBudget longer = *this;
    if (local.relays && !any_port) {
      longer.nonminimal = true;
      longer.longest_path = std::max(longest_path, static_cast<std::uint8_t>(local_nonminimal ? 6 : 5));
    }
    longer.longest_path = static_cast<std::uint8_t>(longer.longest_path + longer.more_hops(local));
    longer.local_nonminimal = local_nonminimal || (own_group_nonminimal && local.share_vc());
    longer.own_group_nonminimal = false;
    return longer;
  }

  bool operator==(const PathBudget&) const = default;

 private:
  // Hops that such local paths add to the longest path.
  [[nodiscard]] constexpr std::uint32_t more_hops(const LocalHops& local) const noexcept {
    if (any_port) {
      const std::uint32_t behind_relay = local.relays ? local.through + 1 : 0;
      return std::max(local.out, local.through) - 1 + behind_relay + local.in - 1;
    }
    if (local.out == local.any && local.in == local.any && local.through == local.any) {
      const std::uint32_t global_hops = nonminimal ? 2 : 1;
      const bool first_alone = reconsiders && !progressive;
      return (longest_path - global_hops - (first_alone ? 1U : 0U)) * (local.any - 1);
    }
    // A packet that changes its path does so at a router with global links.
    const std::uint32_t source = reconsiders ? (progressive ? local.out : 1) + local.through : local.out;
    const std::uint32_t by_router = intermediate_router ? local.in + local.out : 0;
    const std::uint32_t between = nonminimal ? std::max(by_router, local.through) : 0;
    const std::uint32_t last = local_nonminimal ? local.in + local.inside : local.in;
    const std::uint32_t in_meshes = (reconsiders ? 2U : 1U) +
                                    (nonminimal ? (intermediate_router ? 2U : 1U) : 0U) +
                                    (local_nonminimal ? 2U : 1U);
    return source + between + last - in_meshes;
  }
};

struct VcCounts {
  std::uint8_t local = 0;
  std::uint8_t global = 0;
};

class VcLadder {
 public:
  // `budget`: with local paths of this group's shape. `positions`: LocalHops::vcs. `below`: VCs that belong
  // to the ladder of the packet's path so far; this one begins above them.
  VcLadder(VcScheme scheme, const PathBudget& budget, std::uint32_t positions = 1, VcCounts below = {})
      : scheme_{budget.any_port && scheme != VcScheme::kUnsafeSingle ? VcScheme::kHop : scheme},
        stages_{static_cast<std::uint8_t>(2 + (budget.nonminimal ? 1 : 0) +
                                          (budget.intermediate_router ? 1 : 0) +
                                          (budget.reconsiders ? 1 : 0) + (budget.local_nonminimal ? 1 : 0))},
        first_steps_{static_cast<std::uint8_t>(budget.reconsiders ? 1 : 0)},
        first_vcs_{static_cast<std::uint8_t>(budget.progressive ? positions : first_steps_)},
        positions_{static_cast<std::uint8_t>(positions)},
        below_{below},
        budget_{budget} {
    for (std::uint8_t i = 0; i < kNumStages; ++i) {
      for (const bool global : {false, true}) {
        for (const bool minimal : {false, true}) {
          for (const bool with_router : {false, true}) {
            const auto stage = static_cast<Stage>(i);
            Number number = number_of(stage, global, minimal, with_router);
            number.first = static_cast<std::uint8_t>(number.first + (global ? below.global : below.local));
            numbers_[index_of_hop(stage, global, minimal, with_router)] = number;
          }
        }
      }
    }
  }

  [[nodiscard]] const PathBudget& budget() const noexcept { return budget_; }

  // Whether a minimal hop inside the source group behind so many others is in the stage of those that may yet
  // be followed by a non-minimal path.
  [[nodiscard]] bool may_reconsider(std::uint8_t hops) const noexcept {
    return budget_.progressive || (budget_.reconsiders && hops == 0);
  }

  // The VCs from the first one on, those below the ladder included.
  [[nodiscard]] VcCounts required() const noexcept {
    const VcCounts own = steps();
    return {static_cast<std::uint8_t>(below_.local + own.local),
            static_cast<std::uint8_t>(below_.global + own.global)};
  }
  // The VCs of the ladder itself.
  [[nodiscard]] VcCounts steps() const noexcept {
    switch (scheme_) {
      case VcScheme::kStage:
        return {staged_local(static_cast<std::uint8_t>(stages_ - first_steps_)), stages_};
      case VcScheme::kLadder:
        if (!budget_.nonminimal) return {staged_local(2), 1};
        return {staged_local(budget_.local_nonminimal ? 5 : 4), 2};
      case VcScheme::kHop:
        return {budget_.longest_path, budget_.longest_path};
      case VcScheme::kUnsafeSingle:
        break;
    }
    return {1, 1};
  }

  // The VC of a hop over a local or global link. `with_router`: the path of the packet visits a
  // chosen intermediate router (kinds lgl and gl); `minimal`: it takes no non-minimal path; `position`: of a
  // local hop.
  [[nodiscard]] std::uint8_t vc(Stage stage, bool global, bool minimal, bool with_router, std::uint8_t hops,
                                std::uint8_t position) const noexcept {
    if (scheme_ == VcScheme::kHop) return hops;
    const Number number = numbers_[index_of_hop(stage, global, minimal, with_router)];
    return static_cast<std::uint8_t>(number.first + (number.per_position ? position : 0));
  }

  // The VC where local paths have one hop: all are in the first position.
  [[nodiscard]] std::uint8_t vc(Stage stage, bool global, bool minimal, bool with_router,
                                std::uint8_t hops) const noexcept {
    return scheme_ == VcScheme::kHop ? hops
                                     : numbers_[index_of_hop(stage, global, minimal, with_router)].first;
  }

 private:
  // The VCs of the hops of one kind: one for all, or one for each position, from the first on.
  struct Number {
    std::uint8_t first = 0;
    bool per_position = false;
  };
  static constexpr std::uint8_t kNumStages = 6;

  [[nodiscard]] static constexpr std::size_t index_of_hop(Stage stage, bool global, bool minimal,
                                                          bool with_router) noexcept {
    return static_cast<std::size_t>(stage) << 3 | (global ? 4U : 0U) | (minimal ? 2U : 0U) |
           (with_router ? 1U : 0U);
  }

  [[nodiscard]] Number number_of(Stage stage, bool global, bool minimal, bool with_router) const noexcept {
    if (scheme_ == VcScheme::kStage) {
      const std::uint8_t step = stage_step(stage, minimal, with_router);
      if (global) return {step, false};
      if (stage == Stage::kFirst) return {0, budget_.progressive};
      return {local_vc(static_cast<std::uint8_t>(step - first_steps_)), true};
    }
    if (scheme_ != VcScheme::kLadder) return {};
    if (global) return {static_cast<std::uint8_t>(stage == Stage::kNonMinimalOut ? 1 : 0), false};
    if (stage == Stage::kFirst) return {0, budget_.progressive};
    return {local_vc(ladder_step(stage, minimal)), true};
  }

  // The local VCs of so many steps; hops that may be reconsidered use the VCs before them.
  [[nodiscard]] std::uint8_t staged_local(std::uint8_t steps) const noexcept {
    return static_cast<std::uint8_t>(first_vcs_ + steps * positions_);
  }
  // The one of the first position in a step.
  [[nodiscard]] std::uint8_t local_vc(std::uint8_t step) const noexcept {
    return static_cast<std::uint8_t>(first_vcs_ + step * positions_);
  }

  [[nodiscard]] std::uint8_t stage_step(Stage stage, bool minimal, bool with_router) const noexcept {
    // Counted from the end, so that the destination group always has the highest VC. A non-minimal path to a
    // group may yet become one to a router, where there are non-minimal paths inside groups.
    const bool by_router = with_router || (budget_.local_nonminimal && budget_.intermediate_router);
    int from_end = 1;
    switch (stage) {
      case Stage::kFirst:
        return 0;
      case Stage::kSource:
        from_end = minimal ? 2 : (by_router ? 4 : 3);
        break;
      case Stage::kNonMinimalIn:
        from_end = 3;
        break;
      case Stage::kNonMinimalOut:
        from_end = 2;
        break;
      case Stage::kLastNonMinimal:
      case Stage::kDestination:
        break;
    }
    if (budget_.local_nonminimal && stage != Stage::kDestination) ++from_end;
    return static_cast<std::uint8_t>(stages_ - from_end);
  }

  [[nodiscard]] std::uint8_t ladder_step(Stage stage, bool minimal) const noexcept {
    switch (stage) {
      case Stage::kFirst:
      case Stage::kSource:
        return 0;
      case Stage::kNonMinimalIn:
        return 1;
      case Stage::kNonMinimalOut:
        return 2;
      case Stage::kLastNonMinimal:
        return 3;
      case Stage::kDestination:
        break;
    }
    if (minimal) return 1;
    return budget_.local_nonminimal ? 4 : 3;
  }

  VcScheme scheme_;
  std::uint8_t stages_;
  std::uint8_t first_steps_;
  std::uint8_t first_vcs_;
  std::uint8_t positions_;
  VcCounts below_;
  PathBudget budget_;
  std::array<Number, std::size_t{kNumStages} * 8> numbers_{};  // [index_of_hop()]
};

}  // namespace dragonfly
