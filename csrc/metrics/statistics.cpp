#include "metrics/statistics.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

std::uint64_t generated_ever(Network& network) {
  std::uint64_t total = network.in_source_queues();
  for (const Partition& partition : network.partitions()) total += partition.injected_ever();
  return total;
}

}  // namespace

StatisticsBase read_base(Network& network, TimePs now_ps) {
  return {.start_ps = now_ps, .generated = generated_ever(network)};
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
    s.messages.merge(partition.programs()->record());
    const auto& jobs = partition.programs()->jobs();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      s.jobs[i].merge(jobs[i]);
      if (!plan.workload->jobs()[i].program->is_endless()) s.packets_delivered += jobs[i].packets_delivered;
    }
    const auto& operations = partition.programs()->operations();
    for (std::size_t i = 0; i < operations.size(); ++i) s.operations[i].merge(operations[i]);
  }
  return s;
}

Totals collect_totals(Network& network, const StatisticsBase& base, TimePs now_ps) {
  Totals totals{.now_ps = now_ps, .generated = generated_ever(network) - base.generated};
  for (const Partition& partition : network.partitions()) {
    const DeliveryRecord& record = partition.record();
    totals.lost += record.lost;
    totals.delivered += record.delivered;
    totals.latency_ps += record.latency_ps;
  }
  return totals;
}

Statistics collect_statistics(Network& network, const StatisticsBase& base, TimePs now_ps) {
  const Blueprint& plan = network.blueprint();
  Statistics s;
  s.start_ps = base.start_ps;
  s.now_ps = now_ps;
  s.generated = generated_ever(network) - base.generated;
  s.in_network = network.in_network();
  s.in_source_queues = network.in_source_queues();
  s.series_bin_ps = plan.options.record.series_bin_ps;
  for (const LinkParams& link : plan.links) s.link_packet_ps.push_back(link.packet_ps);
  s.workload = collect_workload(network);
  for (const Partition& partition : network.partitions()) {
    s.deliveries.merge(partition.record());
    const auto append = [](auto& into, const auto& from) {
      into.insert(into.end(), from.begin(), from.end());
    };
    append(s.router_injected, partition.router_injected());
    append(s.router_delivered, partition.router_delivered());
    const Tick now = std::max(network.now(), partition.clock());
    for (const OutputPort& output : partition.output_ports()) {
      s.packet_hops += output.sent;
      s.link_packets.push_back(output.sent);
      const Tick open = output.blocked_since >= 0 ? now - output.blocked_since : 0;
      s.link_stall_ps.push_back(plan.to_ps(output.stalled + open));
      s.link_queued.push_back(output.queued);
      s.link_occupancy.push_back(output.occupancy);
    }
  }
  return s;
}

}  // namespace dragonfly
