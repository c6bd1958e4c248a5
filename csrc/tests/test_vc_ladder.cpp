// The VCs of every kind of path: as published, and rising.
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "routing/vc_ladder.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

struct Step {
  Stage stage;
  bool global;
};
constexpr bool kLocal = false;
constexpr bool kGlobal = true;

constexpr Step kFirstLocal{Stage::kFirst, kLocal};
constexpr Step kFirstGlobal{Stage::kFirst, kGlobal};
constexpr Step kSourceLocal{Stage::kSource, kLocal};
constexpr Step kSourceGlobal{Stage::kSource, kGlobal};
constexpr Step kInLocal{Stage::kNonMinimalIn, kLocal};
constexpr Step kOutLocal{Stage::kNonMinimalOut, kLocal};
constexpr Step kOutGlobal{Stage::kNonMinimalOut, kGlobal};
constexpr Step kLastLocal{Stage::kDestination, kLocal};

const std::vector<Step> kMinimalPath{kSourceLocal, kSourceGlobal, kLastLocal};
const std::vector<Step> kNodePath{kSourceLocal, kSourceGlobal, kInLocal, kOutLocal, kOutGlobal, kLastLocal};
const std::vector<Step> kGroupPath{kSourceLocal, kSourceGlobal, kOutLocal, kOutGlobal, kLastLocal};

constexpr PathBudget kMin{};
constexpr PathBudget kValg{.nonminimal = true, .longest_path = 5};
constexpr PathBudget kValn{.nonminimal = true, .intermediate_router = true, .longest_path = 6};
// Aries: with local paths of two hops, to which every one of its stages grows.
constexpr PathBudget kAries{.nonminimal = true,
                            .intermediate_router = true,
                            .reconsiders = true,
                            .progressive = true,
                            .local_nonminimal = true,
                            .longest_path = 14};
constexpr PathBudget kPar{
    .nonminimal = true, .intermediate_router = true, .reconsiders = true, .longest_path = 7};

std::vector<int> vcs(const VcLadder& ladder, const std::vector<Step>& path, bool minimal, bool with_router) {
  std::vector<int> numbers;
  for (const Step& step : path) {
    const auto hops = static_cast<std::uint8_t>(numbers.size());
    numbers.push_back(ladder.vc(step.stage, step.global, minimal, with_router, hops, 0));
  }
  return numbers;
}

using Numbers = std::vector<int>;

// Source: Kang et al., HPDC 2021, and its published simulator (VALn, UGALg, UGALn, PAR).
TEST(stage_vcs_are_those_of_the_published_simulator) {
  const auto stage = [](const PathBudget& budget) { return VcLadder{VcScheme::kStage, budget}; };
  CHECK(vcs(stage(kMin), kMinimalPath, true, false) == (Numbers{0, 0, 1}));
  CHECK(vcs(stage(kValn), kNodePath, false, true) == (Numbers{0, 0, 1, 2, 2, 3}));
  CHECK(vcs(stage(kValn), kMinimalPath, true, false) == (Numbers{2, 2, 3}));
  CHECK(vcs(stage(kValg), kGroupPath, false, false) == (Numbers{0, 0, 1, 1, 2}));
  CHECK(vcs(stage(kValg), kMinimalPath, true, false) == (Numbers{1, 1, 2}));
  CHECK(vcs(stage(kPar), {kFirstLocal, kSourceGlobal, kLastLocal}, true, false) == (Numbers{0, 3, 4}));
  CHECK(vcs(stage(kPar), {kFirstGlobal, kLastLocal}, true, false) == (Numbers{0, 4}));
  CHECK(vcs(stage(kPar), kNodePath, false, true) == (Numbers{1, 1, 2, 3, 3, 4}));
}

// Source: Benito et al. (LIA), TACO 2025, table 1: L0 G0 L1, and L0 G0 L1 L2 G1 L3.
TEST(ladder_vcs_are_those_of_the_lia_paper) {
  const VcLadder minimal{VcScheme::kLadder, kMin};
  CHECK(vcs(minimal, kMinimalPath, true, false) == (Numbers{0, 0, 1}));
  CHECK_EQ(minimal.required().local, 2);
  CHECK_EQ(minimal.required().global, 1);
  const VcLadder nonminimal{VcScheme::kLadder, kValn};
  CHECK(vcs(nonminimal, kNodePath, false, true) == (Numbers{0, 0, 1, 2, 1, 3}));
  CHECK_EQ(nonminimal.required().local, 4);
  CHECK_EQ(nonminimal.required().global, 2);
}

// Ranks of channels: (VC, local before global) on the shared scheme of stages; per class on the ladder.
TEST(every_path_rises_and_stays_within_its_vcs) {
  struct Case {
    PathBudget budget;
    std::vector<Step> path;
    bool minimal, with_router;
  };
  std::vector<Case> cases;
  for (const PathBudget& budget : {kMin, kValg, kValn}) cases.push_back({budget, kMinimalPath, true, false});
  cases.push_back({kValg, kGroupPath, false, false});
  cases.push_back({kValn, kNodePath, false, true});
  cases.push_back({kPar, {kFirstLocal, kSourceGlobal, kLastLocal}, true, false});
  std::vector<Step> changed_mind{kFirstLocal};
  changed_mind.insert(changed_mind.end(), kNodePath.begin(), kNodePath.end());
  for (const VcScheme scheme : {VcScheme::kStage, VcScheme::kLadder, VcScheme::kHop}) {
    for (const Case& c : cases) {
      const VcLadder ladder{scheme, c.budget};
      const VcCounts most = ladder.required();
      const Numbers numbers = vcs(ladder, c.path, c.minimal, c.with_router);
      int last[2] = {-1, -1};
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto link = static_cast<std::size_t>(c.path[i].global);
        CHECK(numbers[i] > last[link]);
        last[link] = numbers[i];
        CHECK(numbers[i] < (c.path[i].global ? most.global : most.local));
      }
    }
    // PAR: the first hop was minimal, the non-minimal path begins at the second router.
    const VcLadder ladder{scheme, kPar};
    Numbers numbers{ladder.vc(Stage::kFirst, kLocal, true, false, 0, 0)};
    for (std::size_t i = 1; i < changed_mind.size(); ++i) {
      numbers.push_back(ladder.vc(changed_mind[i].stage, changed_mind[i].global, false, true,
                                  static_cast<std::uint8_t>(i), 0));
    }
    CHECK(numbers[0] < numbers[1]);
    CHECK(numbers.back() < ladder.required().local);
  }
}

// Two minimal hops, then for good: to the intermediate group, by a router there, and by a router of the last
// group.
TEST(vcs_of_aries_rise_through_all_of_its_stages_on_a_grid) {
  struct Hop {
    Stage stage;
    bool global;
    std::uint8_t position;
  };
  std::vector<Hop> path;
  const auto two_hops = [&path](Stage stage) {
    for (const auto position : {std::uint8_t{0}, std::uint8_t{1}}) path.push_back({stage, kLocal, position});
  };
  two_hops(Stage::kFirst);
  two_hops(Stage::kSource);
  path.push_back({Stage::kSource, kGlobal, 0});
  two_hops(Stage::kNonMinimalIn);
  two_hops(Stage::kNonMinimalOut);
  path.push_back({Stage::kNonMinimalOut, kGlobal, 0});
  two_hops(Stage::kLastNonMinimal);
  two_hops(Stage::kDestination);
  for (const VcScheme scheme : {VcScheme::kStage, VcScheme::kLadder, VcScheme::kHop}) {
    const VcLadder ladder{scheme, kAries, 2};
    int last[2] = {-1, -1};
    std::uint8_t hops = 0;
    for (const Hop& hop : path) {
      const bool minimal = hop.stage == Stage::kFirst;
      // A packet's visit to a router may turn out only when it has entered the group.
      const bool with_router = hops >= 5;
      const int vc = ladder.vc(hop.stage, hop.global, minimal, with_router, hops++, hop.position);
      CHECK(vc > last[hop.global ? 1 : 0]);
      last[hop.global ? 1 : 0] = vc;
    }
    CHECK_EQ(last[0] + 1, int{ladder.required().local});
    CHECK(last[1] < ladder.required().global);
  }
  const VcLadder ladder{VcScheme::kLadder, kAries, 2};
  CHECK_EQ(ladder.required().local, 12);
  CHECK_EQ(ladder.required().global, 2);
  // A global hop is between the local ones of two groups: on the scheme of stages they share a scale.
  const VcLadder stages{VcScheme::kStage, kAries, 2};
  CHECK_EQ(stages.vc(Stage::kFirst, kGlobal, true, false, 2, 0), 0);
  CHECK_EQ(stages.vc(Stage::kSource, kGlobal, false, false, 4, 0), 1);
  CHECK_EQ(stages.vc(Stage::kNonMinimalOut, kGlobal, false, true, 9, 0), 3);
}

TEST(only_aries_counts_every_minimal_hop_as_one_that_may_be_reconsidered) {
  const VcLadder aries{VcScheme::kLadder, kAries, 2};
  const VcLadder par{VcScheme::kLadder, kPar, 2};
  CHECK(aries.may_reconsider(0) && aries.may_reconsider(1));
  CHECK(par.may_reconsider(0) && !par.may_reconsider(1));
  CHECK(!VcLadder(VcScheme::kLadder, kValn, 2).may_reconsider(0));
}

TEST(a_vc_scheme_has_a_name) {
  CHECK(parse_vc_scheme("stage") == VcScheme::kStage);
  CHECK(parse_vc_scheme("ladder") == VcScheme::kLadder);
  CHECK(parse_vc_scheme("hop") == VcScheme::kHop);
  CHECK_THROWS(ConfigError, parse_vc_scheme("stages"));
  CHECK_THROWS(ConfigError, parse_vc_scheme(""));
}

}  // namespace
