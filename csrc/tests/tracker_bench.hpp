// A tracker of what routers send, by itself: packets are put through by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "routing/path_follower.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

// 342 hosts: 19 groups of 6 routers, three global links each. A tick is a nanosecond, and so is a packet.
struct TrackerBench {
  explicit TrackerBench(std::string_view name, const DragonflyParams& shape = {.p = 3, .a = 6, .h = 3},
                        const Parameters& given = {}, bool sends_messages = false)
      : topology{shape} {
    TrackerSite site{.topology = topology,
                     .num_routers = topology.num_routers(),
                     .sends_messages = sends_messages,
                     .clock = 1,
                     .quantum_ps = kPsPerNs,
                     .idle = {.local_packets = 3, .global_packets = 5, .hosts_packets = 2}};
    for (TrackedLinks& link : site.links) link.packet_ps = kPsPerNs;
    const TrackerRequest request = request_tracker(name, given);
    tracker = request.info->make(*request.info, request.parameters, site);
  }

  [[nodiscard]] Packet packet_to(std::uint32_t router) const {
    Packet packet;
    packet.destination_router = router;
    packet.destination_group = static_cast<std::uint16_t>(topology.group_of(router));
    return packet;
  }
  // A packet from a host of `router` passes the crossbar.
  void forward(std::uint32_t router, std::uint32_t to, const NonMinimalPath& nonminimal, Tick now) {
    Packet packet = packet_to(to);
    if (nonminimal.exists()) PathFollower::set_nonminimal(packet, nonminimal);
    tracker->packet_forwarded(router, 0, packet, now);
  }
  // The router by which packets enter a group from another one.
  [[nodiscard]] std::uint32_t entry(std::uint32_t to_group, std::uint32_t from_group) const {
    return topology.links_between(to_group, from_group).front().router;
  }

  Dragonfly topology;
  std::unique_ptr<RouterTracker> tracker;
};

inline NonMinimalPath by(NonMinimalKind kind, std::uint32_t group, std::uint32_t router = kNil) {
  return {.kind = kind, .router = router, .group = static_cast<std::uint16_t>(group)};
}

}  // namespace dragonfly
