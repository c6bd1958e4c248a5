#include "routing/ugal_rule.hpp"

namespace dragonfly {

namespace {

// UGAL: at the source router compare one minimal path with random non-minimal paths by local queue occupancy;
// the choice then holds to the destination.
// Source: Kim et al., ISCA 2008; zero bias as in Kang et al., HPDC 2021, section 5.1.
class Ugal final : public DrawsPerQuestion<Ugal> {
 public:
  explicit Ugal(const UgalParams& params) : params_{params} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.detours = true,
            .detour_router = visits_router(params_.detour),
            .longest_path = longest_path_hops(params_.detour)};
  }

  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override { return {params_.detour}; }

  [[nodiscard]] RandomStream stream_of(const Question& question) const {
    return question.detour_stream(params_.detour);
  }
  [[nodiscard]] Answer route(const Question& question, RandomStream& draws) const {
    return ugal_choice(question, params_, Stage::kSource, draws);
  }

 private:
  UgalParams params_;
};

std::unique_ptr<RoutingPolicy> make_ugal(const PolicyInfo& info, const Parameters& given,
                                         const PolicyEnvironment& environment) {
  return std::make_unique<Ugal>(read_ugal_params(info, given, environment));
}

}  // namespace

std::vector<PolicyInfo> ugal_policies() {
  constexpr const char* source = "Kang, Wang, Lan, HPDC 2021, section 2.2";
  return {{"ugal-g", "minimal or a random group, by local occupancy", source, "source", "path",
           ugal_parameters(), make_ugal, DetourKind::kLg},
          {"ugal-n", "minimal or a random router, by local occupancy", source, "source", "path",
           ugal_parameters(), make_ugal, DetourKind::kLgl}};
}

}  // namespace dragonfly
