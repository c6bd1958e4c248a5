#include <algorithm>
#include <iterator>

#include "routing/offered_traffic.hpp"
#include "routing/short_nonminimal.hpp"
#include "routing/trackers/traffic_parameters.hpp"
#include "routing/traffic_level.hpp"

namespace dragonfly {

namespace {

constexpr const char* kRemoteTraffic = "remote-traffic";

// LIA: UGAL at the source router, whose threshold T follows from what the router's hosts offer to the
// destination group, with non-minimal paths that are as short as is safe:
//   the first local hop (L1) only where several of the router's own global links lead to groups that its
//   hosts send much to: the minimal traffic of other routers needs these links (section 4.3.1);
//   the second one (L2) only where the router's own traffic would crowd the local links by which non-minimal
//   paths to the destination leave the groups between (section 4.3.2).
// No signal is sent to other routers (section 4.1).
// Source: LIA (TACO 2025), section 4; parameters of table 1.
class Lia final : public PerDecision<Lia> {
 public:
  struct Settings {
    UgalParams candidates;
    LevelBiases biases;
    double saturated_groups = 3;
    double remote_packets = 20;
  };

  Lia(const Settings& settings, TrackerRequest offered, TrackerRequest remote)
      : settings_{settings}, offered_{std::move(offered)}, remote_{std::move(remote)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }
  [[nodiscard]] PathBudget budget() const noexcept override { return any_nonminimal_budget(); }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override {
    return all_nonminimal_kinds();
  }
  // Lia chooses among kinds of paths, so a refused packet may take another kind.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kNewPath; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {offered_, remote_}; }

  [[nodiscard]] RouteChoice route(const DecisionContext& decision) const {
    const std::uint32_t destination = decision.packet().destination_group;
    const auto offered = [&](Offered field) {
      return decision.tracked(0, static_cast<std::uint32_t>(field), destination);
    };
    // A router with fewer links than "several" has them all taken when all are.
    const double several = std::min(settings_.saturated_groups, offered(Offered::kOwnLinks));
    const bool first_hop = offered(Offered::kSaturatedLinks) >= several;
    const bool second_hop = decision.tracked(1, 1, destination) > settings_.remote_packets;
    UgalParams params = settings_.candidates;
    params.metric = settings_.biases.metric;
    params.bias_packets = settings_.biases.packets(static_cast<TrafficLevel>(offered(Offered::kLevelThere)));
    const UgalComparison compared =
        ugal_comparison_of(decision, params, nonminimal_kind(first_hop, second_hop));
    return compared.minimal ? compared.stay() : compared.leave();
  }

 private:
  Settings settings_;
  TrackerRequest offered_;
  TrackerRequest remote_;
};

std::unique_ptr<RoutingPolicy> make_lia(const PolicyInfo& info, const Parameters& given,
                                        const PolicyEnvironment& environment) {
  check_thresholds(info, given);
  return std::make_unique<Lia>(
      Lia::Settings{.candidates = read_candidate_params(info, given, environment),
                    .biases = read_biases(info, given),
                    .saturated_groups = static_cast<double>(count_parameter(info, given, "saturated_groups")),
                    .remote_packets = number_parameter(info, given, "remote_packets")},
      request_tracker(kOfferedTraffic, info, given), request_tracker(kRemoteTraffic, info, given));
}

}  // namespace

std::vector<PolicyInfo> lia_policies() {
  std::vector<ParameterInfo> parameters = window_parameters();
  std::ranges::copy(threshold_parameters(), std::back_inserter(parameters));
  std::ranges::copy(bias_parameters(), std::back_inserter(parameters));
  parameters.push_back({"saturated_groups", 3.0, "groups",
                        "saturated global links of the router from which on non-minimal paths begin with a "
                        "local hop. Source: SGC of LIA, TACO 2025, table 1",
                        whole(1, kMaxRadix)});
  parameters.push_back({"remote_packets", 20.0, "packets",
                        "value of a remote counter of the destination above which non-minimal paths have a "
                        "local hop in the intermediate group. Source: RCTh of LIA, TACO 2025, table 1",
                        between(0, 1e6)});
  std::ranges::copy(candidate_parameters(), std::back_inserter(parameters));
  return {
      {"lia",
       "a minimal path or the shortest safe non-minimal path, chosen by counters of the router's own traffic",
       "LIA, TACO 2025, section 4",
       "source",
       "path",
       std::move(parameters),
       make_lia,
       NonMinimalKind::kLgl,
       {"destination_traffic_level", "saturated_links", "own_links", "destination_remote_packets"}}};
}

}  // namespace dragonfly
