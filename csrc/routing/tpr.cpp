#include <algorithm>
#include <iterator>

#include "routing/offered_traffic.hpp"
#include "routing/traffic_level.hpp"
#include "routing/ugal_rule.hpp"

namespace dragonfly {

namespace {

// TPR: UGAL, by the occupancy of the next VC, at the source router, whose threshold T follows from how many
// packets the router has injected towards the destination group in the last window; with a weight above 0
// those that are in its injection queues count, too (LIA's extended counters, section 4.2). Source: Faizian
// et al., IEEE TMSCS 2018, with two thresholds and the windows of LIA (TACO 2025), sections 2.2.3 and 5.2 and
// table 1.
class Tpr final : public DrawsPerDecision<Tpr> {
 public:
  Tpr(const UgalParams& params, const LevelBiases& biases, TrackerRequest counters)
      : params_{params}, biases_{biases}, counters_{std::move(counters)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.nonminimal = true,
            .intermediate_router = true,
            .longest_path = longest_path_hops(params_.nonminimal)};
  }

  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {params_.nonminimal}; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {counters_}; }

  [[nodiscard]] RandomStream stream_of(const DecisionContext& decision) const {
    return decision.nonminimal_stream(params_.nonminimal);
  }
  [[nodiscard]] RouteChoice route(const DecisionContext& decision, RandomStream& draws) const {
    UgalParams params = params_;
    params.metric = biases_.metric;
    params.bias_packets = biases_.packets(static_cast<TrafficLevel>(decision.tracked(
        0, static_cast<std::uint32_t>(Offered::kLevelThere), decision.packet().destination_group)));
    return ugal_choice(decision, params, Stage::kSource, draws);
  }

 private:
  UgalParams params_;
  LevelBiases biases_;
  TrackerRequest counters_;
};

std::unique_ptr<RoutingPolicy> make_tpr(const PolicyInfo& info, const Parameters& given,
                                        const PolicyEnvironment& environment) {
  check_thresholds(info, given);
  return std::make_unique<Tpr>(read_candidate_params(info, given, environment), read_biases(info, given),
                               request_tracker(kOfferedTraffic, info, given));
}

}  // namespace

std::vector<PolicyInfo> tpr_policies() {
  std::vector<ParameterInfo> parameters = threshold_parameters();
  parameters.pop_back();  // the threshold of saturated links
  ParameterInfo weight{"stored_weight", 0.0, "",
                       "weight of a packet in an injection queue: 0 for the plain counters of TPR, 0.1 for "
                       "the extended counters of LIA. Source: w of LIA, TACO 2025, section 6.1.1",
                       between(0, 1e6)};
  parameters.insert(parameters.begin(),
                    {find_tracker(kOfferedTraffic).parameters.front(), std::move(weight)});
  std::ranges::copy(bias_parameters(), std::back_inserter(parameters));
  std::ranges::copy(candidate_parameters(), std::back_inserter(parameters));
  return {{"tpr",
           "UGAL with a bias that depends on the router's recent traffic to the destination group",
           "Faizian et al., IEEE TMSCS 2018; LIA, TACO 2025, sections 2.2.3 and 5.2",
           "source",
           "path",
           std::move(parameters),
           make_tpr,
           NonMinimalKind::kLgl,
           {"destination_traffic_level"}}};
}

}  // namespace dragonfly
