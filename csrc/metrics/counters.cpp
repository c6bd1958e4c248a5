#include "metrics/counters.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

PortCounters collect_ports(const Network& network) {
  const Blueprint& plan = network.blueprint();
  PortCounters ports;
  for (const Partition& partition : network.partitions()) {
    const Tick now = std::max(network.now(), partition.clock());
    const PartitionState& state = partition.state();
    for (std::uint32_t router = 0; router < state.num_routers; ++router) {
      for (Port port = 0; port < plan.topology.radix(); ++port) {
        const std::uint32_t id = state.port_id(router, port);
        const OutputStall& stall = state.output_stalls[id];
        const Tick open = state.ports[id].blocked ? now - stall.since : 0;
        ports.sent.push_back(state.ports[id].sent);
        ports.output_stall_ps.push_back(plan.to_ps(stall.stalled + open));
        ports.input_stall_ps.push_back(plan.to_ps(state.input_stalls[id].until(now)));
      }
    }
  }
  return ports;
}

std::vector<std::uint64_t> sent_ever(const Network& network) {
  std::vector<std::uint64_t> sent;
  for (const Partition& partition : network.partitions()) {
    for (const HostSender& sender : partition.state().hosts) sent.push_back(sender.number);
  }
  return sent;
}

}  // namespace

std::uint64_t generated_ever(Network& network) {
  std::uint64_t total = network.source_queues().packets;
  for (const Partition& partition : network.partitions()) total += partition.injected_ever();
  return total;
}

StatisticsBase read_base(Network& network, TimePs now_ps) {
  return {.start_ps = now_ps,
          .generated = generated_ever(network),
          .packet_time_ps = network.packet_time_ps(now_ps),
          .host_sent = sent_ever(network)};
}

std::optional<WorkloadStatistics> collect_workload(const Network& network) {
  const Blueprint& plan = network.blueprint();
  if (plan.workload == nullptr) return std::nullopt;
  WorkloadStatistics s;
  if (network.complete()) s.makespan_ps = plan.to_ps(network.last_progress());
  s.packets_total = plan.workload->total_packets();
  s.jobs.resize(plan.workload->jobs().size());
  s.operations.resize(plan.workload->num_operations());
  for (const Partition& partition : network.partitions()) {
    const HostPrograms& programs = *partition.programs();
    s.messages.merge(programs.record());
    for (std::size_t i = 0; i < s.jobs.size(); ++i) {
      s.jobs[i].merge(programs.jobs()[i]);
      if (!plan.workload->jobs()[i].program->is_endless()) {
        s.packets_delivered += programs.jobs()[i].packets_delivered;
      }
    }
    const auto& operations = programs.operations();
    for (std::size_t i = 0; i < operations.size(); ++i) s.operations[i].merge(operations[i]);
  }
  return s;
}

Counters collect_counters(const Network& network, const StatisticsBase& base, TimePs now_ps) {
  Counters s;
  s.start_ps = base.start_ps;
  s.now_ps = now_ps;
  for (const LinkParams& link : network.blueprint().links) s.link_packet_ps.push_back(link.packet_ps);
  s.ports = collect_ports(network);
  s.host_sent = sent_ever(network);
  for (std::size_t i = 0; i < base.host_sent.size(); ++i) s.host_sent[i] -= base.host_sent[i];
  for (const Partition& partition : network.partitions()) s.hosts.merge(partition.record().hosts);
  s.workload = collect_workload(network);
  return s;
}

}  // namespace dragonfly
