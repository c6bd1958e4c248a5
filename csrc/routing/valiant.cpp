#include "core/error.hpp"
#include "core/parameters.hpp"
#include "routing/nonminimal.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

enum class OwnGroupPaths : std::uint32_t { kMinimal, kLocal, kGlobal };

struct ValiantParams : NonMinimalParams {
  using NonMinimalParams::NonMinimalParams;
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
class Valiant final : public DrawsPerDecision<Valiant> {
 public:
  Valiant(NonMinimalKind kind, const ValiantParams& params)
      : kind_{kind},
        own_kind_{own_group(params) == OwnGroupPaths::kLocal ? NonMinimalKind::kL : kind},
        stays_minimal_{own_group(params) == OwnGroupPaths::kMinimal},
        avoid_destination_group_{params.avoid_destination_group} {}

  // Deciding again would choose the same path.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] DecisionScope scope() const noexcept override {
    return stays_minimal_ ? DecisionScope::kSource : DecisionScope::kSourceAround;
  }

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.nonminimal = true,
            .intermediate_router = visits_router(kind_),
            .own_group_nonminimal = own_kind_ == NonMinimalKind::kL,
            .longest_path = longest_path_hops(kind_)};
  }

  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override {
    if (own_kind_ == kind_) return {kind_};
    return {kind_, own_kind_};
  }

  [[nodiscard]] RandomStream stream_of(const DecisionContext& decision) const {
    return decision.nonminimal_stream(kind_of(decision));
  }
  [[nodiscard]] RouteChoice route(const DecisionContext& decision, RandomStream& draws) const {
    // A router without a suitable global link of its own stays minimal.
    return {
        draw_nonminimal(decision, draws, kind_of(decision), avoid_destination_group_, own_group_of(scope()))};
  }

 private:
  [[nodiscard]] NonMinimalKind kind_of(const DecisionContext& decision) const noexcept {
    return decision.leaves() ? kind_ : own_kind_;
  }
  static OwnGroupPaths own_group(const ValiantParams& params) noexcept {
    return static_cast<OwnGroupPaths>(static_cast<std::uint32_t>(params.own_group));
  }

  NonMinimalKind kind_;
  NonMinimalKind own_kind_;  // kind of path of packets to their own group
  bool stays_minimal_;       // whether packets inside a group stay minimal
  bool avoid_destination_group_;
};

std::unique_ptr<RoutingPolicy> make_valiant(const PolicyInfo& info, const Parameters& given,
                                            const PolicyEnvironment& environment) {
  const bool own_links = info.nonminimal == NonMinimalKind::kGl || info.nonminimal == NonMinimalKind::kG;
  if (own_links && !environment.own_global_links) {
    throw ConfigError{"policy", "'" + info.name + "'",
                      "must be 'val-g' or 'val-n': no router with hosts has a global link of its own"};
  }
  return std::make_unique<Valiant>(info.nonminimal,
                                   ValiantParams{info, given, environment.avoid_destination_group});
}

}  // namespace

std::vector<PolicyInfo> valiant_policies() {
  constexpr const char* kang = "Kang, Wang, Lan, HPDC 2021, section 2.2";
  constexpr const char* lia = "Benito, Vallejo, Beivide, TACO 2025 (LIA), section 2.2.1";
  const auto parameters = rows_of<ValiantParams>();
  const auto row = [&](const char* name, const char* summary, const char* source, NonMinimalKind nonminimal,
                       std::vector<std::string> aliases = {}) {
    return PolicyInfo{name,       summary,      source,     "source", "path",
                      parameters, make_valiant, nonminimal, {},       std::move(aliases)};
  };
  return {
      row("val-g", "always a non-minimal path, through a random group", kang, NonMinimalKind::kLg),
      row("val-n", "always a non-minimal path, through a random router of another group", kang,
          NonMinimalKind::kLgl, {"vlb-lgl"}),
      row("vlb-lg",
          "always a non-minimal path, through the router at the end of a random global link of the group",
          lia, NonMinimalKind::kLg),
      row("vlb-gl",
          "always a non-minimal path, through a random router of a group that the source router has a global "
          "link to",
          lia, NonMinimalKind::kGl),
      row("vlb-g",
          "always a non-minimal path, through the router at the end of a global link of the source router",
          lia, NonMinimalKind::kG)};
}

}  // namespace dragonfly
