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
  for (auto& columns : at_) columns.fill(kNoColumn);
  for (std::size_t path = 0; path < num_paths_; ++path) {
    if (candidates[path].kind >= 0) look_at(path, context, candidates[path], wanted);
  }
}

void PathColumns::look_at(std::size_t path, const RouteContext& context, const Candidate& candidate,
                          Wanted wanted) {
  const Packet& packet = context.packet();
  const auto kind = static_cast<std::uint32_t>(candidate.kind);
  NonMinimalPath nonminimal;
  if (kind > 0) nonminimal = nonminimal_of(candidate);
  if (kind < kAcknowledgedKinds) {
    set(path, TrackedPer::kAcknowledged, packet.destination_router * kAcknowledgedKinds + kind);
  }
  if (wanted.first_hop) look_at_first_hop(path, context, candidate);
  if (wanted.remote_hops) look_at_remote_hops(path, context, nonminimal);
}

void PathColumns::look_at_first_hop(std::size_t path, const RouteContext& context,
                                    const Candidate& candidate) {
  const PathFollower& paths = context.paths();
  const auto [link, vc] =
      candidate.kind > 0
          ? paths.first_global_hop(context.packet(), nonminimal_of(candidate), context.router())
          : paths.first_global_hop(context.packet(), context.router(),
                                   static_cast<std::uint32_t>(candidate.minimal_choice));
  if (link.port == kNoPort) return;  // it stays in the group
  const std::uint32_t q = context.topology().global_position(link.router, link.port);
  set(path, TrackedPer::kGroupLink, q);
  set(path, TrackedPer::kFirstGlobalHop, q * kMostVcsOfLink + vc);
}

void PathColumns::look_at_remote_hops(std::size_t path, const RouteContext& context,
                                      const NonMinimalPath& nonminimal) noexcept {
  const Dragonfly& topology = context.topology();
  const std::uint32_t to = context.packet().destination_router;
  const RemoteHops hops =
      remote_hops(topology, context.router(), to, context.packet().destination_group, nonminimal);
  if (hops.last != 0) set(path, TrackedPer::kLastLinkType, hops.last);
  const std::uint32_t between = hops.between[0] * topology.a() + hops.between[1];
  if (between != 0) set(path, TrackedPer::kBetweenLinks, between);
}

}  // namespace dragonfly
