// Credits, departures and arrivals.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/prefetch.hpp"
#include "network/partition_inline.hpp"

namespace dragonfly {

void Partition::take_credit(std::uint32_t item, Tick now) {
  const std::uint32_t sender = item >> kVcBits;
  const std::uint32_t vc = item & ((1U << kVcBits) - 1U);
  if (sender >= num_outputs_) {
    host_credit(sender - num_outputs_, now);
    return;
  }
  OutputPort& output = outputs_[sender];
  VcQueue& queue = queues_[sender * plan_.queue_stride + vc];
  ++queue.credits;
  output.sendable |= static_cast<std::uint16_t>((queue.queued > 0 ? 1U : 0U) << vc);
  --output.occupancy;
  if (overheard_) hear_credit(sender, now);
  if (plan_.shared_output) {
    if (output.blocked_since >= 0) {
      output.stalled += now - output.blocked_since;
      output.blocked_since = -1;
    }
    if (queue.first_waiting != kNoInputVc) wake_waiting(output.router, queue);
    return;
  }
  if (output.scheduled) return;
  if (output.queued > 0) {
    plan_departure(sender, output, now);
  } else if (plan_.timed_start && now >= output.timer_end) {
    // A credit starts the timer of an idle port, even with nothing to send; and anew if it comes at
    // the very instant at which the timer ends.
    output.timer_end = now + plan_.timing.start_delay[static_cast<std::size_t>(output.link_class)];
  }
}

// Of the VCs with a packet and a credit for it, round-robin the first one whose packet is through the
// crossbar; `earliest`: how long until the next one is. A shared output is one FIFO in the order of the
// crossbar: there the head that was ready first.
std::uint32_t Partition::choose_ready_vc(const OutputPort& output, const VcQueue* queues, Tick now,
                                         std::int32_t& earliest) const noexcept {
  std::uint32_t chosen = kNil;
  std::int32_t longest_wait = -1;
  const std::uint32_t behind = static_cast<std::uint32_t>(output.sendable) >> output.next_vc
                                                                                  << output.next_vc;
  for (std::uint32_t vcs : {behind, output.sendable & ~behind}) {
    for (; vcs != 0; vcs &= vcs - 1) {
      const auto vc = static_cast<std::uint32_t>(std::countr_zero(vcs));
      auto until_ready =
          static_cast<std::int32_t>(packets_[queues[vc].head].output_ready - static_cast<std::uint32_t>(now));
      // Only low bits are kept: what seems to be ready later than possible has waited for very long.
      if (until_ready > plan_.timing.crossbar_latency) until_ready = -INT32_MAX;
      if (until_ready > 0) {
        earliest = std::min(earliest, until_ready);
        continue;
      }
      if (!plan_.shared_output) return vc;
      if (-until_ready > longest_wait) {
        longest_wait = -until_ready;
        chosen = vc;
      }
    }
  }
  return chosen;
}

void Partition::depart(std::uint32_t output_id, Tick now) {
  OutputPort& output = outputs_[output_id];
  VcQueue* const queues = &queues_[output_id * plan_.queue_stride];
  const auto link = static_cast<std::size_t>(output.link_class);
  output.scheduled = false;

  std::uint32_t chosen = kNil;
  std::int32_t earliest = INT32_MAX;  // readiness of the packets that are not yet through
  if (output.sendable != 0) {
    // Without a pipeline behind the crossbar every queued packet is ready; spare the look.
    chosen = plan_.shared_output || plan_.timing.crossbar_latency > 0
                 ? choose_ready_vc(output, queues, now, earliest)
                 : output.first_sendable();
  }
  if (chosen == kNil) {
    if (earliest != INT32_MAX) {
      output.scheduled = true;
      wheel_.push(kDeparture, now + earliest, output_id);
    } else if (output.blocked_since < 0) {
      output.blocked_since = now;
    }
    return;
  }

  VcQueue& queue = queues[chosen];
  const std::uint32_t index = queue.head;
  Packet& packet = packets_[index];
  prefetch(&packets_[packet.next != kNil ? packet.next : index]);
  queue.head = packet.next;
  --queue.queued;
  --output.queued;
  const bool takes_credit = needs_credit(output);
  if (takes_credit) --queue.credits;
  const bool sendable = queue.queued > 0 && (!takes_credit || queue.credits > 0);
  output.sendable ^= static_cast<std::uint16_t>((sendable ? 0U : 1U) << chosen);
  if (takes_credit) {
    if (output.blocked_since >= 0) {
      output.stalled += now - output.blocked_since;
      output.blocked_since = -1;
    }
  }
  output.next_vc = static_cast<std::uint8_t>(chosen + 1U == output.vcs ? 0U : chosen + 1U);
  output.timer_end = now + plan_.timing.packet[link];
  ++output.sent;
  if (output.queued > 0) {
    output.scheduled = true;
    wheel_.push(kDeparture, output.timer_end, output_id);
  }
  const std::uint32_t router = output.router;
  if (plan_.shared_output) {
    for (std::uint32_t vc = 0; vc < output.vcs; ++vc) wake_waiting(router, queues[vc]);
  } else if (queue.first_waiting != kNoInputVc) {
    wake_waiting(router, queue);
  }

  const Tick arrival = now + plan_.timing.hop_delay[link];
  if (output.link_class == LinkClass::kHost) {
    --output.occupancy;
    eject(index, arrival);
    return;
  }
  ++packet.hops;
  packet.next = output.peer + packet.vc;
  if (output.peer_partition == index_) {
    wheel_.push(kArrival, arrival, index);
    return;
  }
  outboxes_[output.peer_partition].packets.push_back({index, static_cast<std::uint32_t>(arrival - now_)});
  --in_network_;
}

void Partition::arrive(std::uint32_t index, Tick now) {
  Packet& packet = packets_[index];
  const std::uint32_t input_id = packet.next;
  InputVc& input = input_vcs_[input_id];
  packet.next = kNil;
  if (feedback_.heard() && !asking_ && packet.plan == Plan::kMinimal) HopFeedback::note_travel(packet, now);
  packet.arrived = now;
  if (paths_ != nullptr) {
    PathRecord& path = paths_[index];
    if (path.length < PathRecord::kLongest) path.routers[path.length++] = first_router_ + input.router;
  }
  const bool becomes_head = input.head == kNil;
  if (becomes_head) {
    input.head = index;
  } else {
    packets_[input.tail].next = index;
  }
  input.tail = index;
  ++input.queued;
  if (plan_.decide_on_arrival) {
    if (asking_) desk_->touch(index);
    undecided_.push_back({index, input_id});
    if (!becomes_head) return;
    input.state = HeadState::kDeciding;
    if (plan_.timing.routing_delay > 0) wheel_.push(kEffect, now + plan_.timing.routing_delay, input_id);
  } else if (becomes_head) {
    expose_head(input, now);
  }
}

void Partition::eject(std::uint32_t index, Tick delivered) {
  if (delivered <= count_until_) {
    deliver(index, delivered);
  } else {
    await_delivery(index, delivered);
  }
}

void Partition::await_delivery(std::uint32_t index, Tick delivered) {
  if (programs_ != nullptr) {
    wheel_.push(kHost, delivered, kDeliveryBit | index);
  } else {
    late_.push_back({index, delivered});
  }
}

void Partition::settle(Tick now) {
  std::erase_if(late_, [&](const LateDelivery& late) {
    if (late.delivered > now) return false;
    deliver(late.packet, late.delivered);
    return true;
  });
}

// Counts a packet that has reached its host, and forgets it.
void Partition::deliver(std::uint32_t index, Tick delivered_tick) {
  const Packet& packet = packets_[index];
  const TimePs created = plan_.to_ps(packet.created);
  const TimePs injected = plan_.to_ps(packet.injected);
  const TimePs delivered = plan_.to_ps(delivered_tick);
  const TimePs latency = delivered - created;
  --in_network_;
  ++delivered_ever_;
  if (desk_ != nullptr) desk_->delivered(index, delivered_tick, delivered_tick - packet.created);
  trace_hash_ += delivery_digest(packet, created, delivered);
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
  }
  if (options.group_latency) {
    const std::size_t row = packet.source_host / plan_.topology.hosts_per_group();
    const std::size_t cell = row * plan_.topology.num_groups() + packet.destination_group;
    record_.group_latency_ps[cell] += latency;
    ++record_.group_delivered[cell];
  }
  if (options.packet_log) {
    const PathRecord& path = paths_[index];
    record_.log.push_back({packet.source_host,
                           packet.destination_host,
                           packet.number,
                           created,
                           injected,
                           delivered,
                           packet.hops,
                           !packet.non_minimal,
                           {path.routers.begin(), path.routers.begin() + path.length}});
  }
  free_packet(index);
}

}  // namespace dragonfly
