// The allocator: the events of a router at a clock edge.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "core/pick.hpp"
#include "network/events_ports.hpp"

namespace dragonfly {

// Lowest key first. Ties cannot happen: the low bits are the input VC.
template <Mode mode>
inline std::uint64_t EventLoop<mode>::allocator_key(const State& s, std::uint32_t router,
                                                    std::uint32_t index) {
  const InputVc& input = s.input_vcs[(router << input_shift(s)) + index];
  const std::uint64_t waits = s.plan.transit_first && is_own_host(s, index) ? std::uint64_t{1} << 63 : 0;
  switch (s.plan.arbitration) {
    case Arbitration::kLeastRecentlyServed:
      break;
    case Arbitration::kRoundRobin:  // see round_robin_edge()
      break;
    case Arbitration::kAge:
      return waits | static_cast<std::uint64_t>(s.store.times[input.head].created) << 16 | index;
  }
  return waits | std::uint64_t{input.last_served} << 16 | index;
}

template <Mode mode>
[[gnu::always_inline]] inline bool EventLoop<mode>::has_room(const State& s, const OutputPort& output,
                                                             std::uint32_t vc) {
  const VcQueue& queue = output.queues()[vc];
  if (!shared_output(s)) return queue.queued < s.plan.output_buffer;
  return output.queued < s.plan.output_buffer && (queue.credits > 0 || output.link_class == LinkClass::kHost);
}

// Edge of routers where a packet holds its crossbar ports for at most a clock, so that all ports are free at
// every edge: one pass over the input VCs that request the crossbar, in the order of the arbitration.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::quick_edge(State& s, std::uint32_t router, Tick now) {
  if (ready_words(s) > 1) {
    serve(s, router, s.keys.data(), take_requests(s, router), now);
    return;
  }
  std::uint64_t request_bits = std::exchange(s.ready[router], 0);
  if (request_bits == 0) return;
  const std::uint32_t first = router << input_shift(s);
  const std::uint16_t* const requested = &s.requested[first];
  const auto lowest = static_cast<std::uint32_t>(std::countr_zero(request_bits));
  request_bits &= request_bits - 1;
  if (request_bits == 0) {
    const std::uint32_t stamp = ++s.served[router];
    try_grant(s, router, lowest, requested[lowest], stamp, now);
    return;
  }
  const bool by_service = s.plan.by_service;
  const InputVc* const inputs = &s.input_vcs[first];
  const auto key_of = [&](std::uint32_t index) {
    prefetch(s.ports.line_of(s.port_id(router, port_of(requested[index])), vc_of(requested[index])));
    return by_service ? std::uint64_t{inputs[index].last_served} << 16 | index
                      : allocator_key(s, router, index);
  };
  std::array<std::uint64_t, 64> keys;
  keys[0] = key_of(lowest);
  std::uint32_t count = 1;
  for (; request_bits != 0; request_bits &= request_bits - 1) {
    keys[count++] = key_of(static_cast<std::uint32_t>(std::countr_zero(request_bits)));
  }
  // The place of each key is the number of lower keys. There are few keys, and branches on their order cannot
  // be predicted.
  std::array<std::uint64_t, 64> sorted;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t place = 0;
    for (std::uint32_t k = 0; k < count; ++k) place += keys[k] < keys[i] ? 1U : 0U;
    sorted[place] = keys[i];
  }
  serve(s, router, sorted.data(), count, now);
}

// Takes the requesting input VCs, which then no longer request: writes their keys to `keys` in order, and
// returns their number.
template <Mode mode>
[[gnu::always_inline]] inline std::uint32_t EventLoop<mode>::take_requests(State& s, std::uint32_t router) {
  std::uint64_t* const keys = s.keys.data();
  std::uint32_t count = 0;
  for (std::uint32_t word = 0; word < ready_words(s); ++word) {
    std::uint64_t bits = std::exchange(s.ready[router * ready_words(s) + word], 0);
    for (; bits != 0; bits &= bits - 1) {
      const std::uint64_t key =
          allocator_key(s, router, word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
      std::uint32_t at = count++;
      for (; at > 0 && key < keys[at - 1]; --at) keys[at] = keys[at - 1];
      keys[at] = key;
    }
  }
  return count;
}

// Serves the requesting input VCs in the order of their keys, at routers whose ports are free at every edge.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::serve(State& s, std::uint32_t router,
                                                          const std::uint64_t* keys, std::uint32_t count,
                                                          Tick now) {
  const std::uint16_t* const requested = &s.requested[router << input_shift(s)];
  std::uint64_t* const ready = &s.ready[router * ready_words(s)];
  // Among those served at one edge, the first counts as the one served last (SST/Merlin fills its list of the
  // next ones from behind): two hosts that send in phase to one port take turns.
  std::uint32_t stamp = s.served[router] += count;
  const InputIndex* const places = s.plan.input_index.data();
  std::uint64_t inputs_used = 0;
  std::uint64_t outputs_used = 0;
  std::uint64_t again = 0;  // kFew: a bit of each
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint32_t>(keys[i] & 0xffff);
    const std::uint16_t to = requested[index];
    const std::uint64_t input_bit = std::uint64_t{1} << places[index].port;
    const std::uint64_t output_bit = std::uint64_t{1} << port_of(to);
    if (((inputs_used & input_bit) | (outputs_used & output_bit)) != 0) {
      if ((inputs_used & input_bit) == 0 && refuse(s, router, index, Refusal::kTaken, now)) continue;
      const std::uint64_t bit = std::uint64_t{1} << (index % 64);
      if constexpr (!kFew) ready[index / 64] |= bit;
      again |= bit;
      continue;
    }
    if (!try_grant(s, router, index, to, stamp, now)) continue;
    --stamp;
    inputs_used |= input_bit;
    outputs_used |= output_bit;
  }
  if (again == 0) return;
  if constexpr (kFew) *ready |= again;
  plan_edge(s, router, s.next_edge);
}

template <Mode mode>
[[gnu::always_inline]] inline bool EventLoop<mode>::try_grant(State& s, std::uint32_t router,
                                                              std::uint32_t index, std::uint16_t to,
                                                              std::uint32_t stamp, Tick now) {
  const std::uint32_t id = s.port_id(router, port_of(to));
  OutputPort& output = s.ports[id];
  if (!has_room(s, output, vc_of(to))) [[unlikely]] {
    wait_for_room(s, router, index, now);
    return false;
  }
  grant(s, router, index, id, output, vc_of(to), stamp, now);
  return true;
}

// The key of a head whose path is free.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::grant(State& s, std::uint32_t router, std::uint32_t index,
                                                          std::uint32_t stamp, Tick now) {
  const std::uint16_t to = s.requested[(router << input_shift(s)) + index];
  const std::uint32_t id = s.port_id(router, port_of(to));
  grant(s, router, index, id, s.ports[id], vc_of(to), stamp, now);
}

template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::clock_edge(State& s, std::uint32_t router, Tick now) {
  if (single_cycle_crossbar(s)) {
    quick_edge(s, router, now);
    return;
  }
  if (edge_depth(s) > 1) {
    if (s.router_edge[router] * s.timing.clock != now) return;  // an earlier edge has done the work
    s.router_edge[router] = kNever;
  }
  if (s.plan.arbitration == Arbitration::kRoundRobin) {
    round_robin_edge(s, router, now);
  } else {
    slow_edge(s, router, now);
  }
}

// A pass over the requesting input VCs, in the order of the arbitration: each is served if its crossbar
// input, its crossbar output and the space behind are free.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::slow_edge(State& s, std::uint32_t router, Tick now) {
  const std::uint64_t* const keys = s.keys.data();
  const std::uint32_t requests = take_requests(s, router);
  std::uint32_t stamp = s.served[router] += requests;  // one stamp per request, as serve() gives them
  Tick retry = kNever;
  for (std::uint32_t i = 0; i < requests; ++i) {
    const auto index = static_cast<std::uint32_t>(keys[i] & 0xffff);
    if (is_path_free(s, router, index, now)) {
      grant(s, router, index, stamp--, now);
    } else {
      leave_requesting(s, router, index, now, retry);
    }
  }
  plan_retry(s, router, retry);
}

// Whether its crossbar input, its crossbar output and the space behind are free.
template <Mode mode>
[[gnu::always_inline]] inline bool EventLoop<mode>::is_path_free(const State& s, std::uint32_t router,
                                                                 std::uint32_t index, Tick now) {
  if (s.input_free[s.port_id(router, s.plan.input_index[index].port)] > now) return false;
  const std::uint16_t to = s.requested[(router << input_shift(s)) + index];
  const std::uint32_t id = s.port_id(router, port_of(to));
  return s.output_free[id] <= now && has_room(s, s.ports[id], vc_of(to));
}

// A head that is not served at this edge requests again; `retry`: the earliest time of such a request.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::leave_requesting(State& s, std::uint32_t router,
                                                                     std::uint32_t index, Tick now,
                                                                     Tick& retry) {
  const std::uint16_t to = s.requested[(router << input_shift(s)) + index];
  const std::uint32_t id = s.port_id(router, port_of(to));
  const Tick input_free = s.input_free[s.port_id(router, s.plan.input_index[index].port)];
  Tick when = std::max(input_free, s.output_free[id]);
  if (when <= now) {
    if (!has_room(s, s.ports[id], vc_of(to))) {
      wait_for_room(s, router, index, now);
      return;
    }
    when = now + s.timing.clock;  // others of its input port went first
  }
  if (input_free <= now && refuse(s, router, index, Refusal::kTaken, now)) return;
  retry = std::min(retry, when);
  s.ready[router * ready_words(s) + index / 64] |= std::uint64_t{1} << (index % 64);
}

template <Mode mode>
inline void EventLoop<mode>::plan_retry(State& s, std::uint32_t router, Tick retry) {
  if (retry == kNever) return;
  const Tick clock = s.timing.clock;
  plan_edge(s, router, std::max(s.next_edge, (retry + clock - 1) / clock));
}

// Round-robin arbiters work in rounds. Bits of the input VCs that still request: in `keys`.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::round_robin_edge(State& s, std::uint32_t router, Tick now) {
  const std::uint32_t words = ready_words(s);
  std::uint64_t* const request_bits = s.keys.data();
  for (std::uint32_t word = 0; word < words; ++word) {
    request_bits[word] = std::exchange(s.ready[router * words + word], 0);
  }
  for (std::uint32_t round = 0; round < kAllocatorRounds; ++round) {
    if (!allocate_round(s, router, now)) break;
  }
  Tick retry = kNever;
  for (std::uint32_t word = 0; word < words; ++word) {
    for (std::uint64_t bits = request_bits[word]; bits != 0; bits &= bits - 1) {
      leave_requesting(s, router, word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)), now, retry);
    }
  }
  plan_retry(s, router, retry);
}

// A round of round-robin input and output arbiters over the requesting input VCs; returns whether another
// round may serve a request. Each free input port requests for one of its VCs, the next one whose path is
// free; each output port serves one of those input ports. An input port's turn moves on when the port
// requests, an output port's when it serves, as in FOGSim (inputs: cosArbiter, outputs: outputArbiter).
// Source: LIA (TACO 2025), section 5.1 and table 1: round-robin arbitration for input and output arbiters.
template <Mode mode>
[[gnu::always_inline]] inline bool EventLoop<mode>::allocate_round(State& s, std::uint32_t router, Tick now) {
  std::uint64_t* const request_bits = s.keys.data();
  const std::uint16_t* const requested = &s.requested[router << input_shift(s)];
  const InputIndex* const places = s.plan.input_index.data();
  std::uint32_t requests = 0;
  // Among the input VCs of the port whose path is free: the first one, and the first one behind the last
  // requesting one.
  Port port = kNoPort;
  std::uint32_t first = kNil;
  std::uint32_t behind = kNil;
  std::uint32_t last = 0;
  const auto request = [&] {
    const std::uint32_t index = behind != kNil ? behind : first;
    if (index == kNil) return;
    s.last_requests[s.port_id(router, port)] = static_cast<std::uint16_t>(index);
    s.requests[requests++] = index;
    // The lowest key is served: transit first where the network has that priority, then in a circle that
    // begins behind the port that was served last. An input port requests once, so its VC represents it.
    const std::uint32_t circle = circle_of(s, router, index);
    const std::uint32_t key = (circle & 1U) << 31 | (port <= s.last_inputs[circle] ? 1U : 0U) << 30 | index;
    std::uint32_t& best = s.best_requests[port_of(requested[index])];
    best = std::min(best, key);
  };
  for (std::uint32_t word = 0; word < ready_words(s); ++word) {
    for (std::uint64_t bits = request_bits[word]; bits != 0; bits &= bits - 1) {
      const std::uint32_t index = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (places[index].port != port) {
        request();
        port = places[index].port;
        first = behind = kNil;
        last = s.last_requests[s.port_id(router, port)];
      }
      if (behind != kNil || !is_path_free(s, router, index, now)) continue;
      if (first == kNil) first = index;
      if (index > last) behind = index;
    }
  }
  request();
  bool lost = false;  // a served input keeps its ports for a while
  for (std::uint32_t i = 0; i < requests; ++i) {
    const std::uint32_t index = s.requests[i];
    std::uint32_t& best = s.best_requests[port_of(requested[index])];
    if ((best & 0xffff) != index) {
      lost = true;
      continue;
    }
    best = kNil;
    s.last_inputs[circle_of(s, router, index)] = places[index].port;
    request_bits[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    grant(s, router, index, 0, now);
  }
  return lost;
}

// The circle in which a round-robin output arbiter serves this input port: where transit comes first, hosts
// have a circle of their own.
template <Mode mode>
inline std::uint32_t EventLoop<mode>::circle_of(const State& s, std::uint32_t router, std::uint32_t index) {
  const bool waits = s.plan.transit_first && is_own_host(s, index);
  const std::uint16_t to = s.requested[(router << input_shift(s)) + index];
  return 2 * s.port_id(router, port_of(to)) + (waits ? 1 : 0);
}

template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::credit_upstream(State& s, std::uint32_t router,
                                                                    std::uint32_t index, std::uint32_t packet,
                                                                    Tick now) {
  const InputIndex& from = s.plan.input_index[index];
  const std::uint32_t upstream = s.input_vcs[(router << input_shift(s)) + index].upstream;
  const std::size_t link = index_of(from.link_class);
  const LowTick when = low_of(now + s.timing.credit_delay[link]);
  if (from.link_class == LinkClass::kHost) {
    s.host_credits.push({when, upstream});
    return;
  }
  const Credit credit{when, upstream};
  const InputPort far = s.inputs[s.port_id(router, from.port)];
  if (far.partition == s.index) [[likely]] {
    s.credits[link].push(credit);
    if (learns(s)) s.feedback[link].push(report_to(s, packet, far.group));
    return;
  }
  s.messages_out.credits.push_back({credit, far.partition});
  if (learns(s)) s.messages_out.feedback.push_back(report_to(s, packet, far.group));
}

// The report that travels with the credit to a router of `group`.
template <Mode mode>
inline Feedback EventLoop<mode>::report_to(const State& s, std::uint32_t packet, std::uint32_t group) {
  return external(s) ? Feedback{} : report_of(*s.plan.deciders.learner, s.store.packets[packet], group);
}

// Notifies trackers, and the hop reports of an outside policy, with the credit for the place that a packet
// leaves.
template <Mode mode>
inline void EventLoop<mode>::notify_trackers(State& s, std::uint32_t router, std::uint32_t index,
                                             std::uint32_t packet, const OutputPort& output, Tick now) {
  const InputIndex from = s.plan.input_index[index];
  s.trackers.occupancy_changed(router, output.link_class);
  if (from.link_class == LinkClass::kHost && s.trackers.on_forwards()) {
    s.trackers.packet_forwarded(router, from.port, s.store.packets[packet], now);
  }
  if (!external(s) || !s.pending->reports().keeps()) return;
  HopReports& reports = s.pending->reports();
  if (from.link_class != LinkClass::kHost) {
    const std::uint32_t id = s.input_vcs[(router << input_shift(s)) + index].upstream >> kVcBits;
    const std::uint32_t far = id >> s.plan.port_shift;
    const std::uint32_t partition = s.inputs[s.port_id(router, from.port)].partition;
    const std::uint32_t first = s.plan.topology.first_router(s.plan.partition_first_group[partition]);
    reports.left(packet, s.store.packets[packet], first + far,
                 static_cast<Port>(id - (far << s.plan.port_shift)),
                 now + s.timing.credit_delay[index_of(from.link_class)]);
  }
  reports.move_on(packet, s.store.packets[packet]);
}

template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::grant(State& s, std::uint32_t router, std::uint32_t index,
                                                          std::uint32_t id, OutputPort& output,
                                                          std::uint32_t vc, std::uint32_t stamp, Tick now) {
  const std::uint32_t input_vc = (router << input_shift(s)) + index;
  InputVc& input = s.input_vcs[input_vc];
  VcQueue& queue = output.queues()[vc];
  const std::uint32_t packet = input.head;
  if (!single_cycle_crossbar(s)) {
    const InputIndex from = s.plan.input_index[index];
    Tick busy_until = now + s.timing.crossbar_transfer;
    if (s.plan.cut_through) {  // the tail may still be arriving
      const Tick packet_time = from.link_class == LinkClass::kHost
                                   ? s.timing.injection_packet
                                   : s.timing.packet[index_of(from.link_class)];
      busy_until = std::max(busy_until, time_until(now, s.store.packets[packet].arrived) + packet_time);
    }
    s.input_free[s.port_id(router, from.port)] = busy_until;
    s.output_free[id] = busy_until;
  }
  input.last_served = stamp;
  input.head = behind(s, packet, packet == input.tail);
  if (!on_arrival(s) && input.head != kNil) prefetch(&s.store.packets[input.head]);
  credit_upstream(s, router, index, packet, now);
  if (mode.tracks()) notify_trackers(s, router, index, packet, output, now);

  if (with_through(s)) s.store.through[packet] = low_of(now + s.timing.crossbar_latency);
  const bool was_empty = queue.queued == 0;
  s.store.next[pick(was_empty, packet, queue.tail)] = packet;  // its own is not looked at
  queue.head = pick(was_empty, packet, queue.head);
  queue.tail = packet;
  if (kLooksBehind && output.peer_partition != s.index) prefetch_all(s, packet);
  ++queue.queued;
  const bool to_host = output.link_class == LinkClass::kHost;
  const std::uint32_t sendable =
      std::uint32_t{to_host || shared_output(s)} | std::uint32_t{queue.credits > 0};
  output.sendable |= static_cast<std::uint16_t>(sendable << vc);
  ++output.queued;
  ++output.occupancy;
  if (shared_output(s) && !to_host) --queue.credits;
  if (was_empty && !output.scheduled) plan_departure(s, id, output, now + s.timing.crossbar_latency, now);
  expose_head(s, router, index, now);
}

// Handles a head that was refused although its port is free; returns whether it decides again, and requests
// at the next edge.
template <Mode mode>
[[gnu::always_inline]] inline bool EventLoop<mode>::refuse(State& s, std::uint32_t router,
                                                           std::uint32_t index, Refusal why, Tick now) {
  if (!is_own_host(s, index)) return false;
  if (!mode.tracks() && s.plan.deciders.policies.front().after_refusal == AfterRefusal::kKeep) return false;
  return refuse_host(s, router, index, why, now);
}

template <Mode mode>
[[gnu::noinline]] bool EventLoop<mode>::refuse_host(State& s, std::uint32_t router, std::uint32_t index,
                                                    Refusal why, Tick now) {
  const std::uint32_t input_vc = (router << input_shift(s)) + index;
  const std::uint32_t packet = s.input_vcs[input_vc].head;
  const AfterRefusal after = after_refusal_of(s, router, packet);
  const bool again = after != AfterRefusal::kKeep;
  if (mode.tracks() && s.trackers.on_refused_heads()) {
    s.trackers.head_refused(router, s.plan.input_index[index].port, s.store.packets[packet],
                            again ? Refusal::kAnew : why, now);
  }
  if (!again) return false;
  // The head of a host's queue decides again at this time. Other heads have decided for good. With kNewPath
  // its random numbers are others each time (RouteContext).
  PathFollower::forget_nonminimal(s.store.packets[packet]);
  if (mode.any() && s.store.with_versions) s.store.versions[packet] = s.plan.version;
  if (after == AfterRefusal::kNewPath) ++s.store.packets[packet].attempts;
  s.unrouted.push_back({packet, input_vc});
  return true;
}

template <Mode mode>
inline AfterRefusal EventLoop<mode>::after_refusal_of(const State& s, std::uint32_t router,
                                                      std::uint32_t packet) {
  if (s.plan.deciders.after_refusal == AfterRefusal::kKeep) return AfterRefusal::kKeep;
  const Packet& head = s.store.packets[packet];
  if (head.plan == Plan::kRouted || head.destination_group == s.group_of[router]) return AfterRefusal::kKeep;
  const std::size_t decider = s.plan.deciders.policies.size() > 1 ? s.store.messages[packet].policy : 0U;
  return s.plan.deciders.policies[decider].after_refusal;
}

template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::wait_for_room(State& s, std::uint32_t router, std::uint32_t index,
                                                      Tick now) {
  const std::uint32_t input_vc = (router << input_shift(s)) + index;
  const Port port = s.plan.input_index[index].port;
  InputStall& stall = s.input_stalls[s.port_id(router, port)];
  if (refuse(s, router, index, Refusal::kNoRoom, now)) {
    stall.stalled += s.timing.clock;  // it requests again at the next edge
    return;
  }
  if (stall.waiting++ == 0) stall.since = now;
  const std::uint16_t to = s.requested[input_vc];
  const std::uint32_t id = s.port_id(router, port_of(to));
  OutputPort& output = s.ports[id];
  std::uint16_t& first = s.first_waiting[std::size_t{id} * s.plan.queue_stride + vc_of(to)];
  s.next_waiting[input_vc] = std::exchange(first, static_cast<std::uint16_t>(index));
  output.waiting |= static_cast<std::uint16_t>(1U << vc_of(to));
  if (shared_output(s) && output.queues()[vc_of(to)].credits == 0 && output.link_class != LinkClass::kHost &&
      !output.blocked) {
    output.blocked = true;
    s.output_stalls[id].since = now;
  }
}

}  // namespace dragonfly
