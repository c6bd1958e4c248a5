#include "core/parameters.hpp"
#include "routing/detour.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

// Valiant load balancing: every packet that leaves its group takes a random detour; the kind says
// which local hops of the first phase it makes.
// Source: Valiant and Brebner, STOC 1981; kinds: LIA (TACO 2025) section 2.2.1; VALg and VALn: Kang
// et al., HPDC 2021, section 2.2.
class Valiant final : public PerQuestion<Valiant> {
 public:
  Valiant(DetourKind kind, const DetourParams& params) : kind_{kind}, params_{params} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.detours = true, .detour_router = visits_router(kind_), .longest_path = longest_path_hops(kind_)};
  }

  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override { return {kind_}; }

  [[nodiscard]] Answer route(const Question& question) const {
    // A router without a suitable global link of its own stays minimal.
    RandomStream draws = question.detour_stream(kind_);
    return {draw_detour(question, draws, kind_, params_.avoid_destination_group)};
  }

 private:
  DetourKind kind_;
  DetourParams params_;
};

std::unique_ptr<RoutingPolicy> make_valiant(const PolicyInfo& info, const Parameters& given,
                                            const PolicyEnvironment& environment) {
  return std::make_unique<Valiant>(info.detour,
                                   DetourParams{info, given, environment.avoid_destination_group});
}

}  // namespace

std::vector<PolicyInfo> valiant_policies() {
  constexpr const char* kang = "Kang, Wang, Lan, HPDC 2021, section 2.2";
  constexpr const char* lia = "Benito, Vallejo, Beivide, TACO 2025 (LIA), section 2.2.1";
  const auto parameters = detour_parameters();
  const auto row = [&](const char* name, const char* summary, const char* source, DetourKind detour) {
    return PolicyInfo{name, summary, source, "source", "path", parameters, make_valiant, detour};
  };
  return {row("val-g", "always a detour through a random group", kang, DetourKind::kLg),
          row("val-n", "always a detour through a random router of another group", kang, DetourKind::kLgl),
          row("vlb-lg", "Valiant with path A = local, global", lia, DetourKind::kLg),
          row("vlb-gl", "Valiant with path A = own global link, local", lia, DetourKind::kGl),
          row("vlb-g", "Valiant with path A = own global link", lia, DetourKind::kG)};
}

}  // namespace dragonfly
