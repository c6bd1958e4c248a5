#include "metrics/statistics.hpp"

namespace dragonfly {

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
  Statistics s;
  static_cast<Counters&>(s) = collect_counters(network, base, now_ps);
  s.generated = generated_ever(network) - base.generated;
  s.in_network = network.in_network();
  s.in_source_queues = network.source_queues().packets;
  s.packet_time_ps = network.packet_time_ps(now_ps) - base.packet_time_ps;
  s.series_bin_ps = network.blueprint().options.record.series_bin_ps;
  for (const Partition& partition : network.partitions()) {
    s.deliveries.merge(partition.record());
    const auto append = [](auto& into, const auto& from) {
      into.insert(into.end(), from.begin(), from.end());
    };
    append(s.router_injected, partition.state().router_injected);
    append(s.router_delivered, partition.state().router_delivered);
    for (std::uint32_t router = 0; router < partition.num_routers(); ++router) {
      for (Port port = 0; port < network.blueprint().topology.radix(); ++port) {
        const OutputPort& output = partition.output_port(router, port);
        s.packet_hops += output.sent;
        s.link_queued.push_back(output.queued);
        s.link_occupancy.push_back(output.occupancy);
      }
    }
  }
  return s;
}

}  // namespace dragonfly
