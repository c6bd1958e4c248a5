#include "routing/path_columns.hpp"

#include "routing/acknowledgement.hpp"
#include "routing/remote_hops.hpp"

namespace dragonfly {

PathColumns::Wanted PathColumns::wanted_by(TrackedPer per) noexcept {
  switch (per) {
    case TrackedPer::kGroupLink:
    case TrackedPer::kFirstGlobalHop:
      return {.first_hop = true};
    case TrackedPer::kLastLink:
    case TrackedPer::kBetweenLinks:
    case TrackedPer::kLastLinkType:
      return {.remote_hops = true};
    default:
      return {};
  }
}

PathColumns::PathColumns(const RouteContext& context, const Candidate& candidate, Wanted wanted)
    : PathColumns{} {
  if (candidate.kind < 0) return;
  const Packet& packet = context.packet();
  const auto kind = static_cast<std::uint32_t>(candidate.kind);
  Detour detour;
  if (kind > 0) {
    detour = detour_of(candidate);
    if (!visits_router(detour.kind)) {  // it crosses the intermediate group by the shortest way
      set(TrackedPer::kDetour, detour.group * context.topology().num_groups() + packet.destination_group);
    }
  }
  if (kind < kAcknowledgedKinds) {
    set(TrackedPer::kAcknowledged, packet.destination_router * kAcknowledgedKinds + kind);
  }
  if (wanted.first_hop) look_at_first_hop(context, candidate);
  if (wanted.remote_hops) look_at_remote_hops(context, detour);
}

void PathColumns::look_at_first_hop(const RouteContext& context, const Candidate& candidate) {
  const PathFollower& paths = context.paths();
  const auto [link, vc] =
      candidate.kind > 0 ? paths.first_global_hop(context.packet(), detour_of(candidate), context.router())
                         : paths.first_global_hop(context.packet(), context.router(),
                                                  static_cast<std::uint32_t>(candidate.minimal_choice));
  if (link.port == kNoPort) return;  // it stays in the group
  const std::uint32_t q = context.topology().global_position(link.router, link.port);
  set(TrackedPer::kGroupLink, q);
  set(TrackedPer::kFirstGlobalHop, q * kMostVcsOfLink + vc);
}

void PathColumns::look_at_remote_hops(const RouteContext& context, const Detour& detour) noexcept {
  const Dragonfly& topology = context.topology();
  const std::uint32_t to = context.packet().destination_router;
  const RemoteHops hops =
      remote_hops(topology, context.router(), to, context.packet().destination_group, detour);
  if (hops.last != 0) {
    set(TrackedPer::kLastLink, arrival_of(topology, to, hops.last_router));
    set(TrackedPer::kLastLinkType, hops.last);
  }
  const std::uint32_t between = hops.between[0] * topology.a() + hops.between[1];
  if (between != 0) set(TrackedPer::kBetweenLinks, between);
}

}  // namespace dragonfly
