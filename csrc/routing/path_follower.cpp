#include "routing/path_follower.hpp"

namespace dragonfly {

// A prescribed route passes at most three groups, with at most two local hops in the first, two in the
// middle and one in the last (the trace source has checked that). Two local hops in the first group are
// a first hop and the rest, as in PAR. Inside the middle group the router between two local hops is the
// intermediate router; with one local hop it is taken to be the router that this hop leads to.
Hop PathFollower::routed(const Packet& packet, std::uint32_t router,
                         std::span<const std::uint32_t> route) const {
  const std::size_t position = packet.hops;
  if (position + 1 >= route.size()) {
    const auto slot = packet.destination_host - router * topology_->p();
    return {static_cast<Port>(slot), 0};
  }
  const std::uint32_t a = topology_->a();
  const std::uint32_t here = route[position];
  const std::uint32_t there = route[position + 1];
  const std::uint32_t group = here / a;
  const std::uint32_t last_group = route.back() / a;
  const std::uint32_t first_group = route.front() / a;
  bool minimal = true;
  for (const std::uint32_t passed : route)
    minimal = minimal && (passed / a == first_group || passed / a == last_group);

  Port port = kNoPort;
  if (there / a == group) {
    port = topology_->local_port(here % a, there % a);
  } else {
    for (Port candidate = topology_->first_global_port(); candidate < topology_->radix(); ++candidate) {
      if (topology_->neighbor(here, candidate).router == there) {
        port = candidate;
        break;
      }
    }
  }

  Stage stage = Stage::kSource;
  if (group == last_group) {
    stage = Stage::kDestination;
  } else if (position == 0 && route.size() > 3 && route[2] / a == first_group) {
    stage = Stage::kFirst;
  } else if (group != first_group) {
    const bool entered_just_now = position == 0 || route[position - 1] / a != group;
    const bool leaves = there / a != group;
    stage = entered_just_now && !leaves ? Stage::kNonMinimalIn : Stage::kNonMinimalOut;
  }
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
