#include "network/deliveries.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>

namespace dragonfly {

Deliveries::Deliveries(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback,
                       OpenDecisions* open, std::uint32_t index)
    : PartitionState{blueprint, store, feedback, open, index},
      router_injected_(num_routers_, 0),
      router_delivered_(num_routers_, 0) {
  if (blueprint.options.record.group_latency) {
    const std::size_t groups = blueprint.topology.num_groups();
    record_.group_latency_ps.assign(groups * groups, 0);
    record_.group_delivered.assign(groups * groups, 0);
  }
  if (blueprint.options.record.host_latency) record_.hosts.assign(blueprint.topology.num_hosts());
}

void Deliveries::reset_counts() {
  record_.clear();
  std::ranges::fill(router_injected_, 0);
  std::ranges::fill(router_delivered_, 0);
}

void Deliveries::count_in_series(Tick injected) {
  const auto bin = static_cast<std::size_t>(plan_.to_ps(injected) / plan_.options.record.series_bin_ps);
  if (bin >= record_.series.size()) record_.series.resize(bin + 1);
  ++record_.series[bin].injected;
}

std::uint64_t Deliveries::under_way_to_hosts() const {
  std::uint64_t count = late_.size();
  if (messages_ == nullptr) return count;
  wheel_.for_each(kHost, [&](std::uint32_t item) { count += (item & kDeliveryBit) != 0 ? 1 : 0; });
  return count;
}

void Deliveries::eject(std::uint32_t index, Tick delivered) {
  if (trackers_.hear_acknowledgements()) acknowledge(packets_[index], delivered);
  if (delivered <= count_until_) {
    deliver(index, delivered);
  } else {
    await_delivery(index, delivered);
  }
}

void Deliveries::acknowledge(const Packet& packet, Tick delivered) {
  const std::optional<std::uint8_t> kind = acknowledged_kind(packet);
  if (!kind) return;
  const std::uint32_t source = plan_.topology.router_of_host(packet.source_host);
  const std::uint32_t group = plan_.topology.group_of(source);
  std::uint8_t global_hops = group != packet.destination_group ? 1 : 0;
  if (packet.non_minimal && packet.detour_group != packet.destination_group) global_hops = 2;
  assert(packet.hops >= global_hops);
  const Acknowledgement sent{.due = delivered + plan_.acknowledgement_delay,
                             .source_router = source,
                             .destination_router = packet.destination_router,
                             .travelled = static_cast<std::uint32_t>(std::min<Tick>(
                                 delivered - packet.injected, std::numeric_limits<std::uint32_t>::max())),
                             .kind = *kind,
                             .local_hops = static_cast<std::uint8_t>(packet.hops - global_hops),
                             .global_hops = global_hops};
  const std::uint32_t to = plan_.partition_of_group[group];
  if (to == index_) {
    trackers_.acknowledge(sent);
  } else {
    outboxes_[to].acknowledgements.push_back(sent);
  }
}

void Deliveries::await_delivery(std::uint32_t index, Tick delivered) {
  if (messages_ != nullptr) {
    wheel_.push(kHost, delivered, kDeliveryBit | index);
  } else {
    late_.push_back({index, delivered});
  }
}

void Deliveries::settle(Tick now) {
  std::erase_if(late_, [&](const LateDelivery& late) {
    if (late.delivered > now) return false;
    deliver(late.packet, late.delivered);
    return true;
  });
}

void Deliveries::deliver(std::uint32_t index, Tick delivered_tick) {
  const Packet& packet = packets_[index];
  const TimePs created = plan_.to_ps(packet.created);
  const TimePs injected = plan_.to_ps(packet.injected);
  const TimePs delivered = plan_.to_ps(delivered_tick);
  --in_network_;
  ++delivered_ever_;
  const bool counted = packet.created > counted_after_;
  if (desk_ != nullptr) desk_->delivered(index, delivered_tick, delivered_tick - packet.created, counted);
  trace_hash_ += delivery_digest(packet, created, delivered);
  if (counted) count_delivery(index, delivered);
  if (plan_.options.record.packet_log) {
    const PathRecord& path = paths_[index];
    record_.log.push_back({packet.source_host,
                           packet.destination_host,
                           packet.number,
                           created,
                           injected,
                           delivered,
                           packet.hops,
                           !packet.non_minimal,
                           packet.path_kind(),
                           {path.routers.begin(), path.routers.begin() + path.length}});
  }
  free_packets_.push_back(index);
}

void Deliveries::count_delivery(std::uint32_t index, TimePs delivered) {
  const Packet& packet = packets_[index];
  const TimePs created = plan_.to_ps(packet.created);
  const TimePs injected = plan_.to_ps(packet.injected);
  const TimePs latency = delivered - created;
  ++record_.delivered;
  record_.minimal += packet.non_minimal ? 0 : 1;
  record_.latency_ps += latency;
  record_.network_latency_ps += delivered - injected;
  record_.latency_min_ps = std::min(record_.latency_min_ps, latency);
  record_.latency_max_ps = std::max(record_.latency_max_ps, latency);
  record_.latencies.add(static_cast<std::uint64_t>(latency) >> DeliveryRecord::kHistogramShift);
  if (packet.hops >= record_.hops.size()) record_.hops.resize(packet.hops + 1U, 0);
  ++record_.hops[packet.hops];
  ++router_delivered_[packet.destination_router - first_router_];

  const RecordOptions& options = plan_.options.record;
  if (options.series_bin_ps > 0) {
    const auto bin = static_cast<std::size_t>(delivered / options.series_bin_ps);
    if (bin >= record_.series.size()) record_.series.resize(bin + 1);
    ++record_.series[bin].delivered;
    record_.series[bin].latency_ps += latency;
    record_.series[bin].hops += packet.hops;
    SeriesBin& begin = record_.series[static_cast<std::size_t>(created / options.series_bin_ps)];
    ++begin.arrived;
    begin.arrived_latency_ps += latency;
  }
  if (options.group_latency) {
    const std::size_t row = packet.source_host / plan_.topology.hosts_per_group();
    const std::size_t cell = row * plan_.topology.num_groups() + packet.destination_group;
    record_.group_latency_ps[cell] += latency;
    ++record_.group_delivered[cell];
  }
  if (options.host_latency) record_.hosts.add(packet.source_host, latency, delivered - injected);
}

}  // namespace dragonfly
