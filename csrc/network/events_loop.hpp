// The clock loop: windows, and one time kind by kind, with prefetching for the times that follow.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "core/pick.hpp"
#include "core/prefetch.hpp"
#include "network/events_allocator.hpp"
#include "network/events_decisions.hpp"
#include "network/hosts.hpp"

namespace dragonfly {

// The first time from the cursor on at which anything happens, or `end`.
template <Mode mode>
[[gnu::always_inline]] inline Tick EventLoop<mode>::next_due(const State& s, Tick end) {
  Tick first = std::min(end, s.host_credits.first_time(s.cursor));
  for (const EventRing<Credit>& ring : s.credits) first = std::min(first, ring.first_time(s.cursor));
  for (const auto& ring : s.arrivals) first = std::min(first, ring.first_time(s.cursor));
  if (mode.any()) {
    first = std::min(first, s.to_hosts.first_time(s.cursor));
    if (!s.alarms.empty()) first = std::min(first, std::max(s.cursor, s.alarms.top().when));
  }
  return s.busy.first(s.cursor, first);
}

template <Mode mode>
Stop EventLoop<mode>::go_on(State& s, Tick end, bool until_done) {
  const Tick delay = s.timing.routing_delay;
  // Without a delay an action may cause an event before the next event that is scheduled now.
  if (external(s) && delay == 0 && s.pending->waits()) return Stop::kDecisions;
  for (Tick due = next_due(s, end); due < end; due = next_due(s, end)) {
    if (external(s) && s.pending->waits() && due >= s.pending->first_time() + delay) return Stop::kDecisions;
    step(s, due);
    s.cursor = due + 1;
    if (external(s) && delay == 0 && s.pending->waits()) return Stop::kDecisions;
    if (mode.any() && until_done && s.programs->open_work().done()) return Stop::kDone;
  }
  s.cursor = end;
  return Stop::kEnd;
}

// Prefetches the state that the next busy time needs.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::look_ahead(const State& s, Tick now) {
  constexpr int kLooks = 2;
  const Tick next = s.busy.first(now + 1, now + s.timing.clock);
  std::uint32_t port = s.departures[State::kToHosts].peek(next);
  for (int i = 0; i < kLooks && port != kNil; ++i, port = s.departures[State::kToHosts].next(port)) {
    prefetch_leaving(s, port, true);
  }
  for (const State::Departures kind : {State::kLocal, State::kGlobal}) {
    std::uint32_t id = s.departures[kind].peek(next);
    for (int i = 0; i < kLooks && id != kNil; ++i, id = s.departures[kind].next(id)) {
      prefetch(&s.ports[id]);
      prefetch(s.ports.line_of(id, s.plan.queue_stride - 1U));
    }
  }
  if (on_arrival(s)) {
    const std::uint32_t decided = s.effects.peek(next);
    if (decided != kNil) prefetch(&s.input_vcs[decided]);
  }
  std::uint32_t credit = s.sent_credits.peek(next);
  for (int i = 0; i < kLooks && credit != kNil; ++i, credit = s.credit_pool[credit].next) {
    prefetch(&s.ports[s.credit_pool[credit].credit.item >> kVcBits]);
  }
  std::uint32_t packet = s.sent_packets.peek(next);
  for (int i = 0; i < kLooks && packet != kNil; ++i, packet = s.store.next[packet]) {
    prefetch(&s.store.packets[packet]);
    prefetch(&s.input_vcs[s.sent_to[packet]]);
  }
}

// Prefetches the state that an arriving packet needs: an outside policy's decision reads all of it.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::prefetch_arriving(const State& s, std::uint32_t packet) {
  if (external(s)) {
    prefetch_all(s, packet);
  } else {
    prefetch(&s.store.packets[packet]);
  }
}

// Prefetches the state that the next packet of a port needs when it leaves.
template <Mode mode>
[[gnu::always_inline]] inline void EventLoop<mode>::prefetch_leaving(const State& s, std::uint32_t port,
                                                                     bool to_host) {
  const OutputPort& output = s.ports[port];
  const std::uint32_t packet = to_host                ? output.queues()->head
                               : output.sendable != 0 ? output.queues()[output.first_sendable()].head
                                                      : kNil;
  if (packet != kNil) prefetch_all(s, packet);
}

template <Mode mode>
template <PartitionState::Departures kind>
[[gnu::always_inline]] inline void EventLoop<mode>::depart_all(State& s, Tick now) {
  const SlotLists& planned = s.departures[kind];
  std::uint32_t id = s.departures[kind].take(now);
  std::uint32_t next = id != kNil ? planned.next(id) : kNil;
  while (id != kNil) {
    const std::uint32_t later = next != kNil ? planned.next(next) : kNil;
    if (later != kNil) prefetch(&s.ports[later]);
    constexpr bool to_host = kind == State::kToHosts;
    if ((to_host || (kExternal && kind == State::kGlobal)) && next != kNil)
      prefetch_leaving(s, next, to_host);
    depart<kind>(s, id, now);
    id = std::exchange(next, later);
  }
}

template <Mode mode>
[[gnu::noinline]] void EventLoop<mode>::step(State& s, Tick now) {
  constexpr std::size_t kAhead = kExternal ? 8 : 4;
  constexpr std::size_t kRowsAhead = 10;
  const Tick clock = s.timing.clock;
  if (s.next_edge * clock <= now) s.next_edge = now / clock + 1;
  const bool tracked = mode.any() ? s.trackers.any() : mode.tracks();
  if (tracked) s.trackers.begin_time(now);
  look_ahead(s, now);

  const auto slot = static_cast<std::uint32_t>(s.next_edge - 1) & (edge_depth(s) - 1U);
  if (s.edge_planned[slot] != 0 && (s.next_edge - 1) * clock == now) {
    s.edge_planned[slot] = 0;
    for (std::uint32_t word = 0; word < s.edge_words; ++word) {
      std::uint64_t routers = std::exchange(s.edges[slot * s.edge_words + word], 0);
      for (; routers != 0; routers &= routers - 1) {
        const std::uint32_t router = word * 64 + static_cast<std::uint32_t>(std::countr_zero(routers));
        clock_edge(s, router, now);
      }
    }
  }

  for (std::size_t link = 1; link < s.credits.size(); ++link) {
    EventRing<Credit>& ring = s.credits[link];
    while (ring.due(now)) {
      const Credit credit = ring.take();
      const Credit& later = ring.ahead(kAhead);
      prefetch(s.ports.line_of(later.item >> kVcBits, later.item & ((1U << kVcBits) - 1U)));
      prefetch(&s.ports[later.item >> kVcBits]);
      Feedback feedback;
      if (learns(s)) {
        feedback = s.feedback[link].take();
        const std::uint32_t row = s.feedback[link].ahead(kRowsAhead).row;
        s.plan.deciders.learner->prefetch_row(
            s.first_router + (ring.ahead(kRowsAhead).item >> kVcBits >> s.plan.port_shift),
            pick(row != kNil, row, 0U));
      }
      take_credit(s, credit, feedback, now);
    }
  }
  for (std::uint32_t i = std::exchange(s.sent_credits.head(now), kNil); i != kNil;) {
    const std::uint32_t next = s.credit_pool[i].next;
    if (next != kNil) prefetch(&s.credit_pool[next]);
    take_credit(s, s.credit_pool[i].credit, s.credit_pool[i].feedback, now);
    s.unused_credits.push_back(i);
    i = next;
  }
  while (s.host_credits.due(now)) host_credit(s, s.host_credits.take().host, now);

  depart_all<State::kToHosts>(s, now);
  depart_all<State::kLocal>(s, now);
  depart_all<State::kGlobal>(s, now);

  if (mode.any() && s.programs != nullptr) {
    run_programs(s, now);
  } else {
    for (std::uint32_t host = s.hosts_due.take(now); host != kNil;) {
      const std::uint32_t next = s.hosts_due.next(host);
      if (next != kNil) prefetch(&s.hosts[next]);
      host_event<false>(s, host, now);
      host = next;
    }
  }

  const auto take_arrivals = [&]<bool kFromHost>(EventRing<State::Arrival>& ring) {
    while (ring.due(now)) {
      const State::Arrival arrival = ring.take();
      const State::Arrival& later = ring.ahead(kAhead);
      prefetch(&s.input_vcs[later.input_vc]);
      if (on_arrival(s)) prefetch(&s.store.decided[later.packet]);
      prefetch_arriving(s, later.packet);
      arrive<kFromHost>(s, arrival.packet, arrival.input_vc, now);
    }
  };
  take_arrivals.template operator()<true>(s.arrivals[0]);
  for (std::size_t link = 1; link < s.arrivals.size(); ++link) {
    take_arrivals.template operator()<false>(s.arrivals[link]);
  }
  for (std::uint32_t packet = std::exchange(s.sent_packets.head(now), kNil); packet != kNil;) {
    const std::uint32_t next = s.store.next[packet];
    if (next != kNil) prefetch_arriving(s, next);
    arrive<false>(s, packet, s.sent_to[packet], now);
    packet = next;
  }

  if (s.timing.routing_delay > 0) {
    const auto following = [&](std::uint32_t input_vc) {
      return input_vc != kNil ? s.effects.next(input_vc) : kNil;
    };
    std::uint32_t input_vc = s.effects.take(now);
    std::uint32_t next = following(input_vc);
    std::uint32_t later = following(next);
    while (input_vc != kNil) {
      if (later != kNil) prefetch(&s.store.decided[s.input_vcs[later].head]);
      const std::uint32_t last = following(later);
      if (last != kNil) prefetch(&s.input_vcs[last]);
      const std::uint32_t head = s.input_vcs[input_vc].head;
      make_ready(s, router_of(s, input_vc), index_in(s, input_vc), s.store.decided[head].hop);
      input_vc = std::exchange(next, std::exchange(later, last));
    }
  }
  if (tracked) s.trackers.settle(s.ports, now);
  if (!s.unrouted.empty()) make_decisions(s, now);
  s.busy.clear(now);
}

// The loop of one source of decisions; a source without an instance for shared outputs leaves them to the
// general loop.
template <DecisionSource who, bool kWithShared = true>
GoOn loop_for(Routers routers, bool on_arrival) noexcept {
  if (routers == Routers::kShared) {
    if constexpr (kWithShared) {
      return on_arrival ? &EventLoop<Mode{who, Routers::kShared, true}>::go_on
                        : &EventLoop<Mode{who, Routers::kShared, false}>::go_on;
    } else {
      return go_on_general();
    }
  }
  if (routers == Routers::kWide) {
    return on_arrival ? &EventLoop<Mode{who, Routers::kWide, true}>::go_on
                      : &EventLoop<Mode{who, Routers::kWide, false}>::go_on;
  }
  return on_arrival ? &EventLoop<Mode{who, Routers::kQueued, true}>::go_on
                    : &EventLoop<Mode{who, Routers::kQueued, false}>::go_on;
}

}  // namespace dragonfly
