// The loop for everything, the decisions that are made outside, and events of links.
#include <algorithm>
#include <bit>
#include <vector>

#include "network/events_loop.hpp"
#include "network/partition.hpp"

namespace dragonfly {

GoOn go_on_general() noexcept { return &EventLoop<Mode{}>::go_on; }

// Whether decisions are made about a packet that has reached a router: whether it is routed by the machine as
// it is known now. A packet at its source router is.
template <Mode mode>
bool EventLoop<mode>::is_routed_as_known(State& s, std::uint32_t packet) {
  if (s.store.packets[packet].hops == 0) s.store.versions[packet] = s.plan.version;
  return s.store.versions[packet] == s.plan.version;
}

// The hop itself, or another one if its link is known to be dead.
template <Mode mode>
Hop EventLoop<mode>::open_hop(State& s, std::uint32_t router, std::uint32_t packet, const Hop& hop) {
  const Dragonfly& known = s.plan.topology;
  const bool open = hop.port < known.first_local_port() ||
                    known.neighbor(s.first_router + router, hop.port).port != kNoPort;
  return open ? hop : route_again(s, router, packet);
}

template <Mode mode>
Hop EventLoop<mode>::route_again(State& s, std::uint32_t router, std::uint32_t packet_index) {
  Packet& packet = s.store.packets[packet_index];
  std::uint8_t& version = s.store.versions[packet_index];
  version = static_cast<std::uint8_t>(s.plan.version + s.plan.options.changes->reroutes(version) + 1U);
  packet.plan = Plan::kMinimal;
  const PathFollower& paths = paths_of(s, packet_index);
  return paths.next(packet, s.first_router + router, s.group_of[router], paths.source_stage(packet));
}

template <Mode mode>
void EventLoop<mode>::switch_links(State& s, const LinkChanges::Ports& ports, Tick now) {
  const auto is_here = [&s](const Endpoint& end) {
    return end.router >= s.first_router && end.router < s.first_router + s.num_routers;
  };
  const auto id_of = [&s](const Endpoint& end) { return s.port_id(end.router - s.first_router, end.port); };
  std::vector<std::uint32_t> stopped;
  for (const Endpoint& end : ports.failed) {
    if (!is_here(end)) continue;
    OutputPort& output = s.ports[id_of(end)];
    stopped.push_back(id_of(end));
    output.scheduled = true;  // for good: no departure is planned any more
    if (!output.blocked) {
      output.blocked = true;
      s.output_stalls[stopped.back()].since = now;
    }
  }
  if (!stopped.empty()) {
    std::ranges::sort(stopped);
    const auto stops = [&](std::uint32_t id) { return std::ranges::binary_search(stopped, id); };
    s.departures[State::kLocal].remove_if(stops);
    s.departures[State::kGlobal].remove_if(stops);
  }
  for (const Endpoint& end : ports.returned) {
    if (!is_here(end)) continue;
    OutputPort& output = s.ports[id_of(end)];
    end_block(s, id_of(end), output, now);
    output.scheduled = false;
    if (output.queued > 0) plan_departure(s, id_of(end), output, now, now);
  }
}

// Puts a packet of a dead port at the end of another output queue, as a grant does. Outputs are not shared.
template <Mode mode>
void EventLoop<mode>::requeue(State& s, std::uint32_t router, std::uint32_t packet, const Hop& hop,
                              Tick now) {
  const std::uint32_t id = s.port_id(router, hop.port);
  OutputPort& output = s.ports[id];
  VcQueue& queue = output.queues()[hop.vc];
  const bool was_empty = queue.queued == 0;
  (was_empty ? queue.head : s.store.next[queue.tail]) = packet;
  queue.tail = packet;
  ++queue.queued;
  ++output.queued;
  ++output.occupancy;
  const bool sends = output.link_class == LinkClass::kHost || queue.credits > 0;
  output.sendable |= static_cast<std::uint16_t>((sends ? 1U : 0U) << hop.vc);
  s.trackers.occupancy_changed(router, output.link_class);
  if (was_empty && !output.scheduled) plan_departure(s, id, output, now, now);
}

template <Mode mode>
void EventLoop<mode>::leave_ports(State& s, std::span<const Endpoint> dead, Tick now) {
  s.next_edge = (now + s.timing.clock - 1) / s.timing.clock;
  std::vector<std::uint32_t> waiting;
  for (const Endpoint& end : dead) {
    if (end.router < s.first_router || end.router >= s.first_router + s.num_routers) continue;
    const std::uint32_t router = end.router - s.first_router;
    const std::uint32_t id = s.port_id(router, end.port);
    OutputPort& output = s.ports[id];
    for (std::uint32_t vcs = output.waiting; vcs != 0; vcs &= vcs - 1) {
      wake_waiting(s, id, static_cast<std::uint32_t>(std::countr_zero(vcs)), now);
    }
    for (std::uint32_t index = 0; index < s.plan.input_vcs; ++index) {
      if (!s.is_ready(router, index)) continue;
      const std::uint16_t to = s.requested[(router << input_shift(s)) + index];
      if (port_of(to) != end.port) continue;
      make_ready(s, router, index,
                 {.port = static_cast<Port>(port_of(to)), .vc = static_cast<std::uint8_t>(vc_of(to))});
    }
    waiting.clear();
    for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
      VcQueue& queue = output.queues()[vc];
      for (; queue.queued > 0; --queue.queued) {
        waiting.push_back(queue.head);
        queue.head = behind(s, queue.head, queue.queued == 1);
      }
    }
    output.queued -= static_cast<std::uint32_t>(waiting.size());
    output.occupancy -= static_cast<std::uint32_t>(waiting.size());
    output.sendable = 0;
    end_block(s, id, output, now);
    s.trackers.occupancy_changed(router, output.link_class);
    for (const std::uint32_t packet : waiting) {
      requeue(s, router, packet, route_again(s, router, packet), now);
    }
    s.busy.mark(now);  // trackers read the ports now
  }
}

void Partition::switch_links(const LinkChanges::Ports& ports, Tick now) {
  EventLoop<Mode{}>::switch_links(s_, ports, now);
}
void Partition::leave_ports(std::span<const Endpoint> dead, Tick now) {
  EventLoop<Mode{}>::leave_ports(s_, dead, now);
}

template <Mode mode>
void EventLoop<mode>::apply_all(State& s, const std::int32_t* actions) {
  constexpr std::uint32_t kAhead = 8;
  PendingDecisions& pending = *s.pending;
  const std::uint32_t count = pending.size();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const std::uint32_t later = pending.decision_at(i + kAhead).packet;
      prefetch(&s.store.packets[later]);
      prefetch(&s.store.decided[later]);
      pending.prefetch_packet(later);
    }
    const PendingDecision& decision = pending.decision_at(i);
    Packet& packet = s.store.packets[decision.packet];
    if (pending.decided_before()) pending.undo(i, packet);
    const Hop hop = pending.apply(i, actions[i], packet, paths_of(s, decision.packet), s.timing.credit_delay);
    s.store.decided[decision.packet].hop = hop;
    if (pending.decided_before()) {
      // Without a routing delay the packet requests the crossbar already, at the next clock edge.
      const std::uint32_t router = router_of(s, decision.input_vc);
      if (s.input_vcs[decision.input_vc].head != decision.packet ||
          !s.is_ready(router, index_in(s, decision.input_vc))) {
        continue;
      }
      s.requested[decision.input_vc] = requested_of(hop);
    } else if (s.timing.routing_delay == 0) {
      await_effect(s, decision.packet, decision.input_vc, hop, decision.time);
    }
  }
  pending.clear_pending();
}

void Partition::decide(const std::int32_t* actions) { EventLoop<Mode{}>::apply_all(s_, actions); }

}  // namespace dragonfly
