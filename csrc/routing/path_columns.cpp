#include "routing/path_columns.hpp"

#include "routing/acknowledgement.hpp"
#include "routing/remote_hops.hpp"

namespace dragonfly {

PathColumns::Wanted PathColumns::wanted_by(TrackedPer per) noexcept {
  switch (per) {
    case TrackedPer::kGroupLink:
    case TrackedPer::kFirstGlobalHop:
      return {.first_hop = true};
    case TrackedPer::kBetweenLinks:
    case TrackedPer::kLastLinkType:
      return {.remote_hops = true};
    default:
      return {};
  }
}

PathColumns::PathColumns(const RouteContext& context, std::span<const Candidate> candidates, Wanted wanted)
    : num_paths_{candidates.size()} {
  set_all(TrackedPer::kAcknowledged, kNoColumn);
  const std::uint32_t first_acknowledged = context.packet().destination_router * kAcknowledgedKinds;
  for (std::size_t path = 0; path < num_paths_; ++path) {
    const auto kind = static_cast<std::uint32_t>(candidates[path].kind);  // none: a large number
    if (kind < kAcknowledgedKinds) set(path, TrackedPer::kAcknowledged, first_acknowledged + kind);
  }
  if (wanted.first_hop) look_at_first_hops(context, candidates);
  if (wanted.remote_hops) look_at_remote_hops(context, candidates);
}

void PathColumns::look_at_first_hops(const RouteContext& context, std::span<const Candidate> candidates) {
  set_all(TrackedPer::kGroupLink, kNoColumn);
  set_all(TrackedPer::kFirstGlobalHop, kNoColumn);
  const PathFollower& paths = context.paths();
  const Dragonfly& topology = context.topology();
  // Positions are those of Wiring::global_position(), worked out from the first of the group.
  const std::uint32_t first_with_links = topology.router_at(context.group(), topology.first_global_router());
  for (std::size_t path = 0; path < num_paths_; ++path) {
    const Candidate& candidate = candidates[path];
    if (candidate.kind < 0) continue;
    const auto [link, vc] =
        candidate.kind > 0
            ? paths.first_global_hop(context.packet(), nonminimal_of(candidate), context.router())
            : paths.first_global_hop(context.packet(), context.router(),
                                     static_cast<std::uint32_t>(candidate.minimal_choice));
    if (link.port == kNoPort) continue;  // it stays in the group
    const std::uint32_t q =
        (link.router - first_with_links) * topology.h() + (link.port - topology.first_global_port());
    set(path, TrackedPer::kGroupLink, q);
    set(path, TrackedPer::kFirstGlobalHop, q * kMostVcsOfLink + vc);
  }
}

void PathColumns::look_at_remote_hops(const RouteContext& context, std::span<const Candidate> candidates) {
  set_all(TrackedPer::kBetweenLinks, kNoColumn);
  set_all(TrackedPer::kLastLinkType, kNoColumn);
  const Dragonfly& topology = context.topology();
  const Packet& packet = context.packet();
  for (std::size_t path = 0; path < num_paths_; ++path) {
    const Candidate& candidate = candidates[path];
    if (candidate.kind < 0) continue;
    const RemoteHops hops =
        remote_hops(topology, context.router(), packet.destination_router, packet.destination_group,
                    candidate.kind > 0 ? nonminimal_of(candidate) : NonMinimalPath{});
    if (hops.last != 0) set(path, TrackedPer::kLastLinkType, hops.last);
    const std::uint32_t between = hops.between[0] * topology.a() + hops.between[1];
    if (between != 0) set(path, TrackedPer::kBetweenLinks, between);
  }
}

}  // namespace dragonfly
