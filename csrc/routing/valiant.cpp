#include "core/parameters.hpp"
#include "routing/detour.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

enum class OwnGroupPaths : std::uint32_t { kMinimal, kLocal, kGlobal };

struct ValiantParams : DetourParams {
  using DetourParams::DetourParams;
  Choice own_group{
      this,
      {"own_group", std::string{"minimal"}, "",
       "paths of packets to another router of their own group: minimal; local, by a random other router of "
       "the "
       "group (LIA, TACO 2025, section 3.2); global, by other groups, as packets to another group",
       among({"minimal", "local", "global"})}};
};

// Valiant load balancing: every packet that leaves its group takes a random non-minimal path; the kind fixes
// the local hops of the first phase. `own_group` decides whether packets inside a group take one, too.
// Source: Valiant and Brebner, STOC 1981; kinds: LIA (TACO 2025) section 2.2.1; VALg and VALn: Kang et al.,
// HPDC 2021, section 2.2.
class Valiant final : public DrawsPerQuestion<Valiant> {
 public:
  Valiant(DetourKind kind, const ValiantParams& params)
      : kind_{kind},
        own_kind_{own_group(params) == OwnGroupPaths::kLocal ? DetourKind::kL : kind},
        stays_minimal_{own_group(params) == OwnGroupPaths::kMinimal},
        avoid_destination_group_{params.avoid_destination_group} {}

  // Deciding again would choose the same path.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] DecisionScope scope() const noexcept override {
    return stays_minimal_ ? DecisionScope::kSource : DecisionScope::kSourceAround;
  }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.detours = true, .detour_router = visits_router(kind_), .longest_path = longest_path_hops(kind_)};
  }

  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override {
    if (own_kind_ == kind_) return {kind_};
    return {kind_, own_kind_};
  }

  [[nodiscard]] RandomStream stream_of(const Question& question) const {
    return question.detour_stream(kind_of(question));
  }
  [[nodiscard]] Answer route(const Question& question, RandomStream& draws) const {
    // A router without a suitable global link of its own stays minimal.
    return {draw_detour(question, draws, kind_of(question), avoid_destination_group_, own_group_of(scope()))};
  }

 private:
  [[nodiscard]] DetourKind kind_of(const Question& question) const noexcept {
    return question.leaves() ? kind_ : own_kind_;
  }
  static OwnGroupPaths own_group(const ValiantParams& params) noexcept {
    return static_cast<OwnGroupPaths>(static_cast<std::uint32_t>(params.own_group));
  }

  DetourKind kind_;
  DetourKind own_kind_;  // of packets to their own group
  bool stays_minimal_;   // without packets inside a group
  bool avoid_destination_group_;
};

std::unique_ptr<RoutingPolicy> make_valiant(const PolicyInfo& info, const Parameters& given,
                                            const PolicyEnvironment& environment) {
  return std::make_unique<Valiant>(info.detour,
                                   ValiantParams{info, given, environment.avoid_destination_group});
}

}  // namespace

std::vector<PolicyInfo> valiant_policies() {
  constexpr const char* kang = "Kang, Wang, Lan, HPDC 2021, section 2.2";
  constexpr const char* lia = "Benito, Vallejo, Beivide, TACO 2025 (LIA), section 2.2.1";
  const auto parameters = rows_of<ValiantParams>();
  const auto row = [&](const char* name, const char* summary, const char* source, DetourKind detour) {
    return PolicyInfo{name, summary, source, "source", "path", parameters, make_valiant, detour};
  };
  return {row("val-g", "always a non-minimal path through a random group", kang, DetourKind::kLg),
          row("val-n", "always a non-minimal path through a random router of another group", kang,
              DetourKind::kLgl),
          row("vlb-lg", "Valiant with path A = local, global", lia, DetourKind::kLg),
          row("vlb-gl", "Valiant with path A = own global link, local", lia, DetourKind::kGl),
          row("vlb-g", "Valiant with path A = own global link", lia, DetourKind::kG)};
}

}  // namespace dragonfly
