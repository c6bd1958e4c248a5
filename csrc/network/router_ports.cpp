// Credits, departures and arrivals, and who hears of them.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/prefetch.hpp"
#include "network/router_inline.hpp"

namespace dragonfly {

void RouterPorts::take_credit(std::uint32_t item, Tick now) {
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
    if (queue.first_waiting != kNoInputVc) wake_waiting(output.router, queue, now);
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
std::uint32_t RouterPorts::choose_ready_vc(const OutputPort& output, const VcQueue* queues, Tick now,
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

void RouterPorts::depart(std::uint32_t output_id, Tick now) {
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
    // Room for one VC is room for all; but to look at a dozen queues costs more than all else here.
    std::uint32_t waiting = std::exchange(waiting_vcs_[output_id], std::uint16_t{0});
    for (; waiting != 0; waiting &= waiting - 1) {
      wake_waiting(router, queues[std::countr_zero(waiting)], now);
    }
  } else if (queue.first_waiting != kNoInputVc) {
    wake_waiting(router, queue, now);
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

void RouterPorts::arrive(std::uint32_t index, Tick now) {
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
    if (asking_ && desk_->wants_all()) desk_->touch(index);
    undecided_.push_back({index, input_id});
    if (!becomes_head) return;
    input.state = HeadState::kDeciding;
    if (plan_.timing.routing_delay > 0) wheel_.push(kEffect, now + plan_.timing.routing_delay, input_id);
  } else if (becomes_head) {
    expose_head(input, now);
  }
}

void RouterPorts::take_effect(std::uint32_t input_vc) { make_ready(input_vcs_[input_vc]); }

void RouterPorts::hear_credit(std::uint32_t output, Tick now) {
  if (feedback_.heard()) feedback_.receive(output, now);
  trackers_.occupancy_changed(outputs_[output].router, outputs_[output].link_class);
}

void RouterPorts::hear_grant(std::uint32_t input_port, LinkClass came_by, const Packet& packet,
                             const OutputPort& output, Tick now) {
  if (feedback_.heard() && came_by != LinkClass::kHost) feedback_.send(input_port, packet, asking_);
  trackers_.occupancy_changed(output.router, output.link_class);
  if (came_by == LinkClass::kHost && trackers_.hear_forwards()) {
    const auto port = static_cast<Port>(input_port - output.router * radix_);
    trackers_.packet_forwarded(output.router, port, packet, now);
  }
}

// With the credit for the place that a packet leaves. Precondition: reports are kept.
void RouterPorts::report_hop(const InputPort& port, std::uint32_t packet, Tick now) {
  HopReports& reports = desk_->reports();
  if (port.link_class != LinkClass::kHost) {
    const std::uint32_t from =
        plan_.partition_first_group[port.upstream_partition] * plan_.topology.a() + port.upstream / radix_;
    reports.left(packet, packets_[packet], from, static_cast<Port>(port.upstream % radix_),
                 now + plan_.timing.credit_delay[static_cast<std::size_t>(port.link_class)]);
  }
  reports.move_on(packet, packets_[packet]);
}

}  // namespace dragonfly
