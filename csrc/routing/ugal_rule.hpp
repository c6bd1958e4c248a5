// The comparison that UGAL and PAR share.
#pragma once

#include "routing/nonminimal.hpp"
#include "routing/path_hops.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

// The congestion metric of a path: the occupancy of its first port, of the VC there, or of that VC's output
// queue alone.
enum class CongestionMetric : std::uint8_t { kPort, kVc, kVcQueue };

// The weights of the minimal and of the non-minimal path in the comparison: 1 and 2, or their numbers of
// hops.
enum class PathWeights : std::uint8_t { kDouble, kHops };

// Parameters of the candidate paths.
struct CandidateParams : NonMinimalParams {
  using NonMinimalParams::NonMinimalParams;
  NonMinimalKind nonminimal = NonMinimalKind::kLgl;
  CongestionMetric metric = CongestionMetric::kPort;
  PathWeights path_weights = PathWeights::kDouble;
  Count minimal_candidates{
      this,
      {"minimal_candidates", 1.0, "paths",
       "minimal paths that the router draws, to compare the least occupied one; they differ only with "
       "trunking and on grids. Source: 1 in Kang et al., HPDC 2021; 2 on Aries",
       whole(1, 16)}};
  Count nonminimal_candidates{this,
                              {"nonminimal_candidates", 1.0, "paths",
                               "non-minimal paths that the router draws, to compare the least occupied one. "
                               "Source: 1 in Kang et al., HPDC 2021; 2 on Aries",
                               whole(1, 16)}};
};

struct UgalParams : CandidateParams {
  using CandidateParams::CandidateParams;
  Real bias_packets{this,
                    {"bias_packets", 0.0, "packets",
                     "added to the non-minimal path's side of the comparison: above 0 favors minimal paths. "
                     "Source: T of LIA, "
                     "TACO 2025, equation 1; 0 in Kang et al., HPDC 2021, section 5.1",
                     between(-1e9, 1e9)}};
};

// Parameters of the policies that are UGAL at one or two routers.
struct QueueUgalParams : UgalParams {
  using UgalParams::UgalParams;
  Choice congestion_metric{
      this,
      {"congestion_metric", std::string{"port"}, "",
       "congestion that the router compares, at the first port of each path: the occupancy of the port "
       "(queued packets, and packets in flight, whose credits are not back), or the packets queued for the "
       "path's VC. On a long link, packets in flight look like congestion. Source: Kang et al., HPDC 2021, "
       "section 5.1; Won et al., HPCA 2015",
       among({"port", "queued"})}};
};

// Parameters of Piggyback: its congestion metric is a convention of the network.
struct PiggybackParams : UgalParams {
  using UgalParams::UgalParams;
  Choice congestion_metric{
      this,
      {"congestion_metric", std::string{"auto"}, "",
       "congestion that the router compares, at the first port of each path: the occupancy of the whole "
       "port, or of the path's VC; auto: as the network says (congestion_metric)",
       among({"auto", "port", "vc"})}};
  Choice weights{this,
                 {"weights", std::string{"double"}, "",
                  "weights of the two paths. double: 1 and 2, as in equation 1 of LIA, TACO 2025; hops: the "
                  "numbers of hops, as in UGAL, Kim et al., ISCA 2008",
                  among({"double", "hops"})}};
};

// Their rows in the registry, and their values; those of candidates leave the bias at 0.
[[nodiscard]] std::vector<ParameterInfo> candidate_parameters();
[[nodiscard]] UgalParams read_candidate_params(const PolicyInfo& info, const Parameters& given,
                                               const PolicyEnvironment& environment);
[[nodiscard]] std::vector<ParameterInfo> ugal_parameters();
[[nodiscard]] UgalParams read_ugal_params(const PolicyInfo& info, const Parameters& given,
                                          const PolicyEnvironment& environment);
[[nodiscard]] std::vector<ParameterInfo> queue_ugal_parameters();
[[nodiscard]] UgalParams read_queue_ugal_params(const PolicyInfo& info, const Parameters& given,
                                                const PolicyEnvironment& environment);
[[nodiscard]] std::vector<ParameterInfo> piggyback_parameters();
[[nodiscard]] UgalParams read_piggyback_params(const PolicyInfo& info, const Parameters& given,
                                               const PolicyEnvironment& environment);

// The two sides of UGAL's comparison, and its choice.
struct UgalComparison {
  NonMinimalPath nonminimal{};       // the best one, if any
  Hop nonminimal_start{};            // its first hop
  std::uint32_t minimal_choice = 0;  // choice of the best minimal path
  Hop minimal_start{};               // its first hop; no port: not the one that the packet would take (VC)
  bool minimal = true;  // whether the minimal path is taken; always if there is no non-minimal path

  [[nodiscard]] RouteChoice stay() const noexcept {
    return {.minimal_choice = minimal_choice, .start = minimal_start};
  }
  [[nodiscard]] RouteChoice leave() const noexcept {
    return {.nonminimal = nonminimal, .start = nonminimal_start};
  }
};

// Defined in the header, because returning a comparison from a function costs as much as making it.
namespace detail {

[[nodiscard]] inline std::uint32_t occupancy_of(const RouteContext& context, const UgalParams& params,
                                                const Hop& hop) {
  switch (params.metric) {
    case CongestionMetric::kPort:
      break;
    case CongestionMetric::kVc:
      return context.occupancy_packets(hop);
    case CongestionMetric::kVcQueue:
      return context.queued_packets(hop);
  }
  return context.occupancy_packets(hop.port);
}

// The first hop of the minimal path, if it is the one that the packet would take.
[[nodiscard]] inline Hop start_of(const RouteContext& context, const Hop& minimal, Stage minimal_stage) {
  return minimal_stage == context.paths().source_stage(context.packet()) ? minimal : Hop{};
}

inline void weigh(const RouteContext& context, const UgalParams& params, const Hop& minimal,
                  std::uint32_t minimal_occupancy, std::uint32_t nonminimal_occupancy,
                  UgalComparison& compared) {
  if (params.metric == CongestionMetric::kPort && minimal.port == compared.nonminimal_start.port) {
    minimal_occupancy = context.occupancy_packets(minimal);
    nonminimal_occupancy = context.occupancy_packets(compared.nonminimal_start);
  }
  double minimal_weight = 1.0;
  double nonminimal_weight = 2.0;
  if (params.path_weights == PathWeights::kHops) {
    const Packet& packet = context.packet();
    minimal_weight = context.topology().minimal_hops(context.router(), packet.destination_router);
    nonminimal_weight = nonminimal_hops(context.topology(), packet, compared.nonminimal, context.router(),
                                        compared.nonminimal_start.port);
  }
  compared.minimal = minimal_weight * static_cast<double>(minimal_occupancy) <=
                     nonminimal_weight * static_cast<double>(nonminimal_occupancy) + params.bias_packets;
}

// Whether the comparison has one path of each kind out of the group, by the only possible port: a non-minimal
// path leads over links that are there.
[[nodiscard]] inline bool has_one_candidate_each(const RouteContext& context, const UgalParams& params) {
  const Packet& packet = context.packet();
  return params.nonminimal_candidates == 1 && params.nonminimal != NonMinimalKind::kL &&
         packet.plan == Plan::kMinimal && packet.destination_group != context.group() &&
         context.paths().leads_along_links(packet, context.router(), context.group());
}

[[nodiscard]] inline UgalComparison compare_two(const RouteContext& context, const UgalParams& params,
                                                Stage minimal_stage, RandomStream& draws) {
  const PathFollower& paths = context.paths();
  const Packet& packet = context.packet();
  const Hop minimal = paths.only_hop_out(packet, context.router(), packet.destination_group, minimal_stage,
                                         true, visits_router(packet.nonminimal_kind));
  UgalComparison compared{
      .nonminimal = draw_nonminimal(context, draws, params.nonminimal, params.avoid_destination_group),
      .minimal_start = start_of(context, minimal, minimal_stage)};
  if (!compared.nonminimal.exists()) return compared;
  compared.nonminimal_start = paths.only_hop_out(packet, context.router(), compared.nonminimal.group,
                                                 Stage::kSource, false, visits_router(params.nonminimal));
  weigh(context, params, minimal, occupancy_of(context, params, minimal),
        occupancy_of(context, params, compared.nonminimal_start), compared);
  return compared;
}

[[nodiscard]] UgalComparison compare_several(const RouteContext& context, const UgalParams& params,
                                             Stage minimal_stage, RandomStream& draws);

}  // namespace detail

// Non-minimal iff q_min > 2 * q_nonmin + bias, ties go minimal, where q
// is the occupancy of the first port of the path. Among several candidates of a kind the least occupied (then
// the first drawn) is compared; there are several minimal ones only with trunking. When both paths start on
// one port the VCs that they would use are compared instead of the port. PathWeights::kHops has the hops of
// the two paths for 1 and 2. Source: Kang et al., HPDC 2021, sections 2.2 and 5.1 and its published
// simulator; LIA (TACO 2025) equation 1. `draws`: the packet's stream for that kind of path.
[[nodiscard]] inline UgalComparison ugal_comparison(const RouteContext& context, const UgalParams& params,
                                                    Stage minimal_stage, RandomStream& draws) {
  return detail::has_one_candidate_each(context, params)
             ? detail::compare_two(context, params, minimal_stage, draws)
             : detail::compare_several(context, params, minimal_stage, draws);
}
[[nodiscard]] inline UgalComparison ugal_comparison(const RouteContext& context, const UgalParams& params,
                                                    Stage minimal_stage) {
  RandomStream draws = context.nonminimal_stream(params.nonminimal);
  return ugal_comparison(context, params, minimal_stage, draws);
}
[[nodiscard]] inline RouteChoice ugal_choice(const RouteContext& context, const UgalParams& params,
                                             Stage minimal_stage, RandomStream& draws) {
  const UgalComparison compared = ugal_comparison(context, params, minimal_stage, draws);
  return compared.minimal ? compared.stay() : compared.leave();
}

}  // namespace dragonfly
