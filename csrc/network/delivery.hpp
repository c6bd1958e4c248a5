// Counting of packets that enter and leave the network.
#pragma once

#include <cstdint>

#include "network/partition_state.hpp"

namespace dragonfly {

// A packet has left its source queue.
void count_in_series(PartitionState& s, Tick injected);
inline void count_injection(PartitionState& s, std::uint32_t router, Tick created, Tick now) {
  ++s.in_network;
  ++s.injected_ever;
  s.packet_time -= static_cast<std::uint64_t>(created);
  ++s.record.injected;
  ++s.router_injected[router];
  if (s.plan.options.record.series_bin_ps > 0) count_in_series(s, now);
}

// Counts a packet that has reached its host, and removes the packet.
void deliver(PartitionState& s, std::uint32_t packet, Tick delivered);
// Counts the deliveries up to and including `now` that were still in flight to their hosts.
void settle(PartitionState& s, Tick now);
// Sends an acknowledgement for a packet that will be delivered at `delivered` to its source router.
void acknowledge(PartitionState& s, std::uint32_t packet, Tick delivered);

// A packet leaves its last router and will be at its host at `delivered`.
inline void eject(PartitionState& s, std::uint32_t packet, Tick delivered) {
  if (s.trackers.on_acknowledgements()) acknowledge(s, packet, delivered);
  if (delivered <= s.count_until) {
    deliver(s, packet, delivered);
  } else if (s.store.with_messages) {
    s.to_hosts.push({low_of(delivered), packet, 0});
  } else {
    s.late.push_back({packet, delivered});
  }
}

}  // namespace dragonfly
