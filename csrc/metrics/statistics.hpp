// Reading all that a network has counted: sums over partitions since the last reset.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/counters.hpp"
#include "network/network.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

struct Statistics : Counters {
  std::uint64_t generated = 0;  // packets that entered their source queue
  std::uint64_t in_network = 0;
  std::uint64_t in_source_queues = 0;
  std::uint64_t packet_time_ps = 0;  // time of all packets in the system, source queues included
  std::uint64_t packet_hops = 0;     // packets sent by router ports, ejection included
  DeliveryRecord deliveries;
  std::vector<std::uint64_t> router_injected;   // [router]
  std::vector<std::uint64_t> router_delivered;  // [router]
  std::vector<std::uint32_t> link_queued;       // [router * radix + port]: packets in its queues, now
  std::vector<std::uint32_t> link_occupancy;  // queue plus credits in use, now: the number that policies read
  TimePs series_bin_ps = 0;
  TimePs trace_end_ps = -1;  // the last delivery; -1: no trace, or it is not complete
  OfferedLoad offered{};     // load that open-loop traffic offers in the second half of the window
};

// The few counts that show whether a window is steady: cheap enough to be read again and again.
struct Totals {
  TimePs now_ps = 0;
  std::uint64_t generated = 0;
  std::uint64_t lost = 0;
  std::uint64_t delivered = 0;
  TimePs latency_ps = 0;  // the sum over delivered packets
};

// Counted as in the statistics.
[[nodiscard]] Totals collect_totals(Network& network, const StatisticsBase& base, TimePs now_ps);
[[nodiscard]] Statistics collect_statistics(Network& network, const StatisticsBase& base, TimePs now_ps);

}  // namespace dragonfly
