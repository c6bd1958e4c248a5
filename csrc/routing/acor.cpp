#include <algorithm>
#include <iterator>

#include "routing/congested_links.hpp"
#include "routing/short_nonminimal.hpp"

namespace dragonfly {

namespace {

constexpr const char* kLength = "nonminimal-length";
constexpr const char* kSource = "ACOR, Benito et al., JPDC 2019; LIA, TACO 2025, sections 2.2.2 and 5.2";

// The kind of non-minimal path at each level of a router.
[[nodiscard]] NonMinimalKind kind_at(double level) noexcept {
  return level < 1 ? NonMinimalKind::kG : level < 2 ? NonMinimalKind::kGl : NonMinimalKind::kLgl;
}

// ACOR: always a non-minimal path, of the length of the router's level (trackers/nonminimal_length.cpp).
// Source: Benito et al., JPDC 2019; LIA (TACO 2025), section 2.2.2.
class Acor final : public PerDecision<Acor> {
 public:
  Acor(bool avoid_destination_group, TrackerRequest length)
      : avoid_destination_group_{avoid_destination_group}, length_{std::move(length)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }
  [[nodiscard]] PathBudget budget() const noexcept override { return any_nonminimal_budget(); }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override {
    return all_nonminimal_kinds();
  }
  // FOGSim's heads draw twice a clock cycle, ours once; deciding once is closest to its figures.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {length_}; }

  [[nodiscard]] RouteChoice route(const DecisionContext& decision) const {
    const NonMinimalKind kind = kind_at(decision.tracked(0, 0, 0));
    const NonMinimalPath nonminimal = draw(decision, kind);
    return {nonminimal.exists() ? nonminimal : draw(decision, with_first_hop(kind))};
  }

 private:
  [[nodiscard]] NonMinimalPath draw(const DecisionContext& decision, NonMinimalKind kind) const {
    RandomStream draws = decision.nonminimal_stream(kind);
    return draw_nonminimal(decision, draws, kind, avoid_destination_group_);
  }

  bool avoid_destination_group_;
  TrackerRequest length_;
};

// PB-ACOR: Piggyback's choice, with non-minimal paths of the length of ACOR's level.
// Source: LIA (TACO 2025), section 5.2 and table 1.
class PiggybackAcor final : public PerDecision<PiggybackAcor> {
 public:
  PiggybackAcor(const UgalParams& params, TrackerRequest flags, TrackerRequest length)
      : params_{params}, flags_{std::move(flags)}, length_{std::move(length)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }
  [[nodiscard]] PathBudget budget() const noexcept override { return any_nonminimal_budget(); }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override {
    return all_nonminimal_kinds();
  }
  // Like Acor.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {flags_, length_}; }

  [[nodiscard]] RouteChoice route(const DecisionContext& decision) const {
    const UgalComparison compared = ugal_comparison_of(decision, params_, kind_at(decision.tracked(1, 0, 0)));
    if (!compared.nonminimal.exists()) return compared.stay();
    if (compared.minimal && !leaves_congested(decision, compared.minimal_choice)) return compared.stay();
    return compared.leave();
  }

 private:
  UgalParams params_;
  TrackerRequest flags_;
  TrackerRequest length_;
};

std::unique_ptr<RoutingPolicy> make_acor(const PolicyInfo& info, const Parameters& given,
                                         const PolicyEnvironment& environment) {
  return std::make_unique<Acor>(
      flag_parameter(info, given, "avoid_destination_group", environment.avoid_destination_group),
      request_tracker(kLength, info, given));
}

std::unique_ptr<RoutingPolicy> make_pb_acor(const PolicyInfo& info, const Parameters& given,
                                            const PolicyEnvironment& environment) {
  return std::make_unique<PiggybackAcor>(read_piggyback_params(info, given, environment),
                                         request_tracker(kCongestedLinks, info, given),
                                         request_tracker(kLength, info, given));
}

}  // namespace

std::vector<PolicyInfo> acor_policies() {
  std::vector<ParameterInfo> of_acor = find_tracker(kLength).parameters;
  std::vector<ParameterInfo> of_both = find_tracker(kCongestedLinks).parameters;
  std::ranges::copy(of_acor, std::back_inserter(of_both));
  std::ranges::copy(piggyback_parameters(), std::back_inserter(of_both));
  std::ranges::copy(nonminimal_parameters(), std::back_inserter(of_acor));
  return {{"acor",
           "always a non-minimal path; the more injection queues are blocked, the longer the path",
           kSource,
           "source",
           "path",
           std::move(of_acor),
           make_acor,
           NonMinimalKind::kLgl,
           {"nonminimal_level"}},
          {"pb-acor",
           "Piggyback with the non-minimal paths of ACOR",
           kSource,
           "source",
           "path",
           std::move(of_both),
           make_pb_acor,
           NonMinimalKind::kLgl,
           {"candidate_congested", "nonminimal_level"}}};
}

}  // namespace dragonfly
