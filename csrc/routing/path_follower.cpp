#include "routing/path_follower.hpp"

#include "topology/group_visits.hpp"

namespace dragonfly {

namespace {

// The stage of the hop behind `passed`, which is the beginning of a route with these visits: of up to three
// groups, with up to two local hops in each. Two local hops in the first group are a first hop and the rest,
// as in PAR. Inside the middle group the router between two local hops is the intermediate router; with one
// local hop it is taken to be the router that this hop leads to. Two local hops in the last group lead by an
// intermediate router there: that of the whole path where no group lies between, as Valiant's may.
Stage stage_of(const GroupVisits& all, const GroupVisits& passed) noexcept {
  const std::uint32_t done = passed.local_hops[passed.count - 1];
  const std::uint32_t of_visit = all.local_hops[passed.count - 1];
  if (passed.count == all.count && done + 1 == of_visit) return Stage::kDestination;
  if (passed.count == 1) return done == 0 && all.leave_late() ? Stage::kFirst : Stage::kSource;
  if (passed.count < all.count)
    return done == 0 && of_visit > 0 ? Stage::kNonMinimalIn : Stage::kNonMinimalOut;
  return all.count == 2 ? Stage::kNonMinimalIn : Stage::kLastNonMinimal;
}

}  // namespace

Hop PathFollower::routed(const Packet& packet, std::uint32_t router,
                         std::span<const std::uint32_t> route) const {
  const std::size_t position = packet.hops;
  if (position + 1 >= route.size()) return {topology_->host_port(packet.destination_host), 0};
  const Port port = topology_->port_to(router, route[position + 1]);
  if (ladder_.budget().any_port) return {port, packet.hops};
  const GroupVisits all = group_visits(route, topology_->a());
  const Stage stage = stage_of(all, group_visits(route.first(position + 1), topology_->a()));
  const bool minimal = all.count == 1 || (all.count == 2 && all.local_hops[1] < 2);
  return {port, ladder_.vc(stage, topology_->is_global(port), minimal, true, packet.hops, 0)};
}

PathFollower::GlobalHop PathFollower::walk_to_global_hop(Packet packet, std::uint32_t router,
                                                         std::uint32_t choice) const {
  const std::uint32_t group = topology_->group_of(router);
  for (;;) {
    const Hop hop = next(packet, router, group, Stage::kSource, choice);
    if (topology_->is_global(hop.port)) return {{router, hop.port}, hop.vc};
    if (hop.port < topology_->first_local_port()) return {};
    router = topology_->neighbor(router, hop.port).router;
    ++packet.hops;
    choice = choice_of(packet);  // the one that was given counts where it was drawn
  }
}

}  // namespace dragonfly
