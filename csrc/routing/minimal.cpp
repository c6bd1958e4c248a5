#include "routing/policy.hpp"

namespace dragonfly {

namespace {

// MIN: at most one local hop, one global hop, one local hop; nothing to decide.
// Source: Kim et al., ISCA 2008, section 4.1.
class Minimal final : public PerDecision<Minimal> {
 public:
  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kNowhere; }
  // Deciding again would choose the same path.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] PathBudget budget() const noexcept override { return {}; }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {}; }
  [[nodiscard]] RouteChoice route(const DecisionContext& /*decision*/) const { return {}; }
};

std::unique_ptr<RoutingPolicy> make_minimal(const PolicyInfo&, const Parameters&, const PolicyEnvironment&) {
  return std::make_unique<Minimal>();
}

}  // namespace

std::vector<PolicyInfo> minimal_policies() {
  return {
      {"min", "a shortest path", "Kim et al., ISCA 2008, section 4.1", "source", "path", {}, make_minimal}};
}

}  // namespace dragonfly
