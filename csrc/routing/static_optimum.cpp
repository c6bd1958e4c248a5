#include <utility>

#include "core/parameters.hpp"
#include "routing/path_split.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

// Every source router draws the path of a packet with fixed probabilities, which were computed from the
// demands of the run: it knows the traffic beforehand and looks at no queue. Source: this project; optimal
// routing of static demands after Bertsekas and Gallager, Data Networks, 1992, section 5.4.
class StaticOptimum final : public PerQuestion<StaticOptimum> {
 public:
  explicit StaticOptimum(PathSplitPtr split) : split_{std::move(split)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }
  // Deciding again would draw from the same probabilities.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.detours = true, .detour_router = true, .longest_path = longest_path_hops(DetourKind::kLgl)};
  }
  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override { return {DetourKind::kLgl}; }

  [[nodiscard]] Answer route(const Question& question) const {
    const Dragonfly& topology = question.topology();
    if (split_ == nullptr || split_->num_routers != topology.num_routers()) return {};
    const double drawn = question.detour_stream(DetourKind::kLgl).uniform();
    const std::uint32_t router = split_->draw(question.router(), question.packet().destination_router, drawn);
    // The VC ladder has no place for an intermediate router of the source group.
    if (router == kNil || topology.group_of(router) == question.group()) return {};
    return {.detour = {.kind = DetourKind::kLgl,
                       .router = router,
                       .group = static_cast<std::uint16_t>(topology.group_of(router))}};
  }

 private:
  PathSplitPtr split_;  // null: every packet takes the shortest path
};

std::unique_ptr<RoutingPolicy> make_static_optimum(const PolicyInfo& info, const Parameters& given,
                                                   const PolicyEnvironment& /*environment*/) {
  return std::make_unique<StaticOptimum>(split_parameter(info, given, "split"));
}

}  // namespace

std::vector<PolicyInfo> static_optimum_policies() {
  return {{"static-optimum",
           "fixed probabilities of paths that are optimal for the traffic, known beforehand",
           "this project",
           "source",
           "path",
           {{"split", PathSplitPtr{}, "",
             "the probabilities: a file; unset: computed for the traffic of the run"}},
           make_static_optimum}};
}

}  // namespace dragonfly
