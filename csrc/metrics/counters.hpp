// Counters as an operator reads them: monotonous between two resets, so the difference of two readings counts
// the events between them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "network/network.hpp"

namespace dragonfly {

// Counts at the last reset of the statistics.
struct StatisticsBase {
  TimePs start_ps = 0;
  std::uint64_t generated = 0;
  std::uint64_t packet_time_ps = 0;        // Network::packet_time_ps()
  std::vector<std::uint64_t> host_sent{};  // [host]; empty: nothing
  void archive(Archive& archive) { archive(start_ps, generated, packet_time_ps, host_sent); }
};

// All [router * radix + port].
struct PortCounters {
  std::vector<std::uint64_t> sent;            // packets that left by the port
  std::vector<std::int64_t> output_stall_ps;  // waiting with a packet, but without a credit for it
  std::vector<std::int64_t> input_stall_ps;   // some head of its input buffers found no room to move on to
};

// Statistics of a closed-loop run.
struct WorkloadStatistics {
  TimePs makespan_ps = -1;              // time from 0 to the end of the last task; -1: not complete
  std::uint64_t packets_delivered = 0;  // packets of jobs that end, delivered since time 0
  std::uint64_t packets_total = 0;
  MessageRecord messages;
  std::vector<JobRecord> jobs;
  std::vector<OperationRecord>
      operations;  // operations of all jobs, each job's from Workload::first_operation() on
};

struct Counters {
  TimePs start_ps = 0;
  TimePs now_ps = 0;
  std::vector<TimePs> link_packet_ps;    // serialisation by link class
  PortCounters ports;                    // open stalls included
  std::vector<std::uint64_t> host_sent;  // [host]: packets that left its source queue
  HostLatencies hosts;
  std::optional<WorkloadStatistics> workload;  // none: open loop
};

[[nodiscard]] StatisticsBase read_base(Network& network, TimePs now_ps);
// Nothing in an open-loop run.
[[nodiscard]] std::optional<WorkloadStatistics> collect_workload(const Network& network);
[[nodiscard]] Counters collect_counters(const Network& network, const StatisticsBase& base, TimePs now_ps);
// Packets that entered a source queue since the start.
[[nodiscard]] std::uint64_t generated_ever(Network& network);

}  // namespace dragonfly
