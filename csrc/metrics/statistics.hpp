// Reading the counters of a network: sums over partitions since the last reset.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "network/network.hpp"

namespace dragonfly {

// What was already there when the statistics were reset.
struct StatisticsBase {
  TimePs start_ps = 0;
  std::uint64_t generated = 0;
};

// Of a closed-loop run.
struct WorkloadStatistics {
  TimePs makespan_ps = -1;              // from time 0 to the end of the last task; -1: not complete
  std::uint64_t packets_delivered = 0;  // since time 0, of jobs that end, as those below
  std::uint64_t packets_total = 0;
  MessageRecord messages;
  std::vector<JobRecord> jobs;
  std::vector<OperationRecord> operations;  // of all jobs, Workload::first_operation()
};

struct Statistics {
  TimePs start_ps = 0;
  TimePs now_ps = 0;
  std::uint64_t generated = 0;  // packets that entered their source queue
  std::uint64_t in_network = 0;
  std::uint64_t in_source_queues = 0;
  std::uint64_t packet_hops = 0;  // packets sent by router ports, ejection included
  DeliveryRecord deliveries;
  std::vector<std::uint64_t> router_injected;   // [router]
  std::vector<std::uint64_t> router_delivered;  // [router]
  std::vector<std::uint64_t> link_packets;      // [router * radix + port]
  std::vector<std::int64_t> link_stall_ps;      // [router * radix + port]
  std::vector<std::uint32_t> link_queued;       // [router * radix + port]: packets in its queues, now
  std::vector<std::uint32_t> link_occupancy;    // the same and the credits in use, now: what policies see
  std::vector<TimePs> link_packet_ps;           // serialisation by link class
  TimePs series_bin_ps = 0;
  std::optional<WorkloadStatistics> workload;  // none: open loop
};

// The few counts that tell whether a window is steady: cheap enough to be read again and again.
struct Totals {
  TimePs now_ps = 0;
  std::uint64_t generated = 0;
  std::uint64_t lost = 0;
  std::uint64_t delivered = 0;
  TimePs latency_ps = 0;  // sum over those delivered
};

[[nodiscard]] StatisticsBase read_base(Network& network, TimePs now_ps);
// Nothing in an open-loop run.
[[nodiscard]] std::optional<WorkloadStatistics> collect_workload(const Network& network);
// The same as in the statistics.
[[nodiscard]] Totals collect_totals(Network& network, const StatisticsBase& base, TimePs now_ps);
[[nodiscard]] Statistics collect_statistics(Network& network, const StatisticsBase& base, TimePs now_ps);

}  // namespace dragonfly
