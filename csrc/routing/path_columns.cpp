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
  const std::uint32_t first_acknowledged = context.packet().destination_router * kAcknowledgedKinds;
  const bool all = wanted.first_hop && wanted.remote_hops && context.topology().has_single_links();
  const Links links{context};
  Wiring::LinkEnds ends;
  if (all) ends = context.topology().link_ends();
  for (std::size_t path = 0; path < num_paths_; ++path) {
    const Candidate& candidate = candidates[path];
    const auto kind = static_cast<std::uint32_t>(candidate.kind);  // none: a large number
    set(path, TrackedPer::kAcknowledged,
        pick(kind < kAcknowledgedKinds, first_acknowledged + kind, kNoColumn));
    if (all && candidate.kind >= 0 && leaves_at_once(context, candidate)) {
      look_at_links(context, links, ends, candidate, path);
      continue;
    }
    if (wanted.first_hop) look_at_first_hop(context, candidate, path);
    if (wanted.remote_hops) look_at_remote_hops(context, candidate, path);
  }
}

// Whether the path leads from here to another group by a link between the two.
inline bool PathColumns::leaves_at_once(const RouteContext& context, const Candidate& candidate) noexcept {
  if (candidate.kind > 0) return static_cast<std::uint32_t>(candidate.intermediate_group) != context.group();
  const Packet& packet = context.packet();
  return packet.plan == Plan::kMinimal && packet.destination_group != context.group() &&
         context.topology().only_port_out(context.router(), packet.destination_group) != kNoPort;
}

// Sets the columns that the functions below set, where at most one link joins two groups: reads each end of a
// link once.
[[gnu::always_inline]] inline void PathColumns::look_at_links(const RouteContext& context, const Links& links,
                                                              const Wiring::LinkEnds& end_of,
                                                              const Candidate& candidate, std::size_t path) {
  const Packet& packet = context.packet();
  const auto ahead = [&links](std::uint32_t from, std::uint32_t to) {
    return to >= from ? to - from : to + links.routers - from;
  };
  const bool minimal = candidate.kind == 0;
  const NonMinimalKind kind = minimal ? packet.nonminimal_kind : nonminimal_of(candidate).kind;
  const bool by_router = visits_router(kind);
  const std::uint32_t next =
      minimal ? links.destination_group : static_cast<std::uint32_t>(candidate.intermediate_group);
  const Endpoint out = end_of(links.group, next);
  const auto hops = static_cast<std::uint8_t>(packet.hops + (out.router == context.router() ? 0 : 1));
  set_first_hop(path, links.position_of(out),
                context.paths().ladder().vc(Stage::kSource, true, minimal, by_router, hops));
  const auto visited = static_cast<std::uint32_t>(candidate.intermediate_router);
  std::uint32_t at = end_of(next, links.group).router;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  if (!minimal && by_router && visited != links.destination) {  // a visit to the destination is the last hop
    first = ahead(at, visited);
    at = visited;
  }
  if (next != links.destination_group) {
    second = ahead(at, end_of(next, links.destination_group).router);
    at = end_of(links.destination_group, next).router;
  }
  set_remote_hops(path, first * links.routers + second, ahead(at, links.destination));
}

void PathColumns::look_at_first_hop(const RouteContext& context, const Candidate& candidate,
                                    std::size_t path) {
  PathFollower::GlobalHop hop;  // remains empty if there is no path, or the path stays in the group
  const PathFollower& paths = context.paths();
  if (candidate.kind > 0) {
    hop = paths.first_global_hop(context.packet(), nonminimal_of(candidate), context.router());
  } else if (candidate.kind == 0) {
    hop = paths.first_global_hop(context.packet(), context.router(),
                                 static_cast<std::uint32_t>(candidate.minimal_choice));
  }
  if (hop.link.port == kNoPort) {
    set(path, TrackedPer::kGroupLink, kNoColumn);
    set(path, TrackedPer::kFirstGlobalHop, kNoColumn);
  } else {
    set_first_hop(path, Links{context}.position_of(hop.link), hop.vc);
  }
}

void PathColumns::look_at_remote_hops(const RouteContext& context, const Candidate& candidate,
                                      std::size_t path) {
  const Packet& packet = context.packet();
  RemoteHops hops;
  if (candidate.kind >= 0) {
    hops =
        remote_hops(context.topology(), context.router(), packet.destination_router, packet.destination_group,
                    candidate.kind > 0 ? nonminimal_of(candidate) : NonMinimalPath{});
  }
  set_remote_hops(path, hops.between[0] * context.topology().a() + hops.between[1], hops.last);
}

}  // namespace dragonfly
