// The allocator: what a router does at a clock edge.
#include <algorithm>
#include <utility>

#include "network/router_inline.hpp"

namespace dragonfly {

// One pass over the input VCs that ask, in the order of the arbitration: each gets through if its
// crossbar input, its crossbar output and the space behind are free.
// Deviation: LIA's switches run two separate rounds of input and output arbiters per cycle; one pass
// in priority order gives every match that such rounds could still add.
// Kept out of step(): so grant() becomes part of this function, and hosts' events of that one.
[[gnu::noinline]] void RouterPorts::clock_edge(std::uint32_t router_index, Tick now) {
  RouterState& router = routers_[router_index];
  if (router.next_edge != now) return;  // an earlier edge has done the work
  router.next_edge = -1;
  std::uint16_t* const ready = &ready_[router_index * plan_.input_vcs];
  InputVc* const inputs = &input_vcs_[router_index * plan_.input_vcs];
  const std::uint32_t asking = router.ready;
  router.ready = 0;

  std::uint64_t* const keys = keys_.data();
  if (asking == 1) {
    keys[0] = ready[0];
  } else {
    for (std::uint32_t i = 0; i < asking; ++i) {  // few: insertion sort
      const std::uint64_t key = allocator_key(inputs[ready[i]]);
      std::uint32_t j = i;
      for (; j > 0 && key < keys[j - 1]; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
  }

  // Of those served at one edge, the first counts as the one served last (SST/Merlin fills its list
  // of who is next from behind): two hosts that send in phase to one port take turns.
  router.served += asking;
  std::uint32_t stamp = router.served;
  Tick retry = Blueprint::kNeverTick;
  for (std::uint32_t i = 0; i < asking; ++i) {
    InputVc& input = inputs[keys[i] & 0xffff];
    const Tick input_free = inputs_[router_index * radix_ + input.port].crossbar_free;
    const std::uint32_t output_id = router_index * radix_ + input.out_port;
    OutputPort& output = outputs_[output_id];
    VcQueue& queue = queues_[output_id * plan_.queue_stride + input.out_vc];
    const Tick free = std::max(input_free, output.crossbar_free);
    if (free > now) {
      if (trackers_.hear_refused_heads() && input_free <= now) hear_refusal(input, now);
      retry = std::min(retry, free);
      ready[router.ready++] = input.index;
      continue;
    }
    const bool room = plan_.shared_output ? output.queued < plan_.output_buffer &&
                                                (queue.credits > 0 || output.link_class == LinkClass::kHost)
                                          : queue.queued < plan_.output_buffer;
    if (!room) {
      wait_for_room(input, output, queue, now);
      continue;
    }
    grant(router_index, input, output, queue, stamp--, now);
  }
  if (retry != Blueprint::kNeverTick) {
    const Tick clock = plan_.timing.clock;
    plan_edge(router_index, std::max(next_clock_edge_, (retry + clock - 1) / clock * clock));
  }
}

void RouterPorts::grant(std::uint32_t router_index, InputVc& input, OutputPort& output, VcQueue& queue,
                        std::uint32_t stamp, Tick now) {
  const Timing& timing = plan_.timing;
  InputPort& port = inputs_[router_index * radix_ + input.port];
  const std::uint32_t index = input.head;
  Packet& packet = packets_[index];

  Tick busy_until = now + timing.crossbar_transfer;
  if (plan_.cut_through) {  // the tail may still be on its way in
    const Tick packet_time = port.link_class == LinkClass::kHost
                                 ? timing.injection_packet
                                 : timing.packet[static_cast<std::size_t>(port.link_class)];
    busy_until = std::max(busy_until, packet.arrived + packet_time);
  }
  port.crossbar_free = busy_until;
  output.crossbar_free = busy_until;
  input.last_served = stamp;
  if (plan_.arbitration == Arbitration::kRoundRobin) {
    last_inputs_[router_index * radix_ + input.out_port] = input.index;
  }

  input.head = packet.next;
  --input.queued;
  credit_upstream(port, packet.vc, now);
  if (overheard_) hear_grant(router_index * radix_ + input.port, port.link_class, packet, output, now);
  if (asking_ && desk_->reports().keeps()) report_hop(port, index, now);

  packet.vc = input.out_vc;
  packet.output_ready = static_cast<std::uint32_t>(now + timing.crossbar_latency);
  packet.next = kNil;
  const bool was_empty = queue.queued == 0;
  packets_[was_empty ? index : queue.tail].next = was_empty ? kNil : index;
  queue.head = was_empty ? index : queue.head;
  queue.tail = index;
  ++queue.queued;
  const bool sendable = queue.credits > 0 || !needs_credit(output);
  output.sendable |= static_cast<std::uint16_t>((sendable ? 1U : 0U) << input.out_vc);
  ++output.queued;
  ++output.occupancy;
  if (plan_.shared_output && output.link_class != LinkClass::kHost) --queue.credits;
  if (was_empty && !output.scheduled) {
    plan_departure(router_index * radix_ + input.out_port, output, now + timing.crossbar_latency);
  }
  expose_head(input, now);
}

void RouterPorts::hear_refusal(const InputVc& input, Tick now) {
  if (input.port >= plan_.topology.first_local_port()) return;
  trackers_.head_refused(input.router, input.port, packets_[input.head], now);
}

// The head of a host's queue that found no room is asked anew in this instant, and tries at the next edge.
// Other heads have decided for good. With redraw_detours its draws are others each time (RouteContext).
bool RouterPorts::decides_again(InputVc& input) {
  Packet& packet = packets_[input.head];
  if (input.port >= plan_.topology.first_local_port() || packet.plan == Plan::kRouted ||
      packet.destination_group == plan_.topology.group_of(first_router_ + input.router)) {
    return false;
  }
  PathFollower::forget_detour(packet);
  if (plan_.redraw_detours) ++packet.output_ready;
  input.state = HeadState::kDeciding;
  undecided_.push_back({input.head, static_cast<std::uint32_t>(&input - input_vcs_.data())});
  return true;
}

void RouterPorts::wait_for_room(InputVc& input, OutputPort& output, VcQueue& queue, Tick now) {
  if (trackers_.hear_blocked_heads()) trackers_.head_blocked(input.router, input.port, packets_[input.head]);
  if (trackers_.hear_refused_heads()) hear_refusal(input, now);
  InputStall& stall = input_stalls_[input.router * radix_ + input.port];
  if (plan_.decide_again && decides_again(input)) {
    stall.stalled += plan_.timing.clock;  // it asks anew at the next edge
    return;
  }
  if (stall.waiting++ == 0) stall.since = now;
  input.state = HeadState::kWaiting;
  input.next_waiting = queue.first_waiting;
  queue.first_waiting = input.index;
  waiting_vcs_[input.router * radix_ + input.out_port] |= static_cast<std::uint16_t>(1U << input.out_vc);
  if (plan_.shared_output && queue.credits == 0 && output.link_class != LinkClass::kHost &&
      output.blocked_since < 0) {
    output.blocked_since = now;
  }
}

// There is room again: whoever waited asks at the next clock edge.
void RouterPorts::wake_waiting(std::uint32_t router_index, VcQueue& queue, Tick now) {
  std::uint16_t index = queue.first_waiting;
  if (index == kNoInputVc) return;
  queue.first_waiting = kNoInputVc;
  RouterState& router = routers_[router_index];
  while (index != kNoInputVc) {
    InputVc& input = input_vcs_[router_index * plan_.input_vcs + index];
    index = std::exchange(input.next_waiting, kNoInputVc);
    InputStall& stall = input_stalls_[router_index * radix_ + input.port];
    if (--stall.waiting == 0) stall.stalled += now - stall.since;
    input.state = HeadState::kReady;
    ready_[router_index * plan_.input_vcs + router.ready++] = input.index;
  }
  plan_edge(router_index, next_clock_edge_);
}

}  // namespace dragonfly
