#include "metrics/counters.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

PortCounters collect_ports(const Network& network) {
  const Blueprint& plan = network.blueprint();
  PortCounters ports;
  for (const Partition& partition : network.partitions()) {
    const Tick now = std::max(network.now(), partition.clock());
    for (const OutputPort& output : partition.output_ports()) {
      ports.sent.push_back(output.sent);
      const Tick open = output.blocked_since >= 0 ? now - output.blocked_since : 0;
      ports.output_stall_ps.push_back(plan.to_ps(output.stalled + open));
    }
    for (const InputStall& stall : partition.input_stalls()) {
      ports.input_stall_ps.push_back(plan.to_ps(stall.until(now)));
    }
  }
  return ports;
}

std::vector<std::uint64_t> sent_ever(const Network& network) {
  std::vector<std::uint64_t> sent;
  for (const Partition& partition : network.partitions()) partition.append_sent(sent);
  return sent;
}

}  // namespace

std::uint64_t generated_ever(Network& network) {
  std::uint64_t total = network.in_source_queues();
  for (const Partition& partition : network.partitions()) total += partition.injected_ever();
  return total;
}

StatisticsBase read_base(Network& network, TimePs now_ps) {
  return {.start_ps = now_ps, .generated = generated_ever(network), .host_sent = sent_ever(network)};
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
