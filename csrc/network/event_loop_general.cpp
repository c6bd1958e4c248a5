// The loop for everything, and the decisions that are made outside.
#include "network/events_loop.hpp"
#include "network/partition.hpp"

namespace dragonfly {

GoOn go_on_general() noexcept { return &EventLoop<Mode{}>::go_on; }

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
    const Hop hop = pending.apply(i, actions[i], packet, s.timing.credit_delay);
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
