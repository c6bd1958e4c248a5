// The comparison that UGAL and PAR share.
#pragma once

#include "routing/detour.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

struct UgalParams {
  DetourKind detour = DetourKind::kLgl;
  double bias_packets = 0.0;  // added to the non-minimal side: positive favours minimal
  std::uint32_t minimal_candidates = 1;
  std::uint32_t nonminimal_candidates = 1;
  bool avoid_destination_group = true;
  bool by_vc = false;  // weigh the VCs that the paths would use, not the ports
};

// The rows of these parameters in the registry, and their values. Candidates: all but the bias.
[[nodiscard]] std::vector<ParameterInfo> candidate_parameters();
[[nodiscard]] UgalParams read_candidate_params(const PolicyInfo& info, const Parameters& given,
                                               const PolicyEnvironment& environment);
[[nodiscard]] std::vector<ParameterInfo> ugal_parameters();
[[nodiscard]] UgalParams read_ugal_params(const PolicyInfo& info, const Parameters& given,
                                          const PolicyEnvironment& environment);

// The two sides of UGAL's comparison, and its answer.
struct UgalComparison {
  Detour detour{};                   // the best one, if any
  std::uint32_t minimal_choice = 0;  // of the best minimal path
  bool minimal = true;               // that one is to be taken, or there is no detour

  [[nodiscard]] Answer stay() const noexcept { return {.minimal_choice = minimal_choice}; }
};

// Non-minimal iff q_min > 2 * q_nonmin + bias, ties go minimal, where q
// is the occupancy of the first port of the path. Among several candidates of a kind the least
// occupied (then the first drawn) stands for all; there are several minimal ones only with trunking. When
// both paths start on one port, or by_vc, the VCs that they would use are compared instead. Source: Kang et
// al., HPDC 2021, sections 2.2 and 5.1 and its published simulator; LIA (TACO 2025) equation 1.
[[nodiscard]] UgalComparison ugal_comparison(const RouteContext& context, const UgalParams& params,
                                             Stage minimal_stage);
[[nodiscard]] inline Answer ugal_choice(const RouteContext& context, const UgalParams& params,
                                        Stage minimal_stage) {
  const UgalComparison compared = ugal_comparison(context, params, minimal_stage);
  return compared.minimal ? compared.stay() : Answer{.detour = compared.detour};
}

}  // namespace dragonfly
