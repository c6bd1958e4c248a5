// The comparison that UGAL and PAR share.
#pragma once

#include "routing/detour.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

struct UgalParams {
  DetourKind detour = DetourKind::kLgl;
  double bias_packets = 0.0;  // added to the non-minimal side: positive favours minimal
  std::uint32_t nonminimal_candidates = 1;
  bool avoid_destination_group = true;
};

[[nodiscard]] UgalParams read_ugal_params(const PolicyInfo& info, const Parameters& given,
                                          const PolicyEnvironment& environment);

// The detour to take, or none: non-minimal iff q_min > 2 * q_nonmin + bias, ties go minimal, where q
// is the occupancy of the first port of the path. Among several non-minimal candidates the least
// occupied (then the first drawn) stands for all. When both paths start on one port the VCs that
// they would use are compared instead.
// Source: Kang et al., HPDC 2021, sections 2.3 and 5.1 and its published simulator; LIA (TACO 2025)
// equation 1.
[[nodiscard]] Detour ugal_choice(RouteContext& context, const UgalParams& params, Stage minimal_stage);

}  // namespace dragonfly
