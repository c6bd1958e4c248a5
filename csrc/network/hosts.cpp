#include "network/hosts.hpp"

#include <algorithm>
#include <cassert>
#include <functional>

#include "network/delivery.hpp"

namespace dragonfly {

namespace {

using State = PartitionState;

// Slots take the hosts that are due within their horizon from the window's start; the others wait outside.
[[gnu::always_inline]] inline void push_host(State& s, std::uint32_t host, Tick when, Tick now) {
  if (when - std::max(now, s.window_start) <= s.timing.horizon - s.timing.lookahead) {
    s.hosts_due.push(when, host);
    s.busy.mark(when);
  } else {
    s.far_hosts.push({when, host});
  }
}

// The last time at which a full source queue turns away a message of `packets` packets, behind `ahead`
// packets that are not sent yet; -1: there is room. kNever: packets that are not sent yet leave no room.
[[gnu::always_inline]] inline TimePs full_until_ps(const State& s, std::uint32_t host, std::uint64_t ahead,
                                                   std::uint32_t packets) {
  const HostSender& sender = s.hosts[host];
  const std::uint64_t limit = s.plan.options.source_queue_packets;
  const std::uint64_t more = ahead + packets;
  if (sender.number + more <= limit) return -1;
  if (more > limit) return kNever;                // one that must have left is not sent yet
  std::uint64_t place = sender.place + more - 1;  // place of the last packet that must have left
  if (place >= limit) place -= limit;
  return s.plan.to_ps(s.departed[host * limit + place] - 1);
}

// Skips what a queue that is full until `full_until` turns away; returns the number of messages.
[[gnu::always_inline]] inline std::uint64_t skip_refused(const State& s, HostId host, SourceCursor& cursor,
                                                         TimePs full_until) {
  if (s.drawn_packets > 0) return s.plan.source.skip_until(host, cursor, full_until);
  s.plan.source.skip(host, cursor);  // the next message may have fewer packets
  return 1;
}

HostId drawn_destination(State& s, std::uint32_t host, const SourceCursor& cursor) {
  PrefetchedDestinations& drawn = s.drawn[host];
  constexpr std::uint64_t kMask = TrafficSource::kPrefetchedDestinations - 1;
  if (drawn.first != (cursor.message & ~kMask) || drawn.step != cursor.step) {
    drawn.first = cursor.message & ~kMask;
    drawn.step = cursor.step;
    s.plan.source.draw_ahead(HostId{s.first_host + host}, cursor, drawn.destinations);
  }
  return HostId{drawn.destinations[cursor.message & kMask]};
}

// Takes the next message of the source; false: the source has no more messages.
[[gnu::always_inline]] inline bool next_message(State& s, std::uint32_t host, HostSender& sender) {
  const HostId id{s.first_host + host};
  SourceCursor& cursor = sender.cursor;
  const std::uint32_t drawn = s.drawn_packets;
  Message message{.destination = {}, .packets = drawn};
  const auto look = [&] {
    if (drawn == 0 && cursor.time_ps < kNever) message = s.plan.source.describe(id, cursor);
  };
  look();
  while (s.skips && cursor.time_ps < kNever) {
    const TimePs full_until = full_until_ps(s, host, 0, message.packets);
    if (cursor.time_ps > full_until) break;
    const std::uint64_t refused = skip_refused(s, id, cursor, full_until);
    if (s.plan.options.lose_when_full) s.record.lost += refused * message.packets;
    look();  // another message of a trace, or the same one in another step of a schedule
  }
  if (cursor.time_ps >= kNever) return false;
  sender.destination = drawn > 0 ? drawn_destination(s, host, cursor) : message.destination;
  sender.left = message.packets;
  sender.route_length = static_cast<std::uint16_t>(message.route.size());
  if (!message.route.empty()) {
    sender.route_offset = static_cast<std::uint32_t>(message.route.data() - s.plan.source.routes().data());
  }
  return true;
}

bool begin_message(State& s, std::uint32_t host, HostSender& sender) {
  if (s.programs->queued_packets(host) == 0) return false;
  const QueuedMessage& message = s.programs->begin_message(host, static_cast<std::uint32_t>(sender.number));
  sender.destination = HostId{message.destination};
  sender.left = message.packets;
  sender.cursor.time_ps = s.plan.to_ps(message.sent);
  return true;
}

// Prepares the packet that is sent next: its message and when it enters the source queue.
template <bool kPrograms>
void next_packet(State& s, std::uint32_t host, HostSender& sender) {
  bool programmed = false;
  if constexpr (kPrograms) programmed = s.programs->runs_on(host);
  if (sender.left == 0 && !(programmed ? begin_message(s, host, sender) : next_message(s, host, sender))) {
    sender.state = HostState::kSilent;
    return;
  }
  sender.entered = s.plan.to_tick(sender.cursor.time_ps);
  const std::uint32_t limit = s.plan.options.source_queue_packets;
  if (limit > 0 && sender.number >= limit && (!s.skips || programmed)) {
    sender.entered = std::max(sender.entered, s.departed[std::size_t{host} * limit + sender.place]);
  }
  sender.state = sender.entered > s.stop_after ? HostState::kSilent : HostState::kGenerating;
  if constexpr (kPrograms) {
    if (programmed) sender.entered = s.programs->paced(host, sender.number, sender.entered);
  }
}

// Plans when the prepared packet is sent. Its port behaves like a router's output port: a packet
// that enters while the timer runs leaves when it ends.
void schedule_host(State& s, std::uint32_t host, HostSender& sender, Tick now) {
  if (sender.state == HostState::kSilent) return;
  if (sender.entered <= sender.timer_end) {
    sender.state = HostState::kSending;
    push_host(s, host, sender.timer_end, now);
  } else {
    sender.state = HostState::kGenerating;
    push_host(s, host, sender.entered, now);
  }
}

// Called after a program ran: sets its alarm, and wakes the sender if the sender is idle.
void heed(State& s, std::uint32_t host, Tick alarm, Tick now) {
  if (alarm != HostPrograms::kNoAlarm) s.alarms.push({alarm, host});
  HostSender& sender = s.hosts[host];
  if (sender.state != HostState::kSilent || sender.left > 0 || s.programs->queued_packets(host) == 0) return;
  next_packet<true>(s, host, sender);
  schedule_host(s, host, sender, now);
}

template <bool kPrograms>
void send_from_host(State& s, std::uint32_t host, HostSender& sender, Tick now) {
  const Dragonfly& topology = s.plan.topology;
  const std::uint32_t index = s.store.add();
  const std::uint32_t source = s.first_host + host;
  const std::uint32_t router = topology.router_of_host(source) - s.first_router;
  const std::uint32_t to = topology.router_of_host(sender.destination.value);
  Packet& packet = s.store.packets[index];
  packet = Packet{.source_host = source,
                  .number = static_cast<std::uint32_t>(sender.number),
                  .destination_host = sender.destination.value,
                  .destination_router = to,
                  .destination_group = static_cast<std::uint16_t>(topology.group_of(to))};
  s.store.times[index] = {.created = sender.entered, .injected = now};
  if (sender.route_length > 0) {
    packet.plan = Plan::kRouted;
    packet.intermediate_router = sender.route_offset;
    packet.intermediate_group = sender.route_length;
    packet.non_minimal = sender.route_length > topology.minimal_hops(s.first_router + router, to) + 1U;
  }
  s.arrivals[0].push({low_of(now + s.timing.injection_delay), index,
                      (router << s.plan.input_shift) + s.plan.first_input_vc[topology.host_port(source)]});
  if (s.store.with_paths) s.store.paths[index].length = 0;
  if (s.trackers.on_injections()) s.trackers.packet_injected(router, packet);

  const std::uint32_t limit = s.plan.options.source_queue_packets;
  if (limit > 0) {
    s.departed[std::size_t{host} * limit + sender.place] = now;
    sender.place = sender.place + 1 == limit ? 0 : sender.place + 1;
  }
  --sender.credits;
  ++sender.number;
  sender.entered_sum += static_cast<std::uint64_t>(sender.entered);
  sender.timer_end = now + s.timing.injection_packet;
  bool programmed = false;
  if constexpr (kPrograms) {
    programmed = s.programs->runs_on(host);
    s.store.messages[index] = programmed ? s.programs->being_sent(host) : MessagePart{};
    if (programmed) s.programs->packet_left(host, now);
  }
  count_injection(s, router, sender.entered, now);
  if (s.pending != nullptr) s.pending->injected(s.first_router + router, packet, now);
  if (--sender.left > 0) return;
  if (programmed) {
    heed(s, host, s.programs->left_source_queue(host, now), now);
  } else {
    s.plan.source.advance(HostId{source}, sender.cursor);
  }
}

void hand_over(State& s, std::uint32_t index, Tick now) {
  const MessagePart part = s.store.messages[index];
  const std::uint32_t source = s.store.packets[index].source_host;
  const std::uint32_t number = s.store.packets[index].number;
  const std::uint32_t host = s.store.packets[index].destination_host - s.first_host;
  deliver(s, index, now);
  if (part.packets > 0) heed(s, host, s.programs->deliver(host, source, number, part, now), now);
}

// The queue of a host without a program and without a limit: counting continues where the last call ended.
SourceQueue unbounded_queue(State& s, std::uint32_t host, Tick until) {
  const HostSender& sender = s.hosts[host];
  Backlog& counted = s.backlog[host];
  SourceCursor& cursor = counted.cursor;
  const HostId id{s.first_host + host};
  const std::uint32_t alike = s.drawn_packets;
  if (alike > 0 && sender.cursor.message > cursor.message) {  // sent messages are counted at once
    const std::uint64_t sent =
        sender.left > 0 ? alike - sender.left : 0U;  // sent packets of the present message
    counted = {.cursor = sender.cursor,
               .packets = sender.number - sent,
               .entered_sum = sender.entered_sum - sent * static_cast<std::uint64_t>(sender.entered)};
  }
  while (cursor.time_ps < kNever && s.plan.to_tick(cursor.time_ps) <= until) {
    const std::uint64_t packets = alike > 0 ? alike : s.plan.source.describe(id, cursor).packets;
    counted.packets += packets;
    counted.entered_sum += packets * static_cast<std::uint64_t>(s.plan.to_tick(cursor.time_ps));
    s.plan.source.advance(id, cursor);
  }
  const std::uint64_t packets = counted.packets - sender.number;
  return {.packets = packets, .created = packets, .created_sum = counted.entered_sum - sender.entered_sum};
}

// The time at which the packet `ahead` places behind the next one enters a bounded source queue, if it is
// ready since `ready`. Precondition: fewer than the limit are ahead of it.
Tick entry(const State& s, std::uint32_t host, std::uint64_t ahead, Tick ready) {
  const HostSender& sender = s.hosts[host];
  const std::uint64_t limit = s.plan.options.source_queue_packets;
  if (sender.number + ahead < limit) return ready;
  return std::max(ready, s.departed[host * limit + (sender.place + ahead) % limit]);
}

template <class Visit>
void visit_generated(State& s, std::uint32_t host, Tick until, Visit visit) {
  const HostSender& sender = s.hosts[host];
  if (sender.state == HostState::kSilent || sender.entered > until) return;
  const std::uint64_t limit = s.backlog.empty() ? s.plan.options.source_queue_packets : ~std::uint64_t{0};
  std::uint64_t waiting = 0;
  const auto add = [&](std::uint32_t packets, TimePs ready_ps) {
    const Tick ready = s.plan.to_tick(ready_ps);
    for (; packets > 0 && waiting < limit; --packets, ++waiting) {  // waiting packets have not entered
      visit(s.skips || !s.backlog.empty() ? ready : entry(s, host, waiting, ready));
    }
  };
  const HostId id{s.first_host + host};
  SourceCursor cursor = sender.cursor;
  add(sender.left, cursor.time_ps);
  s.plan.source.advance(id, cursor);
  while (waiting < limit && cursor.time_ps < kNever && s.plan.to_tick(cursor.time_ps) <= until) {
    const std::uint32_t drawn = s.drawn_packets;
    const std::uint32_t packets = drawn > 0 ? drawn : s.plan.source.describe(id, cursor).packets;
    const TimePs full_until = s.skips ? full_until_ps(s, host, waiting, packets) : -1;
    if (cursor.time_ps <= full_until) {
      if (drawn > 0 && full_until == kNever) break;  // later messages have as many packets
      skip_refused(s, id, cursor, full_until);
      continue;
    }
    add(packets, cursor.time_ps);
    s.plan.source.advance(id, cursor);
  }
}

// All packets that a program has sent, or, with a bounded source queue, those with room there: each packet
// enters the queue when the packet so many places before has left.
std::uint64_t queued_by_program(const State& s, std::uint32_t host) {
  const HostSender& sender = s.hosts[host];
  const std::uint64_t waiting = sender.left + s.programs->queued_packets(host);
  const std::uint32_t limit = s.plan.options.source_queue_packets;
  if (limit == 0) return waiting;
  if (sender.left > 0 && sender.state == HostState::kSilent) return 0;  // it found no room before the end
  return std::min<std::uint64_t>(waiting, limit);
}

// A paced packet is created when its trial succeeds, and the next trials follow when it has left.
template <class Visit>
void visit_sent(const State& s, std::uint32_t host, Tick now, Visit visit) {
  const HostSender& sender = s.hosts[host];
  const std::uint64_t waiting = queued_by_program(s, host);
  if (s.programs->is_paced(host)) {
    if (waiting > 0 && sender.left > 0 && sender.entered <= now) visit(sender.entered);
    return;
  }
  std::uint64_t ahead = 0;
  const bool bounded = s.plan.options.source_queue_packets > 0;
  const auto add = [&](std::uint32_t packets, Tick ready) {
    for (; packets > 0 && ahead < waiting; --packets, ++ahead) {
      visit(bounded ? entry(s, host, ahead, ready) : ready);
    }
    return ahead < waiting;
  };
  if (add(sender.left, s.plan.to_tick(sender.cursor.time_ps))) s.programs->for_each_queued(host, add);
}

}  // namespace

void build_hosts(State& s) {
  const Blueprint& plan = s.plan;
  s.hosts.resize(s.num_hosts);
  s.skips =
      plan.options.source_queue_packets > 0 && (plan.options.lose_when_full || plan.source.regenerates());
  s.departed.assign(std::size_t{s.num_hosts} * plan.options.source_queue_packets, 0);
  s.drawn_packets = plan.source.drawn_packets();
  if (s.drawn_packets > 0) s.drawn.resize(s.num_hosts);
  if (plan.options.source_queue_packets == 0) {
    s.backlog.resize(s.num_hosts);
  }
  if (plan.workload != nullptr) {
    s.programs = std::make_unique<HostPrograms>(
        *plan.workload, s.first_host, s.num_hosts, s.timing.quantum_ps, plan.links[0].packet_ps,
        plan.options.seed,
        plan.options.record.message_slowdown ? std::optional{ZeroLoadMessage{plan}} : std::nullopt);
  }
  for (std::uint32_t host = 0; host < s.num_hosts; ++host) {
    HostSender& sender = s.hosts[host];
    sender.credits = plan.input_buffer[0];
    if (s.programs != nullptr && s.programs->runs_on(host)) continue;
    plan.source.start(HostId{s.first_host + host}, sender.cursor);
    if (!s.backlog.empty()) s.backlog[host].cursor = sender.cursor;
    next_packet<false>(s, host, sender);
    schedule_host(s, host, sender, -1);
  }
  if (s.programs == nullptr) return;
  for (std::uint32_t host = 0; host < s.num_hosts; ++host) {
    if (s.programs->runs_on(host)) heed(s, host, s.programs->start(host), 0);
  }
}

void call_hosts_before(State& s, Tick end) {
  while (!s.far_hosts.empty() && s.far_hosts.top().when < end) {
    s.hosts_due.push(s.far_hosts.top().when, s.far_hosts.top().host);
    s.busy.mark(s.far_hosts.top().when);
    s.far_hosts.pop();
  }
}

template <bool kPrograms>
void host_event(State& s, std::uint32_t host, Tick now) {
  HostSender& sender = s.hosts[host];
  bool programmed = false;  // a program's messages are in the source queue, at every send interval
  if constexpr (kPrograms) programmed = s.programs->runs_on(host);
  if (!programmed && sender.entered > s.stop_after) {  // planned before the generators were stopped
    sender.state = HostState::kSilent;
    return;
  }
  if (sender.state == HostState::kGenerating) {
    sender.state = HostState::kSending;
    if (now > sender.timer_end) sender.timer_end = now + s.timing.injection_start_delay;
    if (sender.timer_end > now) {
      push_host(s, host, sender.timer_end, now);
      return;
    }
  }
  // More than one packet only where injection takes no time.
  while (sender.state == HostState::kSending) {
    if (sender.credits == 0) {
      sender.state = HostState::kBlocked;
      return;
    }
    send_from_host<kPrograms>(s, host, sender, now);
    next_packet<kPrograms>(s, host, sender);
    if (sender.state == HostState::kSilent) return;
    if (sender.entered > now || sender.timer_end > now) {
      schedule_host(s, host, sender, now);
      return;
    }
    sender.state = HostState::kSending;
  }
}

template void host_event<false>(State& s, std::uint32_t host, Tick now);
template void host_event<true>(State& s, std::uint32_t host, Tick now);

void run_programs(State& s, Tick now) {
  s.woken.clear();
  s.sending.clear();
  for (std::uint32_t host = s.hosts_due.take(now); host != kNil; host = s.hosts_due.next(host)) {
    s.sending.push_back(host);
  }
  while (s.to_hosts.due(now)) hand_over(s, s.to_hosts.take().packet, now);
  while (!s.alarms.empty() && s.alarms.top().when <= now) {
    s.woken.push_back(s.alarms.top().host);
    s.alarms.pop();
  }
  for (const std::uint32_t host : s.woken) heed(s, host, s.programs->wake(host, now), now);
  for (const std::uint32_t host : s.sending) host_event<true>(s, host, now);
  for (std::uint32_t host = s.hosts_due.take(now); host != kNil; host = s.hosts_due.take(now)) {
    while (host != kNil) {  // the messages that they send at once
      const std::uint32_t next = s.hosts_due.next(host);
      host_event<true>(s, host, now);
      host = next;
    }
  }
}

void host_credit(State& s, std::uint32_t host, Tick now) {
  HostSender& sender = s.hosts[host];
  ++sender.credits;
  if (sender.state == HostState::kSending) return;
  if (s.plan.timed_start && now > sender.timer_end) {
    sender.timer_end = now + s.timing.injection_start_delay;
  }
  if (sender.state == HostState::kBlocked) {
    sender.state = HostState::kSending;
    push_host(s, host, std::max(now, sender.timer_end), now);
  }
}

void resync_source(State& s, Tick now) {
  const auto changes = [&](std::uint32_t host) {
    const HostSender& sender = s.hosts[host];
    if (s.programs != nullptr && s.programs->runs_on(host)) return false;
    if (sender.state == HostState::kSilent) return sender.left == 0 && sender.cursor.time_ps >= kNever;
    return sender.state == HostState::kGenerating && sender.entered > now &&
           s.plan.to_tick(sender.cursor.time_ps) > now;
  };
  std::vector<std::uint32_t> anew;
  for (std::uint32_t host = 0; host < s.num_hosts; ++host) {
    if (!s.backlog.empty()) s.plan.source.rejoin(HostId{s.first_host + host}, s.backlog[host].cursor);
    if (changes(host)) anew.push_back(host);
  }
  s.hosts_due.remove_if(changes);
  State::HostEvents far;
  for (; !s.far_hosts.empty(); s.far_hosts.pop()) {
    if (!changes(s.far_hosts.top().host)) far.push(s.far_hosts.top());
  }
  s.far_hosts = std::move(far);
  for (const std::uint32_t host : anew) {
    HostSender& sender = s.hosts[host];
    sender.left = 0;
    s.plan.source.rejoin(HostId{s.first_host + host}, sender.cursor);
    next_packet<false>(s, host, sender);
    schedule_host(s, host, sender, now);
  }
}

void stop_generating(State& s, Tick now) {
  s.stop_after = std::min(s.stop_after, now);
  if (s.programs != nullptr) s.programs->stop();
}

void visit_source_queue(State& s, std::uint32_t host, Tick now, const std::function<void(Tick)>& visit) {
  if (s.programs != nullptr && s.programs->runs_on(host)) {
    visit_sent(s, host, now, visit);
  } else {
    visit_generated(s, host, std::min(now, s.stop_after), visit);
  }
}

SourceQueue source_queue(State& s, std::uint32_t host, Tick now) {
  const bool programmed = s.programs != nullptr && s.programs->runs_on(host);
  if (!programmed && !s.backlog.empty()) return unbounded_queue(s, host, std::min(now, s.stop_after));
  SourceQueue queue;
  if (programmed && s.plan.options.source_queue_packets == 0 && !s.programs->is_paced(host)) {
    const HostSender& sender = s.hosts[host];
    const auto since = static_cast<std::uint64_t>(s.plan.to_tick(sender.cursor.time_ps));
    queue.packets = queue.created = queued_by_program(s, host);
    queue.created_sum = (sender.left > 0 ? sender.left * since : 0U) + s.programs->queued_since(host);
    return queue;
  }
  visit_source_queue(s, host, now, [&](Tick created) {
    ++queue.created;
    queue.created_sum += static_cast<std::uint64_t>(created);
  });
  queue.packets = programmed ? queued_by_program(s, host) : queue.created;
  return queue;
}

SourceQueue source_queues(State& s, Tick now) {
  SourceQueue all;
  for (std::uint32_t host = 0; host < s.num_hosts; ++host) all += source_queue(s, host, now);
  return all;
}

}  // namespace dragonfly
