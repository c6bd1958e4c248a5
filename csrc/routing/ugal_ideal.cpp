#include "routing/ugal_rule.hpp"

namespace dragonfly {

namespace {

// UGAL-G: UGAL that sees the global links of its whole group without delay, and compares those by which the
// two paths leave it, wherever they are: the VCs that the paths would use there. No real router could.
// Source: LIA (TACO 2025), section 5.2 and equation 1; Kim et al., ISCA 2008.
class UgalIdeal final : public PerDecision<UgalIdeal> {
 public:
  explicit UgalIdeal(const UgalParams& params) : params_{params} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.nonminimal = true,
            .intermediate_router = true,
            .longest_path = longest_path_hops(params_.nonminimal)};
  }

  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {params_.nonminimal}; }

  [[nodiscard]] std::vector<TrackerRequest> trackers() const override {
    return {request_tracker("link-occupancy", Parameters{})};
  }

  [[nodiscard]] RouteChoice route(const DecisionContext& decision) const {
    const PathFollower& paths = decision.paths();
    const Packet& packet = decision.packet();
    const std::uint32_t own_choice = paths.choice_of(packet);
    const std::uint32_t possible = decision.topology().num_choices();
    const std::uint32_t candidates = possible == 1 ? 1 : params_.minimal_candidates;
    RandomStream choices = decision.minimal_choice_stream();
    std::uint32_t best_choice = 0;
    double minimal = 0;
    for (std::uint32_t i = 0; i < candidates; ++i) {
      const std::uint32_t choice = candidates == 1 ? own_choice : choices.below(possible);
      const double packets = on_link(decision, paths.first_global_hop(packet, decision.router(), choice));
      if (i > 0 && packets >= minimal) continue;
      best_choice = choice;
      minimal = packets;
    }

    RandomStream draws = decision.nonminimal_stream(params_.nonminimal);
    NonMinimalPath best{};
    double around = 0;
    for (std::uint32_t i = 0; i < params_.nonminimal_candidates; ++i) {
      const NonMinimalPath nonminimal =
          draw_nonminimal(decision, draws, params_.nonminimal, params_.avoid_destination_group);
      if (!nonminimal.exists()) break;
      const double packets = on_link(decision, paths.first_global_hop(packet, nonminimal, decision.router()));
      if (i > 0 && packets >= around) continue;
      best = nonminimal;
      around = packets;
    }
    if (!best.exists() || minimal <= 2.0 * around + params_.bias_packets) {
      return {.minimal_choice = best_choice};
    }
    return {.nonminimal = best};
  }

 private:
  [[nodiscard]] static double on_link(const DecisionContext& decision, const PathFollower::GlobalHop& hop) {
    const std::uint32_t q = decision.topology().global_position(hop.link.router, hop.link.port);
    return decision.tracked(0, 1, q * kMostVcsOfLink + hop.vc);
  }

  UgalParams params_;
};

std::unique_ptr<RoutingPolicy> make_ugal_ideal(const PolicyInfo& info, const Parameters& given,
                                               const PolicyEnvironment& environment) {
  return std::make_unique<UgalIdeal>(read_ugal_params(info, given, environment));
}

}  // namespace

std::vector<PolicyInfo> ugal_ideal_policies() {
  return {{"ugal-ideal",
           "UGAL that knows the occupancy of the global links of both paths, anywhere in the group",
           "LIA, TACO 2025, section 5.2 (UGAL-G); Kim et al., ISCA 2008",
           "source",
           "path",
           ugal_parameters(),
           make_ugal_ideal,
           NonMinimalKind::kLgl,
           {"candidate_link_packets"}}};
}

}  // namespace dragonfly
