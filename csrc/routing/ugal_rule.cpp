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

namespace {

std::uint32_t occupancy_of(const RouteContext& context, const UgalParams& params, const Hop& hop) {
  switch (params.weighed) {
    case Weighed::kPort:
      break;
    case Weighed::kVc:
      return context.occupancy_packets(hop);
    case Weighed::kVcQueue:
      return context.queued_packets(hop);
  }
  return context.occupancy_packets(hop.port);
}

// The first hop of the minimal path, if it is the one that the packet would take.
Hop start_of(const RouteContext& context, const Hop& minimal, Stage minimal_stage) {
  return minimal_stage == context.paths().source_stage(context.packet()) ? minimal : Hop{};
}

void weigh(const RouteContext& context, const UgalParams& params, const Hop& minimal,
           std::uint32_t minimal_occupancy, std::uint32_t detour_occupancy, UgalComparison& compared) {
  if (params.weighed == Weighed::kPort && minimal.port == compared.detour_start.port) {
    minimal_occupancy = context.occupancy_packets(minimal);
    detour_occupancy = context.occupancy_packets(compared.detour_start);
  }
  compared.minimal = static_cast<double>(minimal_occupancy) <=
                     2.0 * static_cast<double>(detour_occupancy) + params.bias_packets;
}

// Whether one path of each kind leaves the group, by the only way there is.
bool has_one_candidate_each(const RouteContext& context, const UgalParams& params) {
  const Packet& packet = context.packet();
  return context.topology().has_single_ways() && params.nonminimal_candidates == 1 &&
         params.detour != DetourKind::kL && packet.plan == Plan::kMinimal &&
         packet.destination_group != context.group();
}

UgalComparison compare_two(const RouteContext& context, const UgalParams& params, Stage minimal_stage,
                           RandomStream& detours) {
  const PathFollower& paths = context.paths();
  const Packet& packet = context.packet();
  const Hop minimal = paths.only_hop_out(packet, context.router(), packet.destination_group, minimal_stage,
                                         true, visits_router(packet.detour_kind));
  UgalComparison compared{
      .detour = draw_detour(context, detours, params.detour, params.avoid_destination_group),
      .minimal_start = start_of(context, minimal, minimal_stage)};
  if (!compared.detour.exists()) return compared;
  compared.detour_start = paths.only_hop_out(packet, context.router(), compared.detour.group, Stage::kSource,
                                             false, visits_router(params.detour));
  weigh(context, params, minimal, occupancy_of(context, params, minimal),
        occupancy_of(context, params, compared.detour_start), compared);
  return compared;
}

}  // namespace

UgalComparison ugal_comparison(const RouteContext& context, const UgalParams& params, Stage minimal_stage,
                               RandomStream& detours) {
  if (has_one_candidate_each(context, params)) return compare_two(context, params, minimal_stage, detours);
  const PathFollower& paths = context.paths();
  const std::uint32_t drawn_choice = paths.choice_of(context.packet());
  Detour best{};
  Hop best_hop{};
  std::uint32_t best_occupancy = 0;
  for (std::uint32_t i = 0; i < params.nonminimal_candidates; ++i) {
    const Detour detour = draw_detour(context, detours, params.detour, params.avoid_destination_group);
    if (!detour.exists()) break;
    const Hop hop =
        paths.detour_hop(context.packet(), detour, context.router(), context.group(), drawn_choice);
    const std::uint32_t occupancy = occupancy_of(context, params, hop);
    if (!best.exists() || occupancy < best_occupancy) {
      best = detour;
      best_hop = hop;
      best_occupancy = occupancy;
    }
  }

  const std::uint32_t possible = context.topology().num_choices();
  std::uint32_t minimal_choice = drawn_choice;
  Hop minimal =
      paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage, minimal_choice);
  std::uint32_t minimal_occupancy = occupancy_of(context, params, minimal);
  if (possible > 1 && params.minimal_candidates > 1) {
    RandomStream choices = context.minimal_choice_stream();
    for (std::uint32_t i = 0; i < params.minimal_candidates; ++i) {
      const std::uint32_t choice = choices.below(possible);
      const Hop hop =
          paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage, choice);
      const std::uint32_t occupancy = occupancy_of(context, params, hop);
      if (i == 0 || occupancy < minimal_occupancy) {
        minimal_choice = choice;
        minimal = hop;
        minimal_occupancy = occupancy;
      }
    }
  }

  UgalComparison compared{.detour = best,
                          .detour_start = best_hop,
                          .minimal_choice = minimal_choice,
                          .minimal_start = start_of(context, minimal, minimal_stage)};
  if (best.exists()) weigh(context, params, minimal, minimal_occupancy, best_occupancy, compared);
  return compared;
}

}  // namespace dragonfly
