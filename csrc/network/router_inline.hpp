// The small steps that the hottest events share.
#pragma once

#include <algorithm>

#include "core/prefetch.hpp"
#include "network/router_ports.hpp"

namespace dragonfly {

// Whether it is the queue of a host of this router.
inline bool RouterPorts::is_own_host(const InputVc& input) const noexcept {
  return input.port < plan_.topology.first_local_port();
}

// Lowest key first. Ties cannot happen: the low bits are the input VC.
inline std::uint64_t RouterPorts::allocator_key(const InputVc& input) const noexcept {
  const bool waits = plan_.transit_first && is_own_host(input);
  switch (plan_.arbitration) {
    case Arbitration::kLeastRecentlyServed:
      break;
    case Arbitration::kRoundRobin:
      return input.index;  // its arbiters come later, see output_key()
    case Arbitration::kAge:
      return std::uint64_t{waits ? 1U : 0U} << 63 |
             static_cast<std::uint64_t>(packets_[input.head].created) << 16 | input.index;
  }
  return std::uint64_t{waits ? 1U : 0U} << 63 | std::uint64_t{input.last_served} << 16 | input.index;
}

// Of the circles in which round-robin output arbiters serve input ports: where transit comes first, hosts
// have one of their own.
inline std::uint32_t RouterPorts::circle_of(const InputVc& input) const noexcept {
  const bool waits = plan_.transit_first && is_own_host(input);
  return 2 * (input.router * radix_ + input.out_port) + (waits ? 1 : 0);
}

// The turn of an input port there: a circle is seen from behind the port that was served last.
inline std::uint32_t RouterPorts::output_key(const InputVc& input) const noexcept {
  const std::uint32_t circle = circle_of(input);
  return (circle & 1U) << 18 | (input.port <= last_inputs_[circle] ? 1U : 0U) << 17 | input.port;
}

inline VcQueue& RouterPorts::queue_of(const InputVc& input) noexcept {
  return queues_[(input.router * radix_ + input.out_port) * plan_.queue_stride + input.out_vc];
}

inline bool RouterPorts::has_room(const OutputPort& output, const VcQueue& queue) const noexcept {
  if (!plan_.shared_output) return queue.queued < plan_.output_buffer;
  return output.queued < plan_.output_buffer && (queue.credits > 0 || output.link_class == LinkClass::kHost);
}

inline void RouterPorts::plan_edge(std::uint32_t router_index, Tick edge) {
  RouterState& router = routers_[router_index];
  if (router.next_edge >= 0 && router.next_edge <= edge) return;
  router.next_edge = edge;
  wheel_.push(kEdge, edge, router_index);
}

inline void RouterPorts::make_ready(InputVc& input) {
  const Packet& packet = packets_[input.head];
  input.out_port = packet.out_port;
  input.out_vc = packet.out_vc;
  input.state = HeadState::kReady;
  if (packet.next != kNil) prefetch(&packets_[packet.next]);  // its turn comes next
  RouterState& router = routers_[input.router];
  ready_[input.router * plan_.input_vcs + router.ready++] = input.index;
  plan_edge(input.router, next_clock_edge_);
}

// The next packet of an input VC has come to its head.
inline void RouterPorts::expose_head(InputVc& input, Tick now) {
  if (input.head == kNil) {
    input.state = HeadState::kNone;
    return;
  }
  input.state = HeadState::kDeciding;
  const std::uint32_t id = static_cast<std::uint32_t>(&input - input_vcs_.data());
  if (!plan_.decide_on_arrival) {
    prefetch(&packets_[input.head]);
    undecided_.push_back({input.head, id});
    return;
  }
  const Packet& head = packets_[input.head];
  const Tick effect = head.arrived + plan_.timing.routing_delay;
  if (effect <= now) {
    make_ready(input);
  } else {
    wheel_.push(kEffect, effect, id);
  }
}

inline void RouterPorts::credit_upstream(const InputPort& port, std::uint8_t vc, Tick now) {
  const Tick arrival = now + plan_.timing.credit_delay[static_cast<std::size_t>(port.link_class)];
  const std::uint32_t item = port.upstream << kVcBits | vc;
  if (port.upstream_partition == index_) {
    wheel_.push(kCredit, arrival, item);
  } else {
    outboxes_[port.upstream_partition].credits.push_back({item, static_cast<std::uint32_t>(arrival - now_)});
  }
}

// With `timed_start` an idle port first runs its timer for one packet time; a packet that finds the
// timer running leaves when it ends, as in SST/Merlin, the simulator of Kang et al., HPDC 2021.
inline void RouterPorts::plan_departure(std::uint32_t output_id, OutputPort& output, Tick ready) {
  if (plan_.timed_start && ready > output.timer_end) {
    const Tick delay = plan_.timing.start_delay[static_cast<std::size_t>(output.link_class)];
    Tick start = ready;
    if (output.link_class == LinkClass::kHost && output.timer_end >= 0) {
      // Hosts take packets at once, but their credit starts the timer as any other does.
      const Tick credit = output.timer_end - plan_.timing.packet[0] + plan_.timing.ejection_credit;
      if (credit <= ready && ready <= credit + delay) start = credit;
    }
    output.timer_end = start + delay;
  }
  output.scheduled = true;
  wheel_.push(kDeparture, std::max(ready, output.timer_end), output_id);
}

// The decision counts one routing delay from now. One that was made on arrival has its event already,
// or waits behind others.
inline void RouterPorts::await_effect(std::uint32_t packet, std::uint32_t input_vc, Tick now) {
  InputVc& input = input_vcs_[input_vc];
  const Tick delay = plan_.timing.routing_delay;
  if (!plan_.decide_on_arrival) {
    if (delay == 0) {
      make_ready(input);
    } else {
      wheel_.push(kEffect, now + delay, input_vc);
    }
  } else if (delay == 0 && input.head == packet) {
    make_ready(input);
  }
}

}  // namespace dragonfly
