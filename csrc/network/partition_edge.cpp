// The allocator: what a router does at a clock edge.
#include <algorithm>
#include <utility>

#include "network/partition.hpp"

namespace dragonfly {

// Lowest key first. Ties cannot happen: the low bits are the input VC.
std::uint64_t Partition::allocator_key(const RouterState& router, const InputVc& input) const noexcept {
  switch (plan_.arbitration) {
    case Arbitration::kLeastRecentlyServed:
      break;
    case Arbitration::kRoundRobin: {
      const OutputPort& output = outputs_[input.router * radix_ + input.out_port];
      const std::uint32_t n = plan_.input_vcs;
      const std::uint32_t distance = (input.index + n - output.last_input - 1U) % n;
      return std::uint64_t{distance} << 16 | input.index;
    }
    case Arbitration::kAge:
      return static_cast<std::uint64_t>(packets_[input.head].created) << 16 | input.index;
  }
  (void)router;
  return std::uint64_t{input.last_served} << 16 | input.index;
}

// One pass over the input VCs that ask, in the order of the arbitration: each gets through if its
// crossbar input, its crossbar output and the space behind are free.
// Deviation: LIA's switches run two separate rounds of input and output arbiters per cycle; one pass
// in priority order gives every match that such rounds could still add.
void Partition::clock_edge(std::uint32_t router_index, Tick now) {
  RouterState& router = routers_[router_index];
  if (router.next_edge != now) return;  // an earlier edge has done the work
  router.next_edge = -1;
  std::uint16_t* const ready = &ready_[router_index * plan_.input_vcs];
  InputVc* const inputs = &input_vcs_[router_index * plan_.input_vcs];
  const std::uint32_t asking = router.ready;
  router.ready = 0;

  keys_.clear();
  for (std::uint32_t i = 0; i < asking; ++i) keys_.push_back(allocator_key(router, inputs[ready[i]]));
  for (std::size_t i = 1; i < keys_.size(); ++i) {  // few: insertion sort
    for (std::size_t j = i; j > 0 && keys_[j] < keys_[j - 1]; --j) std::swap(keys_[j], keys_[j - 1]);
  }

  Tick retry = Blueprint::kNeverTick;
  for (std::uint32_t i = 0; i < asking; ++i) {
    InputVc& input = inputs[keys_[i] & 0xffff];
    const Tick input_free = inputs_[router_index * radix_ + input.port].crossbar_free;
    const std::uint32_t output_id = router_index * radix_ + input.out_port;
    OutputPort& output = outputs_[output_id];
    VcQueue& queue = queues_[output_id * plan_.queue_stride + input.out_vc];
    const Tick free = std::max(input_free, output.crossbar_free);
    if (free > now) {
      retry = std::min(retry, free);
      ready[router.ready++] = input.index;
      continue;
    }
    const bool room = plan_.shared_output
                          ? output.queued < plan_.output_buffer &&
                                (queue.credits > 0 || output.link_class == LinkClass::kHost)
                          : queue.queued < plan_.output_buffer;
    if (!room) {
      wait_for_room(input, output, queue, now);
      continue;
    }
    grant(router_index, input, output, queue, now);
  }
  if (retry != Blueprint::kNeverTick) {
    const Tick clock = plan_.timing.clock;
    plan_edge(router_index, std::max(next_clock_edge_, (retry + clock - 1) / clock * clock));
  }
}

void Partition::grant(std::uint32_t router_index, InputVc& input, OutputPort& output, VcQueue& queue, Tick now) {
  const Timing& timing = plan_.timing;
  InputPort& port = inputs_[router_index * radix_ + input.port];
  const std::uint32_t index = input.head;
  Packet& packet = packets_[index];

  Tick busy_until = now + timing.crossbar_transfer;
  if (plan_.cut_through) {  // the tail may still be on its way in
    const Tick packet_time =
        port.link_class == LinkClass::kHost ? timing.injection_packet : timing.packet[static_cast<std::size_t>(port.link_class)];
    busy_until = std::max(busy_until, packet.arrived + packet_time);
  }
  port.crossbar_free = busy_until;
  output.crossbar_free = busy_until;
  input.last_served = ++routers_[router_index].served;
  output.last_input = input.index;

  input.head = packet.next;
  --input.queued;
  credit_upstream(port, packet.vc, now);

  packet.vc = input.out_vc;
  packet.output_ready = static_cast<std::uint32_t>(now + timing.crossbar_latency);
  packet.next = kNil;
  const bool was_empty = queue.queued == 0;
  if (was_empty) {
    queue.head = index;
  } else {
    packets_[queue.tail].next = index;
  }
  queue.tail = index;
  ++queue.queued;
  ++output.queued;
  ++output.occupancy;
  if (plan_.shared_output && output.link_class != LinkClass::kHost) --queue.credits;
  if (was_empty && !output.scheduled) {
    plan_departure(router_index * radix_ + input.out_port, output, now + timing.crossbar_latency);
  }
  expose_head(input, now);
}

void Partition::credit_upstream(const InputPort& port, std::uint8_t vc, Tick now) {
  const Tick arrival = now + plan_.timing.credit_delay[static_cast<std::size_t>(port.link_class)];
  const std::uint32_t item = port.upstream << kVcBits | vc;
  if (port.upstream_partition == index_) {
    wheel_.push(kCredit, arrival, item);
  } else {
    outboxes_[port.upstream_partition].credits.push_back({item, static_cast<std::uint32_t>(arrival - now_)});
  }
}

// The next packet of an input VC has come to its head.
void Partition::expose_head(InputVc& input, Tick now) {
  if (input.head == kNil) {
    input.state = HeadState::kNone;
    return;
  }
  input.state = HeadState::kDeciding;
  const std::uint32_t id = static_cast<std::uint32_t>(&input - input_vcs_.data());
  if (!plan_.decide_on_arrival) {
    undecided_.push_back({input.head, id});
    return;
  }
  const Tick effect = packets_[input.head].arrived + plan_.timing.routing_delay;
  if (effect <= now) {
    make_ready(input, now);
  } else {
    wheel_.push(kEffect, effect, id);
  }
}

void Partition::make_ready(InputVc& input, Tick /*now*/) {
  const Packet& packet = packets_[input.head];
  input.out_port = packet.out_port;
  input.out_vc = packet.out_vc;
  input.state = HeadState::kReady;
  RouterState& router = routers_[input.router];
  ready_[input.router * plan_.input_vcs + router.ready++] = input.index;
  plan_edge(input.router, next_clock_edge_);
}

void Partition::plan_edge(std::uint32_t router_index, Tick edge) {
  RouterState& router = routers_[router_index];
  if (router.next_edge >= 0 && router.next_edge <= edge) return;
  router.next_edge = edge;
  wheel_.push(kEdge, edge, router_index);
}

void Partition::wait_for_room(InputVc& input, OutputPort& output, VcQueue& queue, Tick now) {
  input.state = HeadState::kWaiting;
  input.next_waiting = queue.first_waiting;
  queue.first_waiting = input.index;
  if (plan_.shared_output && queue.credits == 0 && output.link_class != LinkClass::kHost && output.blocked_since < 0) {
    output.blocked_since = now;
  }
}

// There is room again: whoever waited asks at the next clock edge.
void Partition::wake_waiting(std::uint32_t router_index, VcQueue& queue, Tick /*now*/) {
  std::uint16_t index = queue.first_waiting;
  if (index == kNoInputVc) return;
  queue.first_waiting = kNoInputVc;
  RouterState& router = routers_[router_index];
  while (index != kNoInputVc) {
    InputVc& input = input_vcs_[router_index * plan_.input_vcs + index];
    index = std::exchange(input.next_waiting, kNoInputVc);
    input.state = HeadState::kReady;
    ready_[router_index * plan_.input_vcs + router.ready++] = input.index;
  }
  plan_edge(router_index, next_clock_edge_);
}

}  // namespace dragonfly
