#include "routing/ugal_rule.hpp"

#include "routing/parameters.hpp"

namespace dragonfly {

UgalParams read_ugal_params(const PolicyInfo& info, const Parameters& given,
                            const PolicyEnvironment& environment) {
  return {.detour = info.detour,
          .bias_packets = number_parameter(info, given, "bias_packets"),
          .nonminimal_candidates = count_parameter(info, given, "nonminimal_candidates", 1, 16),
          .avoid_destination_group =
              flag_parameter(info, given, "avoid_destination_group", environment.avoid_destination_group)};
}

Detour ugal_choice(RouteContext& context, const UgalParams& params, Stage minimal_stage) {
  const PathFollower& paths = context.paths();
  Detour best{};
  Hop best_hop{};
  std::uint32_t best_occupancy = 0;
  for (std::uint32_t i = 0; i < params.nonminimal_candidates; ++i) {
    const Detour detour = draw_detour(context, params.detour, params.avoid_destination_group);
    if (!detour.exists()) return {};
    const Hop hop = paths.detour_hop(context.packet(), detour, context.router(), context.group());
    const std::uint32_t occupancy = context.occupancy_packets(hop.port);
    if (!best.exists() || occupancy < best_occupancy) {
      best = detour;
      best_hop = hop;
      best_occupancy = occupancy;
    }
  }

  const Hop minimal = paths.minimal_hop(context.packet(), context.router(), context.group(), minimal_stage);
  std::uint32_t minimal_occupancy = context.occupancy_packets(minimal.port);
  if (minimal.port == best_hop.port) {
    minimal_occupancy = context.occupancy_packets(minimal);
    best_occupancy = context.occupancy_packets(best_hop);
  }
  const bool go_minimal =
      static_cast<double>(minimal_occupancy) <= 2.0 * static_cast<double>(best_occupancy) + params.bias_packets;
  return go_minimal ? Detour{} : best;
}

}  // namespace dragonfly
