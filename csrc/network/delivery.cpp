#include "network/delivery.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>

namespace dragonfly {

namespace {

void count_delivery(PartitionState& s, std::uint32_t index, TimePs delivered) {
  const Packet& packet = s.store.packets[index];
  const TimePs created = s.plan.to_ps(s.store.times[index].created);
  const TimePs injected = s.plan.to_ps(s.store.times[index].injected);
  const TimePs latency = delivered - created;
  DeliveryRecord& record = s.record;
  ++record.delivered;
  record.minimal += packet.non_minimal ? 0 : 1;
  record.latency_ps += latency;
  record.network_latency_ps += delivered - injected;
  record.latency_min_ps = std::min(record.latency_min_ps, latency);
  record.latency_max_ps = std::max(record.latency_max_ps, latency);
  record.latencies.add(static_cast<std::uint64_t>(latency) >> DeliveryRecord::kHistogramShift);
  if (packet.hops >= record.hops.size()) record.hops.resize(packet.hops + 1U, 0);
  ++record.hops[packet.hops];
  ++s.router_delivered[packet.destination_router - s.first_router];

  const RecordOptions& options = s.plan.options.record;
  if (options.series_bin_ps > 0) {
    const auto bin = static_cast<std::size_t>(delivered / options.series_bin_ps);
    if (bin >= record.series.size()) record.series.resize(bin + 1);
    ++record.series[bin].delivered;
    record.series[bin].latency_ps += latency;
    record.series[bin].hops += packet.hops;
    SeriesBin& begin = record.series[static_cast<std::size_t>(created / options.series_bin_ps)];
    ++begin.arrived;
    begin.arrived_latency_ps += latency;
  }
  if (options.group_latency) {
    const std::size_t row = s.plan.topology.group_of_host(packet.source_host);
    const std::size_t cell = row * s.plan.topology.num_groups() + packet.destination_group;
    record.group_latency_ps[cell] += latency;
    ++record.group_delivered[cell];
  }
  if (options.host_latency) record.hosts.add(packet.source_host, latency, delivered - injected);
}

}  // namespace

void count_in_series(PartitionState& s, Tick injected) {
  const auto bin = static_cast<std::size_t>(s.plan.to_ps(injected) / s.plan.options.record.series_bin_ps);
  if (bin >= s.record.series.size()) s.record.series.resize(bin + 1);
  ++s.record.series[bin].injected;
}

void acknowledge(PartitionState& s, std::uint32_t index, Tick delivered) {
  const Packet& packet = s.store.packets[index];
  const std::optional<std::uint8_t> kind = acknowledged_kind(packet);
  if (!kind) return;
  const std::uint32_t source = s.plan.topology.router_of_host(packet.source_host);
  const std::uint32_t group = s.plan.topology.group_of(source);
  std::uint8_t global_hops = group != packet.destination_group ? 1 : 0;
  if (packet.non_minimal && packet.intermediate_group != packet.destination_group) global_hops = 2;
  assert(packet.hops >= global_hops);
  const Tick travelled = delivered - s.store.times[index].injected;
  const Acknowledgement sent{.due = delivered + s.plan.acknowledgement_delay,
                             .source_router = source,
                             .destination_router = packet.destination_router,
                             .travelled = static_cast<std::uint32_t>(
                                 std::min<Tick>(travelled, std::numeric_limits<std::uint32_t>::max())),
                             .kind = *kind,
                             .local_hops = static_cast<std::uint8_t>(packet.hops - global_hops),
                             .global_hops = global_hops};
  const std::uint32_t to = s.plan.partition_of_group[group];
  if (to == s.index) {
    s.trackers.acknowledge(sent);
  } else {
    s.messages_out.acknowledgements.push_back({sent, to});
  }
}

void settle(PartitionState& s, Tick now) {
  std::erase_if(s.late, [&](const PartitionState::LateDelivery& late) {
    if (late.delivered > now) return false;
    deliver(s, late.packet, late.delivered);
    return true;
  });
}

void deliver(PartitionState& s, std::uint32_t index, Tick delivered_tick) {
  const Packet& packet = s.store.packets[index];
  const PacketTimes& times = s.store.times[index];
  const TimePs created = s.plan.to_ps(times.created);
  const TimePs delivered = s.plan.to_ps(delivered_tick);
  --s.in_network;
  ++s.delivered_ever;
  s.last_delivery = std::max(s.last_delivery, delivered_tick);
  s.packet_time += static_cast<std::uint64_t>(delivered_tick);
  if (s.pending != nullptr) s.pending->delivered(index, packet, times.created, delivered_tick);
  s.trace_hash += delivery_digest(packet, created, delivered);
  count_delivery(s, index, delivered);
  if (s.store.with_paths) {
    const PathRecord& path = s.store.paths[index];
    s.record.log.push_back({packet.source_host,
                            packet.destination_host,
                            packet.number,
                            created,
                            s.plan.to_ps(times.injected),
                            delivered,
                            packet.hops,
                            !packet.non_minimal,
                            packet.path_kind(),
                            {path.routers.begin(), path.routers.begin() + path.length}});
  }
  s.store.remove(index);
}

}  // namespace dragonfly
