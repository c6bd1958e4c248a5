// Non-minimal paths whose length is chosen packet by packet, for policies that may take any of the four
// kinds.
#pragma once

#include "routing/ugal_rule.hpp"

namespace dragonfly {

// The paths that such a policy may use.
[[nodiscard]] inline PathBudget any_nonminimal_budget() noexcept {
  return {.nonminimal = true,
          .intermediate_router = true,
          .longest_path = longest_path_hops(NonMinimalKind::kLgl)};
}
[[nodiscard]] inline std::vector<NonMinimalKind> all_nonminimal_kinds() {
  return {NonMinimalKind::kLgl, NonMinimalKind::kLg, NonMinimalKind::kGl, NonMinimalKind::kG};
}

// The kind with these local hops of the non-minimal path (L1 and L2 of LIA, section 2.2.1).
[[nodiscard]] constexpr NonMinimalKind nonminimal_kind(bool first_hop, bool second_hop) noexcept {
  if (first_hop) return second_hop ? NonMinimalKind::kLgl : NonMinimalKind::kLg;
  return second_hop ? NonMinimalKind::kGl : NonMinimalKind::kG;
}

// The kind with the first local hop added: for routers without a suitable global link, in systems
// with fewer groups than ports.
[[nodiscard]] constexpr NonMinimalKind with_first_hop(NonMinimalKind kind) noexcept {
  return nonminimal_kind(true, visits_router(kind));
}

// UGAL's comparison with non-minimal paths of this kind, or, where there is none, of the one with the first
// hop.
[[nodiscard]] inline UgalComparison ugal_comparison_of(const RouteContext& context, UgalParams params,
                                                       NonMinimalKind kind) {
  params.nonminimal = kind;
  const UgalComparison compared = ugal_comparison(context, params, Stage::kSource);
  if (compared.nonminimal.exists() || with_first_hop(kind) == kind) return compared;
  params.nonminimal = with_first_hop(kind);
  return ugal_comparison(context, params, Stage::kSource);
}

}  // namespace dragonfly
