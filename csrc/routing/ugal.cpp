#include "routing/ugal_rule.hpp"

namespace dragonfly {

namespace {

// UGAL: at the source router compare one minimal path with random non-minimal paths by local queue occupancy;
// the choice then holds to the destination.
// Source: Kim et al., ISCA 2008; zero bias as in Kang et al., HPDC 2021, section 5.1.
class Ugal final : public DrawsPerDecision<Ugal> {
 public:
  explicit Ugal(const UgalParams& params) : params_{params} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.nonminimal = true,
            .intermediate_router = visits_router(params_.nonminimal),
            .longest_path = longest_path_hops(params_.nonminimal)};
  }

  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {params_.nonminimal}; }

  [[nodiscard]] RandomStream stream_of(const DecisionContext& decision) const {
    return decision.nonminimal_stream(params_.nonminimal);
  }
  [[nodiscard]] RouteChoice route(const DecisionContext& decision, RandomStream& draws) const {
    return ugal_choice(decision, params_, Stage::kSource, draws);
  }

 private:
  UgalParams params_;
};

std::unique_ptr<RoutingPolicy> make_ugal(const PolicyInfo& info, const Parameters& given,
                                         const PolicyEnvironment& environment) {
  return std::make_unique<Ugal>(read_queue_ugal_params(info, given, environment));
}

}  // namespace

std::vector<PolicyInfo> ugal_policies() {
  constexpr const char* source = "Kang, Wang, Lan, HPDC 2021, section 2.2";
  return {{"ugal-g",
           "UGAL: compares the occupancy of the first port of a minimal path and of a path through a random "
           "group",
           source, "source", "path", queue_ugal_parameters(), make_ugal, NonMinimalKind::kLg},
          {"ugal-n",
           "UGAL: compares the occupancy of the first port of a minimal path and of a path through a random "
           "router",
           source, "source", "path", queue_ugal_parameters(), make_ugal, NonMinimalKind::kLgl}};
}

}  // namespace dragonfly
