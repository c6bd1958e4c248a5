#include "routing/ugal_rule.hpp"

#include "core/parameters.hpp"

namespace dragonfly {

std::vector<ParameterInfo> ugal_parameters() {
  std::vector<ParameterInfo> parameters = candidate_parameters();
  parameters.insert(parameters.begin() + 1,
                    {"bias_packets", 0.0, "packets",
                     "added to the non-minimal side of the comparison: positive favours minimal paths"});
  return parameters;
}

std::vector<ParameterInfo> candidate_parameters() {
  std::vector<ParameterInfo> parameters = detour_parameters();
  parameters.push_back(
      {"minimal_candidates", 1.0, "paths",
       "shortest paths drawn per decision; the least occupied is compared; matters with trunking"});
  parameters.push_back({"nonminimal_candidates", 1.0, "paths",
                        "random detours drawn per decision; the least occupied is compared"});
  return parameters;
}

UgalParams read_ugal_params(const PolicyInfo& info, const Parameters& given,
                            const PolicyEnvironment& environment) {
  UgalParams params = read_candidate_params(info, given, environment);
  params.bias_packets = number_parameter(info, given, "bias_packets");
  return params;
}

UgalParams read_candidate_params(const PolicyInfo& info, const Parameters& given,
                                 const PolicyEnvironment& environment) {
  return {.detour = info.detour,
          .minimal_candidates = count_parameter(info, given, "minimal_candidates", 1, 16),
          .nonminimal_candidates = count_parameter(info, given, "nonminimal_candidates", 1, 16),
          .avoid_destination_group =
              flag_parameter(info, given, "avoid_destination_group", environment.avoid_destination_group)};
}

UgalComparison ugal_comparison(const RouteContext& context, const UgalParams& params, Stage minimal_stage) {
  const PathFollower& paths = context.paths();
  const auto occupancy_of = [&](const Hop& hop) {
    return params.by_vc ? context.occupancy_packets(hop) : context.occupancy_packets(hop.port);
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
  const std::uint32_t candidates = possible == 1 ? 1 : params.minimal_candidates;
  std::uint32_t minimal_choice = 0;
  Hop minimal{};
  std::uint32_t minimal_occupancy = 0;
  RandomStream choices = context.minimal_choice_stream();
  for (std::uint32_t i = 0; i < candidates; ++i) {
    const std::uint32_t choice =
        candidates == 1 ? paths.choice_of(context.packet()) : choices.below(possible);
    const Hop hop =
        paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage, choice);
    const std::uint32_t occupancy = occupancy_of(hop);
    if (i == 0 || occupancy < minimal_occupancy) {
      minimal_choice = choice;
      minimal = hop;
      minimal_occupancy = occupancy;
    }
  }

  if (!best.exists()) return {.minimal_choice = minimal_choice};
  if (minimal.port == best_hop.port) {
    minimal_occupancy = context.occupancy_packets(minimal);
    best_occupancy = context.occupancy_packets(best_hop);
  }
  return {.detour = best,
          .minimal_choice = minimal_choice,
          .minimal = static_cast<double>(minimal_occupancy) <=
                     2.0 * static_cast<double>(best_occupancy) + params.bias_packets};
}

}  // namespace dragonfly
