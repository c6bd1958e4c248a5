#include <algorithm>
#include <iterator>

#include "routing/congested_links.hpp"
#include "routing/short_detours.hpp"

namespace dragonfly {

namespace {

constexpr const char* kLength = "nonminimal-length";
constexpr const char* kSource = "ACOR, Benito et al., JPDC 2019; LIA, TACO 2025, sections 2.2.2 and 5.2";

// The kind of non-minimal path at each level of a router.
[[nodiscard]] DetourKind kind_at(double level) noexcept {
  return level < 1 ? DetourKind::kG : level < 2 ? DetourKind::kGl : DetourKind::kLgl;
}

// ACOR: always a non-minimal path, of the length of the router's level (trackers/detour_length.cpp).
// Source: Benito et al., JPDC 2019; LIA (TACO 2025), section 2.2.2.
class Acor final : public PerQuestion<Acor> {
 public:
  Acor(bool avoid_destination_group, TrackerRequest length)
      : avoid_destination_group_{avoid_destination_group}, length_{std::move(length)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }
  [[nodiscard]] PathBudget budget() const noexcept override { return any_detour_budget(); }
  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override { return all_detour_kinds(); }
  // FOGSim's heads draw twice a clock cycle, ours once; deciding once is closest to its figures.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {length_}; }

  [[nodiscard]] Answer route(const Question& question) const {
    const DetourKind kind = kind_at(question.tracked(0, 0, 0));
    const Detour detour = draw(question, kind);
    return {detour.exists() ? detour : draw(question, with_first_hop(kind))};
  }

 private:
  [[nodiscard]] Detour draw(const Question& question, DetourKind kind) const {
    RandomStream draws = question.detour_stream(kind);
    return draw_detour(question, draws, kind, avoid_destination_group_);
  }

  bool avoid_destination_group_;
  TrackerRequest length_;
};

// PB-ACOR: Piggyback's choice, with non-minimal paths of the length of ACOR's level.
// Source: LIA (TACO 2025), section 5.2 and table 1.
class PiggybackAcor final : public PerQuestion<PiggybackAcor> {
 public:
  PiggybackAcor(const UgalParams& params, TrackerRequest flags, TrackerRequest length)
      : params_{params}, flags_{std::move(flags)}, length_{std::move(length)} {}

  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }
  [[nodiscard]] PathBudget budget() const noexcept override { return any_detour_budget(); }
  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override { return all_detour_kinds(); }
  // Like Acor.
  [[nodiscard]] AfterRefusal after_refusal() const noexcept override { return AfterRefusal::kKeep; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {flags_, length_}; }

  [[nodiscard]] Answer route(const Question& question) const {
    const UgalComparison compared = ugal_comparison_of(question, params_, kind_at(question.tracked(1, 0, 0)));
    if (!compared.detour.exists()) return compared.stay();
    if (compared.minimal && !leaves_congested(question, compared.minimal_choice)) return compared.stay();
    return compared.leave();
  }

 private:
  UgalParams params_;
  TrackerRequest flags_;
  TrackerRequest length_;
};

std::unique_ptr<RoutingPolicy> make_acor(const PolicyInfo& info, const Parameters& given,
                                         const PolicyEnvironment& environment) {
  return std::make_unique<Acor>(
      flag_parameter(info, given, "avoid_destination_group", environment.avoid_destination_group),
      request_tracker(kLength, info, given));
}

std::unique_ptr<RoutingPolicy> make_pb_acor(const PolicyInfo& info, const Parameters& given,
                                            const PolicyEnvironment& environment) {
  return std::make_unique<PiggybackAcor>(read_piggyback_params(info, given, environment),
                                         request_tracker(kCongestedLinks, info, given),
                                         request_tracker(kLength, info, given));
}

}  // namespace

std::vector<PolicyInfo> acor_policies() {
  std::vector<ParameterInfo> of_acor = find_tracker(kLength).parameters;
  std::vector<ParameterInfo> of_both = find_tracker(kCongestedLinks).parameters;
  std::ranges::copy(of_acor, std::back_inserter(of_both));
  std::ranges::copy(piggyback_parameters(), std::back_inserter(of_both));
  std::ranges::copy(detour_parameters(), std::back_inserter(of_acor));
  return {{"acor",
           "always a non-minimal path, which is the longer the more heads of injection queues are blocked",
           kSource, "source", "path", std::move(of_acor), make_acor},
          {"pb-acor", "as pb, with non-minimal paths as long as acor's", kSource, "source", "path",
           std::move(of_both), make_pb_acor}};
}

}  // namespace dragonfly
