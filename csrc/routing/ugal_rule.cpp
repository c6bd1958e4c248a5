#include "routing/ugal_rule.hpp"

namespace dragonfly {

std::vector<ParameterInfo> candidate_parameters() { return rows_of<CandidateParams>(); }

UgalParams read_candidate_params(const PolicyInfo& info, const Parameters& given,
                                 const PolicyEnvironment& environment) {
  UgalParams params;
  static_cast<CandidateParams&>(params) = {info, given, environment.avoid_destination_group};
  params.nonminimal = info.nonminimal;
  return params;
}

std::vector<ParameterInfo> ugal_parameters() { return rows_of<UgalParams>(); }

UgalParams read_ugal_params(const PolicyInfo& info, const Parameters& given,
                            const PolicyEnvironment& environment) {
  UgalParams params{info, given, environment.avoid_destination_group};
  params.nonminimal = info.nonminimal;
  return params;
}

std::vector<ParameterInfo> queue_ugal_parameters() { return rows_of<QueueUgalParams>(); }

UgalParams read_queue_ugal_params(const PolicyInfo& info, const Parameters& given,
                                  const PolicyEnvironment& environment) {
  QueueUgalParams params{info, given, environment.avoid_destination_group};
  params.nonminimal = info.nonminimal;
  params.metric = params.congestion_metric == 1 ? CongestionMetric::kVcQueue : CongestionMetric::kPort;
  return params;
}

std::vector<ParameterInfo> piggyback_parameters() { return rows_of<PiggybackParams>(); }

UgalParams read_piggyback_params(const PolicyInfo& info, const Parameters& given,
                                 const PolicyEnvironment& environment) {
  PiggybackParams params{info, given, environment.avoid_destination_group};
  params.nonminimal = info.nonminimal;
  const bool by_vc = params.congestion_metric == 0 ? environment.compares_vcs : params.congestion_metric == 2;
  params.metric = by_vc ? CongestionMetric::kVc : CongestionMetric::kPort;
  params.path_weights = params.weights == 0 ? PathWeights::kDouble : PathWeights::kHops;
  return params;
}

UgalComparison detail::compare_several(const RouteContext& context, const UgalParams& params,
                                       Stage minimal_stage, RandomStream& draws) {
  const PathFollower& paths = context.paths();
  const std::uint32_t drawn_choice = paths.choice_of(context.packet());
  NonMinimalPath best{};
  Hop best_hop{};
  std::uint32_t best_occupancy = 0;
  for (std::uint32_t i = 0; i < params.nonminimal_candidates; ++i) {
    const NonMinimalPath nonminimal =
        draw_nonminimal(context, draws, params.nonminimal, params.avoid_destination_group);
    if (!nonminimal.exists()) break;
    const Hop hop =
        paths.nonminimal_hop(context.packet(), nonminimal, context.router(), context.group(), drawn_choice);
    const std::uint32_t occupancy = detail::occupancy_of(context, params, hop);
    if (!best.exists() || occupancy < best_occupancy) {
      best = nonminimal;
      best_hop = hop;
      best_occupancy = occupancy;
    }
  }

  const std::uint32_t possible = context.topology().num_choices();
  std::uint32_t minimal_choice = drawn_choice;
  Hop minimal =
      paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage, minimal_choice);
  std::uint32_t minimal_occupancy = detail::occupancy_of(context, params, minimal);
  if (possible > 1 && params.minimal_candidates > 1) {
    RandomStream choices = context.minimal_choice_stream();
    for (std::uint32_t i = 0; i < params.minimal_candidates; ++i) {
      const std::uint32_t choice = choices.below(possible);
      const Hop hop =
          paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage, choice);
      const std::uint32_t occupancy = detail::occupancy_of(context, params, hop);
      if (i == 0 || occupancy < minimal_occupancy) {
        minimal_choice = choice;
        minimal = hop;
        minimal_occupancy = occupancy;
      }
    }
  }

  UgalComparison compared{.nonminimal = best,
                          .nonminimal_start = best_hop,
                          .minimal_choice = minimal_choice,
                          .minimal_start = detail::start_of(context, minimal, minimal_stage)};
  if (best.exists()) detail::weigh(context, params, minimal, minimal_occupancy, best_occupancy, compared);
  return compared;
}

}  // namespace dragonfly
