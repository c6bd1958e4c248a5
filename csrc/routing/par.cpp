#include "routing/ugal_rule.hpp"

namespace dragonfly {

namespace {

// PAR, progressive adaptive routing: UGAL at the source router; for a packet that was sent minimally the
// second router of the source group decides again, by the same rule.
// Source: Jiang et al., ISCA 2009; zero bias as in Kang et al., HPDC 2021, section 5.1.
class Par final : public DrawsPerDecision<Par> {
 public:
  explicit Par(const UgalParams& params) : params_{params} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSourceGroup; }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.nonminimal = true,
            .intermediate_router = true,
            .reconsiders = true,
            .longest_path = static_cast<std::uint8_t>(longest_path_hops(params_.nonminimal) + 1)};
  }

  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {params_.nonminimal}; }

  [[nodiscard]] RandomStream stream_of(const DecisionContext& decision) const {
    return decision.nonminimal_stream(params_.nonminimal);
  }
  [[nodiscard]] RouteChoice route(const DecisionContext& decision, RandomStream& draws) const {
    const bool first = decision.packet().hops == 0;
    return ugal_choice(decision, params_, first ? Stage::kFirst : Stage::kSource, draws);
  }

 private:
  UgalParams params_;
};

std::unique_ptr<RoutingPolicy> make_par(const PolicyInfo& info, const Parameters& given,
                                        const PolicyEnvironment& environment) {
  return std::make_unique<Par>(read_queue_ugal_params(info, given, environment));
}

}  // namespace

std::vector<PolicyInfo> par_policies() {
  return {{"par",
           "progressive adaptive routing: UGAL at the source router, and again at the second router of the "
           "source group",
           "Jiang et al., ISCA 2009; Kang et al., HPDC 2021", "every", "path", queue_ugal_parameters(),
           make_par, NonMinimalKind::kLgl}};
}

}  // namespace dragonfly
