// Credits, departures and arrivals: the links of a router, and its buffers.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "core/pick.hpp"
#include "core/prefetch.hpp"
#include "network/delivery.hpp"
#include "network/event_loop.hpp"
#include "network/hop_feedback.hpp"

namespace dragonfly {

template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::plan_edge(State& s, std::uint32_t router, Tick edge) {
  std::uint32_t slot = 0;
  if (edge_depth(s) > 1) {
    if (s.router_edge[router] <= edge) return;
    s.router_edge[router] = edge;
    slot = static_cast<std::uint32_t>(edge) & (edge_depth(s) - 1U);
  }
  s.edges[slot * s.edge_words + router / 64] |= std::uint64_t{1} << (router % 64);
  if (s.edge_planned[slot] != 0) return;
  s.edge_planned[slot] = 1;
  s.busy.mark(edge * s.timing.clock);
}

template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::plan_effect(State& s, std::uint32_t input_vc, Tick when) {
  s.effects.push(when, input_vc);
  s.busy.mark(when);
}

// The packet behind this one in its buffer or queue; none behind the last. Without a branch, which would be
// taken about as often as not, and without a look at the list where there is nothing to see.
template <Mode mode>
[[gnu::always_inline]] inline std::uint32_t EventLoop<mode>::behind(const State& s, std::uint32_t packet,
                                                                    bool last) {
  return pick(last, kNil, s.store.next[pick(last, 0U, packet)]);
}

// Prefetches the state that the packet behind the head will need at the head.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::prefetch_behind(const State& s, std::uint32_t input_vc) {
  if (!kLooksBehind) return;
  const InputVc& input = s.input_vcs[input_vc];
  const std::uint32_t next = behind(s, input.head, input.head == input.tail);
  const std::uint32_t packet = next != kNil ? next : input.head;
  prefetch(&s.store.next[packet]);
  if (on_arrival(s)) {
    prefetch(&s.store.decided[packet]);
  } else {
    prefetch(&s.store.packets[packet]);
  }
}

// Makes the packet at the head of an input VC request the crossbar from now on.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::make_ready(State& s, std::uint32_t router,
                                                               std::uint32_t index, const Hop& planned) {
  Hop hop = planned;
  if constexpr (mode.any()) {
    if (s.store.with_versions) {
      hop = open_hop(s, router, s.input_vcs[(router << input_shift(s)) + index].head, planned);
    }
  }
  s.requested[(router << input_shift(s)) + index] = requested_of(hop);
  s.ready[router * ready_words(s) + index / 64] |= std::uint64_t{1} << (index % 64);
  plan_edge(s, router, s.next_edge);
  const std::uint32_t id = s.port_id(router, hop.port);
  prefetch(&s.ports[id]);
  prefetch(s.ports.line_of(id, hop.vc));
  prefetch_behind(s, (router << input_shift(s)) + index);
}

// The next packet of an input VC has come to its head.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::expose_head(State& s, std::uint32_t router,
                                                                std::uint32_t index, Tick now) {
  const std::uint32_t input_vc = (router << input_shift(s)) + index;
  const std::uint32_t packet = s.input_vcs[input_vc].head;
  if (packet == kNil) return;
  if (!on_arrival(s)) {
    decide_or_follow(s, packet, router, index, now);
    return;
  }
  const auto delay = static_cast<LowTick>(s.timing.routing_delay);
  const Decided& decided = s.store.decided[packet];
  const LowTick since = low_of(now) - decided.when;
  if (since >= delay) {
    make_ready(s, router, index, decided.hop);
  } else {
    plan_effect(s, input_vc, now + (delay - since));
  }
}

template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::schedule(State& s, std::uint32_t id, OutputPort& output,
                                                             Tick when) {
  output.scheduled = true;
  const State::Departures kind = output.link_class == LinkClass::kHost      ? State::kToHosts
                                 : output.link_class == s.plan.global_class ? State::kGlobal
                                                                            : State::kLocal;
  s.departures[kind].push(when, id);
  s.busy.mark(when);
}

// With `timed_start` an idle port first runs its timer for one packet time; a packet that finds the
// timer running leaves when it ends, as in SST/Merlin, the simulator of Kang et al., HPDC 2021.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::plan_departure(State& s, std::uint32_t id,
                                                                   OutputPort& output, Tick ready,
                                                                   Tick /*now*/) {
  if (s.plan.timed_start && ready > output.timer_end) {
    const Tick delay =
        s.timing.start_delay[index_of(output.link_class)] + (output.degraded ? s.more_ticks_at(id) : 0);
    Tick start = ready;
    if (output.link_class == LinkClass::kHost && output.timer_end >= 0) {
      // Hosts take packets at once, but their credit starts the timer as any other does.
      const Tick credit = output.timer_end - s.timing.packet[0] + s.timing.ejection_credit;
      if (credit <= ready && ready <= credit + delay) start = credit;
    }
    output.timer_end = start + delay;
  }
  schedule(s, id, output, std::max(ready, output.timer_end));
}

template <Mode mode>
inline void EventLoop<mode>::end_block(State& s, std::uint32_t id, OutputPort& output, Tick now) {
  if (!output.blocked) return;
  output.blocked = false;
  s.output_stalls[id].stalled += now - s.output_stalls[id].since;
}

template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::take_credit(State& s, const Credit& credit,
                                                                const Feedback& feedback, Tick now) {
  const std::uint32_t id = credit.item >> kVcBits;
  const std::uint32_t vc = credit.item & ((1U << kVcBits) - 1U);
  OutputPort& output = s.ports[id];
  VcQueue& queue = output.queues()[vc];
  ++queue.credits;
  output.sendable |= static_cast<std::uint16_t>((queue.queued > 0 ? 1U : 0U) << vc);
  --output.occupancy;
  if (learns(s) && feedback.row != kNil) {
    const std::uint32_t router = id >> s.plan.port_shift;
    const auto port = static_cast<Port>(id - (router << s.plan.port_shift));
    s.plan.deciders.learner->learn(s.first_router + router, port, feedback.row, feedback.target_ns,
                                   s.plan.to_ps(now));
  }
  if (mode.tracks()) s.trackers.occupancy_changed(id >> s.plan.port_shift, output.link_class);
  if (shared_output(s)) {
    end_block(s, id, output, now);
    if ((output.waiting >> vc & 1U) != 0) wake_waiting(s, id, vc, now);
    return;
  }
  if (output.scheduled) return;
  if (output.queued > 0) {
    plan_departure(s, id, output, now, now);
  } else if (s.plan.timed_start && now >= output.timer_end) {
    // A credit starts the timer of an idle port, even with nothing to send; and anew if it comes at
    // the very time at which the timer ends.
    output.timer_end =
        now + s.timing.start_delay[index_of(output.link_class)] + (output.degraded ? s.more_ticks_at(id) : 0);
  }
}

// Among the VCs with a packet and a credit for it, chooses round-robin the first one whose packet has crossed
// the crossbar; `earliest`: the time until the next packet has crossed it. A shared output is one FIFO in the
// order of the crossbar: the head that was ready first is chosen.
template <Mode mode>
inline std::uint32_t EventLoop<mode>::choose_ready_vc(const State& s, const OutputPort& output, Tick now,
                                                      std::int32_t& earliest) {
  std::uint32_t chosen = kNil;
  std::int32_t longest_wait = -1;
  const std::uint32_t behind = static_cast<std::uint32_t>(output.sendable) >> output.next_vc
                                                                                  << output.next_vc;
  for (std::uint32_t vcs : {behind, output.sendable & ~behind}) {
    for (; vcs != 0; vcs &= vcs - 1) {
      const auto vc = static_cast<std::uint32_t>(std::countr_zero(vcs));
      auto until_ready = static_cast<std::int32_t>(s.store.through[output.queues()[vc].head] - low_of(now));
      // Only low bits are kept: a packet that seems to be ready later than possible has waited for very long.
      if (until_ready > s.timing.crossbar_latency) until_ready = -INT32_MAX;
      if (until_ready > 0) {
        earliest = std::min(earliest, until_ready);
        continue;
      }
      if (!shared_output(s)) return vc;
      if (-until_ready > longest_wait) {
        longest_wait = -until_ready;
        chosen = vc;
      }
    }
  }
  return chosen;
}

template <Mode mode>
template <PartitionState::Departures kind>
[[gnu::always_inline]] inline void EventLoop<mode>::depart(State& s, std::uint32_t id, Tick now) {
  OutputPort& output = s.ports[id];
  if (kind != State::kToHosts && output.degraded) [[unlikely]] {
    depart_degraded<kind>(s, id, now);
  } else {
    depart_from<kind, false>(s, id, output, now);
  }
}

template <Mode mode>
template <PartitionState::Departures kind>
[[gnu::noinline]] void EventLoop<mode>::depart_degraded(State& s, std::uint32_t id, Tick now) {
  depart_from<kind, true>(s, id, s.ports[id], now);
}

template <Mode mode>
template <PartitionState::Departures kind, bool kDegraded>
[[gnu::always_inline]] inline void EventLoop<mode>::depart_from(State& s, std::uint32_t id,
                                                                OutputPort& output, Tick now) {
  constexpr bool to_host = kind == State::kToHosts;
  const std::size_t link = to_host ? 0U : index_of(output.link_class);
  output.scheduled = false;
  if (mode.any() && output.queued == 0) return;  // all packets were routed again: leave_ports()

  std::uint32_t chosen = kNil;
  std::int32_t earliest = INT32_MAX;  // readiness of the packets that are not yet through
  if (output.sendable != 0) {
    // Without a pipeline behind the crossbar every queued packet is ready; spare the look.
    chosen = with_through(s) ? choose_ready_vc(s, output, now, earliest) : output.first_sendable();
  }
  if (chosen == kNil) {
    if (earliest != INT32_MAX) {
      schedule(s, id, output, now + earliest);
    } else if (!output.blocked) {
      output.blocked = true;
      s.output_stalls[id].since = now;
    }
    return;
  }

  VcQueue& queue = output.queues()[chosen];
  const std::uint32_t packet = queue.head;
  --queue.queued;
  queue.head = behind(s, packet, queue.queued == 0);
  --output.queued;
  const bool takes_credit = !to_host && !shared_output(s);
  if (takes_credit) --queue.credits;
  const std::uint32_t stays_sendable =
      std::uint32_t{queue.queued > 0} & (std::uint32_t{!takes_credit} | std::uint32_t{queue.credits > 0});
  output.sendable ^= static_cast<std::uint16_t>((stays_sendable ^ 1U) << chosen);
  if (takes_credit) end_block(s, id, output, now);
  prefetch_next<kind>(s, output, queue.queued > 0 ? queue.head : packet);
  output.next_vc = static_cast<std::uint16_t>(chosen + 1U);
  const Tick more = kDegraded ? s.more_ticks_at(id) : 0;
  output.timer_end = now + s.timing.packet[link] + more;
  ++output.sent;
  if (output.queued > 0) {
    output.scheduled = true;
    s.departures[kind].push(output.timer_end, id);
    s.busy.mark(output.timer_end);
  }
  if (shared_output(s)) {
    // Room for one VC is room for all.
    for (std::uint32_t vcs = output.waiting; vcs != 0; vcs &= vcs - 1) {
      wake_waiting(s, id, static_cast<std::uint32_t>(std::countr_zero(vcs)), now);
    }
  } else if ((output.waiting >> chosen & 1U) != 0) {
    wake_waiting(s, id, chosen, now);
  }

  Tick arrival = now + s.timing.hop_delay[link];
  // A packet has started late by its longer time if there is a timer. Else its head waits for it behind the
  // link, so that the tail comes in time, where the head would be passed on at once, too.
  if (kDegraded && !s.plan.timed_start) arrival += more;
  if constexpr (to_host) {
    --output.occupancy;
    eject(s, packet, arrival);
  } else if (kind == State::kLocal || output.peer_partition == s.index) {
    if (kDegraded) {
      s.send_between(packet, output.peer + chosen, arrival);
    } else {
      s.arrivals[link].push({low_of(arrival), packet, output.peer + chosen});
    }
  } else {
    send_to_partition(s, output, packet, output.peer + chosen, arrival);
  }
}

// Prefetches the state that a later departure of this packet needs.
template <Mode mode>
template <PartitionState::Departures kind>
[[gnu::always_inline]] inline void EventLoop<mode>::prefetch_next(const State& s, const OutputPort& output,
                                                                  std::uint32_t packet) {
  if (kind == State::kLocal || (kind == State::kGlobal && output.peer_partition == s.index)) return;
  if (kLooksBehind) prefetch_all(s, packet);
}

// Prefetches all records of a packet.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::prefetch_all(const State& s, std::uint32_t packet) {
  prefetch(&s.store.packets[packet]);
  prefetch(&s.store.times[packet]);
  if (external(s)) s.pending->prefetch_packet(packet);
}

// Sends a packet to another partition.
template <Mode mode>
inline void EventLoop<mode>::send_to_partition(State& s, const OutputPort& output, std::uint32_t packet,
                                               std::uint32_t input_vc, Tick arrival) {
  s.messages_out.packets.push_back({s.store.packets[packet], s.store.times[packet], low_of(arrival), input_vc,
                                    static_cast<std::uint32_t>(s.messages_out.serialization.size()),
                                    output.peer_partition});
  if (s.store.has_serialized()) {
    s.store.pack(packet, s.messages_out.serialization);
    if (s.store.open) s.store.open->clear(packet);
  }
  s.store.remove(packet);
  --s.in_network;
}

template <Mode mode>
template <bool kFromHost>
[[gnu::always_inline]] inline void EventLoop<mode>::arrive(State& s, std::uint32_t index,
                                                           std::uint32_t input_vc, Tick now) {
  Packet& packet = s.store.packets[index];
  if constexpr (!kFromHost) ++packet.hops;
  if (learns(s) && !external(s) && packet.plan == Plan::kMinimal) note_travel(packet, now);
  packet.arrived = low_of(now);
  if (mode.any() && s.store.with_paths) {
    PathRecord& path = s.store.paths[index];
    if (path.length < PathRecord::kLongest) {
      path.routers[path.length++] = s.first_router + router_of(s, input_vc);
    }
  }
  InputVc& input = s.input_vcs[input_vc];
  const bool becomes_head = input.head == kNil;
  if (becomes_head) {
    input.head = index;
  } else {
    s.store.next[input.tail] = index;
  }
  input.tail = index;
  if (on_arrival(s)) {
    if (becomes_head && s.timing.routing_delay > 0) {
      plan_effect(s, input_vc, now + s.timing.routing_delay);
    }
    decide_or_follow(s, index, router_of(s, input_vc), index_in(s, input_vc), now);
  } else if (becomes_head) {
    expose_head(s, router_of(s, input_vc), index_in(s, input_vc), now);
  }
}

// There is room again: waiting input VCs request at the next clock edge.
template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::wake_waiting(State& s, std::uint32_t id, std::uint32_t vc, Tick now) {
  const std::uint32_t router = id >> s.plan.port_shift;
  s.ports[id].waiting &= static_cast<std::uint16_t>(~(1U << vc));
  std::uint16_t index =
      std::exchange(s.first_waiting[std::size_t{id} * s.plan.queue_stride + vc], kNoInputVc);
  while (index != kNoInputVc) {
    InputStall& stall = s.input_stalls[s.port_id(router, s.plan.input_index[index].port)];
    if (--stall.waiting == 0) stall.stalled += now - stall.since;
    s.ready[router * ready_words(s) + index / 64] |= std::uint64_t{1} << (index % 64);
    index = std::exchange(s.next_waiting[(router << input_shift(s)) + index], kNoInputVc);
  }
  plan_edge(s, router, s.next_edge);
}

}  // namespace dragonfly
