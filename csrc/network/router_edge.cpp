// The allocator: what a router does at a clock edge.
#include <algorithm>
#include <utility>

#include "network/router_inline.hpp"

namespace dragonfly {

// One pass over the input VCs that ask, in the order of the arbitration: each gets through if its
// crossbar input, its crossbar output and the space behind are free. Round-robin arbiters work in rounds.
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
  if (plan_.arbitration == Arbitration::kRoundRobin) {
    for (std::uint32_t round = 0; round < kAllocatorRounds; ++round) {
      if (!allocate_round(router_index, asking, stamp, now)) break;
    }
  }
  Tick retry = Blueprint::kNeverTick;
  for (std::uint32_t i = 0; i < asking; ++i) {
    if (keys[i] == kServed) continue;
    InputVc& input = inputs[keys[i] & 0xffff];
    const Tick input_free = inputs_[router_index * radix_ + input.port].crossbar_free;
    OutputPort& output = outputs_[router_index * radix_ + input.out_port];
    const Tick free = std::max(input_free, output.crossbar_free);
    if (free > now) {
      if (input_free <= now && refuse(input, Refusal::kTaken, now)) continue;
      retry = std::min(retry, free);
      ready[router.ready++] = input.index;
      continue;
    }
    VcQueue& queue = queue_of(input);
    if (!has_room(output, queue)) {
      wait_for_room(input, output, queue, now);
      continue;
    }
    if (plan_.arbitration == Arbitration::kRoundRobin) {  // others of its input port went first
      if (refuse(input, Refusal::kTaken, now)) continue;
      retry = std::min(retry, now + plan_.timing.clock);
      ready[router.ready++] = input.index;
      continue;
    }
    grant(router_index, input, output, queue, stamp--, now);
  }
  if (retry != Blueprint::kNeverTick) {
    const Tick clock = plan_.timing.clock;
    plan_edge(router_index, std::max(next_clock_edge_, (retry + clock - 1) / clock * clock));
  }
}

// One round of round-robin input and output arbiters over the input VCs in keys_, which are in the order of
// their ports; whether somebody got through. Each free input port asks for one of its VCs, the next one whose
// way is free; each output port takes one of those input ports. An input port's turn moves on when it asks,
// an output port's when it serves, as in FOGSim (inputs: cosArbiter, outputs: outputArbiter). Source: LIA
// (TACO 2025), section 5.1 and table 1: round-robin arbitration for input and output arbiters.
bool RouterPorts::allocate_round(std::uint32_t router_index, std::uint32_t asking, std::uint32_t& stamp,
                                 Tick now) {
  std::uint64_t* const keys = keys_.data();
  InputVc* const inputs = &input_vcs_[router_index * plan_.input_vcs];
  const std::uint32_t first_port = router_index * radix_;
  std::uint32_t requests = 0;
  for (std::uint32_t begin = 0, end = 0; begin < asking; begin = end) {
    if (keys[begin] == kServed) {
      end = begin + 1;
      continue;
    }
    const std::uint16_t port = inputs[keys[begin] & 0xffff].port;
    std::uint32_t first = kNil;   // of those whose way is free
    std::uint32_t behind = kNil;  // the same, behind the last one that asked
    std::uint16_t& last = last_requests_[first_port + port];
    const bool free = inputs_[first_port + port].crossbar_free <= now;
    for (end = begin; end < asking; ++end) {
      if (keys[end] == kServed) continue;
      const InputVc& input = inputs[keys[end] & 0xffff];
      if (input.port != port) break;
      if (!free || behind != kNil) continue;
      OutputPort& output = outputs_[first_port + input.out_port];
      if (output.crossbar_free > now || !has_room(output, queue_of(input))) continue;
      if (first == kNil) first = end;
      if (input.index > last) behind = end;
    }
    const std::uint32_t chosen = behind != kNil ? behind : first;
    if (chosen == kNil) continue;
    last = inputs[keys[chosen] & 0xffff].index;
    requests_[requests++] = chosen;
  }
  for (std::uint32_t i = 0; i < requests; ++i) {
    std::uint32_t& best = best_requests_[inputs[keys[requests_[i]] & 0xffff].out_port];
    if (best == kNil ||
        output_key(inputs[keys[requests_[i]] & 0xffff]) < output_key(inputs[keys[best] & 0xffff])) {
      best = requests_[i];
    }
  }
  for (std::uint32_t i = 0; i < requests; ++i) {
    InputVc& input = inputs[keys[requests_[i]] & 0xffff];
    const Port out = input.out_port;
    if (best_requests_[out] != requests_[i]) continue;
    best_requests_[out] = kNil;
    last_inputs_[circle_of(input)] = input.port;
    keys[requests_[i]] = kServed;
    grant(router_index, input, outputs_[first_port + out], queue_of(input), stamp--, now);
  }
  return requests > 0;
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

// A head that asked in vain, though its port is free; whether it decides again, and tries at the next edge.
bool RouterPorts::refuse(InputVc& input, Refusal why, Tick now) {
  if (!is_own_host(input)) return false;
  const AfterRefusal after = after_refusal_of(input);
  const bool again = after != AfterRefusal::kKeep;
  if (trackers_.hear_refused_heads()) {
    trackers_.head_refused(input.router, input.port, packets_[input.head], again ? Refusal::kAnew : why, now);
  }
  if (again) decide_again(input, after);
  return again;
}

AfterRefusal RouterPorts::after_refusal_of(const InputVc& input) const noexcept {
  if (plan_.after_refusal == AfterRefusal::kKeep) return AfterRefusal::kKeep;
  const Packet& packet = packets_[input.head];
  if (packet.plan == Plan::kRouted ||
      packet.destination_group == plan_.topology.group_of(first_router_ + input.router)) {
    return AfterRefusal::kKeep;
  }
  const std::size_t decider = plan_.deciders.size() > 1 ? messages_[input.head].policy : 0U;
  return plan_.deciders[decider].after_refusal;
}

// The head of a host's queue decides again at this time. Other heads have decided for good. With kNewPath its
// random numbers are others each time (RouteContext).
void RouterPorts::decide_again(InputVc& input, AfterRefusal how) {
  Packet& packet = packets_[input.head];
  PathFollower::forget_detour(packet);
  if (how == AfterRefusal::kNewPath) ++packet.output_ready;
  input.state = HeadState::kDeciding;
  undecided_.push_back({input.head, static_cast<std::uint32_t>(&input - input_vcs_.data())});
}

void RouterPorts::wait_for_room(InputVc& input, OutputPort& output, VcQueue& queue, Tick now) {
  if (trackers_.hear_blocked_heads()) trackers_.head_blocked(input.router, input.port, packets_[input.head]);
  InputStall& stall = input_stalls_[input.router * radix_ + input.port];
  if (refuse(input, Refusal::kNoRoom, now)) {
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
