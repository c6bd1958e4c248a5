#include <algorithm>
#include <iterator>

#include "routing/congested_links.hpp"
#include "routing/ugal_rule.hpp"

namespace dragonfly {

namespace {

// PB, Piggyback: UGAL at the source router, which also receives the flags of congested global links of its
// group: a non-minimal path if the minimal path's link is congested, even if the queues here are empty.
// Source: Jiang et al., ISCA 2009; parameters, and T = 0, as in LIA (TACO 2025), section 5.2 and table 1.
class Piggyback final : public DrawsPerDecision<Piggyback> {
 public:
  Piggyback(const UgalParams& params, TrackerRequest flags) : params_{params}, flags_{std::move(flags)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.nonminimal = true,
            .intermediate_router = true,
            .longest_path = longest_path_hops(params_.nonminimal)};
  }

  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {params_.nonminimal}; }

  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {flags_}; }

  [[nodiscard]] RandomStream stream_of(const DecisionContext& decision) const {
    return decision.nonminimal_stream(params_.nonminimal);
  }
  [[nodiscard]] RouteChoice route(const DecisionContext& decision, RandomStream& draws) const {
    const UgalComparison compared = ugal_comparison(decision, params_, Stage::kSource, draws);
    if (!compared.nonminimal.exists()) return compared.stay();
    if (compared.minimal && !leaves_congested(decision, compared.minimal_choice)) return compared.stay();
    return compared.leave();
  }

 private:
  UgalParams params_;
  TrackerRequest flags_;
};

std::unique_ptr<RoutingPolicy> make_pb(const PolicyInfo& info, const Parameters& given,
                                       const PolicyEnvironment& environment) {
  return std::make_unique<Piggyback>(read_piggyback_params(info, given, environment),
                                     request_tracker(kCongestedLinks, info, given));
}

}  // namespace

std::vector<PolicyInfo> pb_policies() {
  std::vector<ParameterInfo> parameters = find_tracker(kCongestedLinks).parameters;
  std::ranges::copy(piggyback_parameters(), std::back_inserter(parameters));
  return {{"pb",
           "Piggyback: UGAL that also takes a non-minimal path if routers of the group signal that the "
           "minimal global link is congested",
           "Jiang et al., ISCA 2009; LIA, TACO 2025, section 5.2",
           "source",
           "path",
           std::move(parameters),
           make_pb,
           NonMinimalKind::kLgl,
           {"candidate_congested"}}};
}

}  // namespace dragonfly
