#include "routing/ugal_rule.hpp"

namespace dragonfly {

std::vector<ParameterInfo> candidate_parameters() { return rows_of<CandidateParams>(); }

UgalParams read_candidate_params(const PolicyInfo& info, const Parameters& given,
                                 const PolicyEnvironment& environment) {
  UgalParams params;
  static_cast<CandidateParams&>(params) = {info, given, environment.avoid_destination_group};
  params.detour = info.detour;
  return params;
}

std::vector<ParameterInfo> ugal_parameters() { return rows_of<UgalParams>(); }

UgalParams read_ugal_params(const PolicyInfo& info, const Parameters& given,
                            const PolicyEnvironment& environment) {
  UgalParams params{info, given, environment.avoid_destination_group};
  params.detour = info.detour;
  return params;
}

std::vector<ParameterInfo> piggyback_parameters() { return rows_of<PiggybackParams>(); }

UgalParams read_piggyback_params(const PolicyInfo& info, const Parameters& given,
                                 const PolicyEnvironment& environment) {
  PiggybackParams params{info, given, environment.avoid_destination_group};
  params.detour = info.detour;
  const bool by_vc = params.weighing == 0 ? environment.weighs_vcs : params.weighing == 2;
  params.weighed = by_vc ? Weighed::kVc : Weighed::kPort;
  return params;
}

UgalComparison ugal_comparison(const RouteContext& context, const UgalParams& params, Stage minimal_stage) {
  const PathFollower& paths = context.paths();
  const auto occupancy_of = [&](const Hop& hop) {
    switch (params.weighed) {
      case Weighed::kPort:
        break;
      case Weighed::kVc:
        return context.occupancy_packets(hop);
      case Weighed::kVcQueue:
        return context.queued_packets(hop);
    }
    return context.occupancy_packets(hop.port);
  };
  Detour best{};
  Hop best_hop{};
  std::uint32_t best_occupancy = 0;
  RandomStream detours = context.detour_stream(params.detour);
  for (std::uint32_t i = 0; i < params.nonminimal_candidates; ++i) {
    const Detour detour = draw_detour(context, detours, params.detour, params.avoid_destination_group);
    if (!detour.exists()) break;
    const Hop hop = paths.detour_hop(context.packet(), detour, context.router(), context.group());
    const std::uint32_t occupancy = occupancy_of(hop);
    if (!best.exists() || occupancy < best_occupancy) {
      best = detour;
      best_hop = hop;
      best_occupancy = occupancy;
    }
  }

  const std::uint32_t possible = context.topology().num_choices();
  std::uint32_t minimal_choice = paths.choice_of(context.packet());
  Hop minimal =
      paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage, minimal_choice);
  std::uint32_t minimal_occupancy = occupancy_of(minimal);
  if (possible > 1 && params.minimal_candidates > 1) {
    RandomStream choices = context.minimal_choice_stream();
    for (std::uint32_t i = 0; i < params.minimal_candidates; ++i) {
      const std::uint32_t choice = choices.below(possible);
      const Hop hop =
          paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage, choice);
      const std::uint32_t occupancy = occupancy_of(hop);
      if (i == 0 || occupancy < minimal_occupancy) {
        minimal_choice = choice;
        minimal = hop;
        minimal_occupancy = occupancy;
      }
    }
  }

  const bool as_taken = minimal_stage == paths.source_stage(context.packet());
  UgalComparison compared{.minimal_choice = minimal_choice, .minimal_start = as_taken ? minimal : Hop{}};
  if (!best.exists()) return compared;
  if (params.weighed == Weighed::kPort && minimal.port == best_hop.port) {
    minimal_occupancy = context.occupancy_packets(minimal);
    best_occupancy = context.occupancy_packets(best_hop);
  }
  compared.detour = best;
  compared.detour_start = best_hop;
  compared.minimal = static_cast<double>(minimal_occupancy) <=
                     2.0 * static_cast<double>(best_occupancy) + params.bias_packets;
  return compared;
}

}  // namespace dragonfly
