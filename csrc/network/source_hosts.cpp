// Hosts: generating, queueing at the source, and sending.
//
// A source queue is never stored. Packets of a host leave in the order in which they were generated,
// so all that the queue does is to decide when each packet enters it:
//   unbounded      when it is generated
//   N, stall       as with "lose", but the generator stands still: what finds no room is generated at
//                  the first regular time with room; a message of a trace waits for packet k - N
//   N, lose        when it is generated; a message that has not room for all its packets k .. k + m - 1
//                  then, because packet k + m - 1 - N has not left, is lost
// The last N departure times are all that has to be remembered.
#include <algorithm>

#include "network/source_hosts.hpp"

namespace dragonfly {

SourceHosts::SourceHosts(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback,
                         OpenDecisions* open, std::uint32_t index)
    : Deliveries{blueprint, store, feedback, open, index} {
  if (blueprint.workload != nullptr) {
    programs_ = std::make_unique<HostPrograms>(*blueprint.workload, first_host_, num_hosts_,
                                               blueprint.timing.quantum_ps, blueprint.links[0].packet_ps,
                                               blueprint.options.seed);
  }
  build_hosts();
}

void SourceHosts::build_hosts() {
  hosts_.resize(num_hosts_);
  skips_ =
      plan_.options.source_queue_packets > 0 && (plan_.options.lose_when_full || plan_.source.regenerates());
  departures_.assign(static_cast<std::size_t>(num_hosts_) * plan_.options.source_queue_packets, 0);
  if (plan_.options.source_queue_packets == 0) {
    backlog_cursor_.resize(num_hosts_);
    backlog_count_.assign(num_hosts_, 0);
  }
  for (std::uint32_t host = 0; host < num_hosts_; ++host) {
    HostSender& sender = hosts_[host];
    sender.credits = plan_.input_buffer[0];
    if (programs_ != nullptr && programs_->runs_on(host)) continue;
    plan_.source.start(HostId{first_host_ + host}, sender.cursor);
    if (!backlog_cursor_.empty()) backlog_cursor_[host] = sender.cursor;
    next_packet<false>(host, sender);
    schedule_host(host, sender, -1);
  }
  if (programs_ != nullptr) start_programs();
}

// Whether a full source queue turns the message of `cursor` away, which has `packets` packets; the
// first of them would be packet `number` of the host.
bool SourceHosts::is_crowded_out(std::uint32_t host, const SourceCursor& cursor, std::uint64_t number,
                                 std::uint32_t packets) const {
  const std::uint64_t limit = plan_.options.source_queue_packets;
  const std::uint64_t end = number + packets;
  if (end <= limit) return false;
  const std::uint64_t must_have_left = end - 1 - limit;
  if (must_have_left >= hosts_[host].number) return true;
  return plan_.to_tick(cursor.time_ps) < departures_[host * limit + must_have_left % limit];
}

// Takes the next message of the source; false: there is none.
inline bool SourceHosts::next_message(std::uint32_t host, HostSender& sender) {
  const HostId id{first_host_ + host};
  SourceCursor& cursor = sender.cursor;
  Message message;
  if (cursor.time_ps < kNever) message = plan_.source.describe(id, cursor);
  while (skips_ && cursor.time_ps < kNever && is_crowded_out(host, cursor, sender.number, message.packets)) {
    if (plan_.options.lose_when_full) count_lost(message.packets);
    plan_.source.skip(id, cursor);
    // Another message of a trace, or the same one in another step of a schedule.
    if (cursor.time_ps < kNever) message = plan_.source.describe(id, cursor);
  }
  if (cursor.time_ps >= kNever) return false;
  sender.destination = message.destination;
  sender.left = message.packets;
  sender.route_length = static_cast<std::uint16_t>(message.route.size());
  if (!message.route.empty()) {
    sender.route_offset = static_cast<std::uint32_t>(message.route.data() - plan_.source.routes().data());
  }
  return true;
}

// Prepares the packet that is sent next: its message and when it enters the source queue.
template <bool kPrograms>
void SourceHosts::next_packet(std::uint32_t host, HostSender& sender) {
  bool programmed = false;
  if constexpr (kPrograms) programmed = programs_->runs_on(host);
  if (sender.left == 0) {
    bool any = false;
    if constexpr (kPrograms) {
      any = programmed ? begin_message(host, sender) : next_message(host, sender);
    } else {
      any = next_message(host, sender);
    }
    if (!any) {
      sender.state = HostState::kSilent;
      return;
    }
  }
  sender.entered = plan_.to_tick(sender.cursor.time_ps);
  const std::uint32_t limit = plan_.options.source_queue_packets;
  if (limit > 0 && sender.number >= limit && (!skips_ || programmed)) {
    sender.entered = std::max(sender.entered, departures_[std::size_t{host} * limit + sender.number % limit]);
  }
  sender.state = sender.entered > stop_after_ ? HostState::kSilent : HostState::kGenerating;
  if constexpr (kPrograms) {
    if (programmed) sender.entered = programs_->paced(host, sender.number, sender.entered);
  }
}

// Plans when the prepared packet is sent. Its port behaves like a router's output port: a packet
// that enters while the timer runs leaves when it ends.
void SourceHosts::schedule_host(std::uint32_t host, HostSender& sender, Tick now) {
  if (sender.state == HostState::kSilent) return;
  if (sender.entered <= sender.timer_end) {
    sender.state = HostState::kSending;
    push_host(host, sender.timer_end, now);
  } else {
    sender.state = HostState::kGenerating;
    push_host(host, sender.entered, now);
  }
}

void SourceHosts::push_host(std::uint32_t host, Tick when, Tick now) {
  // The wheel takes what is due within its horizon of the window's start; the rest waits outside.
  if (when - std::max(now, now_) <= plan_.timing.horizon - plan_.timing.lookahead) {
    wheel_.push(kHost, when, host);
  } else {
    far_hosts_.push({when, host});
  }
}

template <bool kPrograms>
void SourceHosts::host_event(std::uint32_t host, Tick now) {
  HostSender& sender = hosts_[host];
  bool programmed = false;  // what its program has sent is in the source queue, whatever its pacing
  if constexpr (kPrograms) programmed = programs_->runs_on(host);
  if (!programmed && sender.entered > stop_after_) {  // planned before the generators were stopped
    sender.state = HostState::kSilent;
    return;
  }
  if (sender.state == HostState::kGenerating) {
    sender.state = HostState::kSending;
    if (now > sender.timer_end) sender.timer_end = now + plan_.timing.injection_start_delay;
    if (sender.timer_end > now) {
      push_host(host, sender.timer_end, now);
      return;
    }
  }
  // More than one packet only where injection takes no time.
  while (sender.state == HostState::kSending) {
    if (sender.credits == 0) {
      sender.state = HostState::kBlocked;
      return;
    }
    send_from_host<kPrograms>(host, sender, now);
    next_packet<kPrograms>(host, sender);
    if (sender.state == HostState::kSilent) return;
    if (sender.entered > now || sender.timer_end > now) {
      schedule_host(host, sender, now);
      return;
    }
    sender.state = HostState::kSending;
  }
}

void SourceHosts::host_credit(std::uint32_t host, Tick now) {
  HostSender& sender = hosts_[host];
  ++sender.credits;
  if (sender.state == HostState::kSending) return;
  if (plan_.timed_start && now > sender.timer_end) {
    sender.timer_end = now + plan_.timing.injection_start_delay;
  }
  if (sender.state == HostState::kBlocked) {
    sender.state = HostState::kSending;
    push_host(host, std::max(now, sender.timer_end), now);
  }
}

template <bool kPrograms>
void SourceHosts::send_from_host(std::uint32_t host, HostSender& sender, Tick now) {
  const Dragonfly& topology = plan_.topology;
  const std::uint32_t index = new_packet();
  Packet& packet = packets_[index];
  packet = Packet{};
  const std::uint32_t source = first_host_ + host;
  const std::uint32_t router = topology.router_of_host(source) - first_router_;
  packet.source_host = source;
  packet.number = static_cast<std::uint32_t>(sender.number);
  packet.destination_host = sender.destination.value;
  packet.destination_router = topology.router_of_host(packet.destination_host);
  packet.destination_group = static_cast<std::uint16_t>(topology.group_of(packet.destination_router));
  packet.created = sender.entered;
  packet.injected = now;
  if (sender.route_length > 0) {
    packet.plan = Plan::kRouted;
    packet.detour_router = sender.route_offset;
    packet.detour_group = sender.route_length;
    packet.non_minimal =
        sender.route_length > topology.minimal_hops(first_router_ + router, packet.destination_router) + 1U;
  }
  packet.next = router * plan_.input_vcs + plan_.first_input_vc[topology.host_port(source)];
  wheel_.push(kArrival, now + plan_.timing.injection_delay, index);
  if (paths_ != nullptr) paths_[index].length = 0;
  if (trackers_.hear_injections()) trackers_.packet_injected(router, packet);

  const std::uint32_t limit = plan_.options.source_queue_packets;
  if (limit > 0) departures_[std::size_t{host} * limit + sender.number % limit] = now;
  --sender.credits;
  ++sender.number;
  sender.timer_end = now + plan_.timing.injection_packet;
  if constexpr (kPrograms) {
    const bool programmed = programs_->runs_on(host);
    messages_[index] = programmed ? programs_->being_sent(host) : MessagePart{};
    if (programmed) programs_->packet_left(host, now);
    if (--sender.left == 0) {
      if (programmed) {
        heed(host, programs_->left_source_queue(host, now), now);
      } else {
        plan_.source.advance(HostId{source}, sender.cursor);
      }
    }
  } else {
    if (--sender.left == 0) plan_.source.advance(HostId{source}, sender.cursor);
  }

  count_injection(router, packet.created, now);
}

template void SourceHosts::host_event<false>(std::uint32_t host, Tick now);
template void SourceHosts::host_event<true>(std::uint32_t host, Tick now);
template void SourceHosts::next_packet<true>(std::uint32_t host, HostSender& sender);

void SourceHosts::call_hosts_before(Tick end) {
  while (!far_hosts_.empty() && far_hosts_.top().when < end) {
    wheel_.push(kHost, far_hosts_.top().when, far_hosts_.top().host);
    far_hosts_.pop();
  }
}

void SourceHosts::reset_programs() {
  if (programs_ != nullptr) programs_->reset_records();
}

void SourceHosts::stop_generating(Tick now) {
  stop_after_ = std::min(stop_after_, now);
  if (programs_ != nullptr) programs_->stop();
}

std::uint64_t SourceHosts::in_source_queues(Tick now) {
  const Tick until = std::min(now, stop_after_);
  const std::uint32_t limit = plan_.options.source_queue_packets;
  std::uint64_t total = 0;
  for (std::uint32_t host = 0; host < num_hosts_; ++host) {
    const HostId id{first_host_ + host};
    const HostSender& sender = hosts_[host];
    if (programs_ != nullptr && programs_->runs_on(host)) {
      total += queued_by_program(host);
      continue;
    }
    if (limit == 0) {
      SourceCursor& cursor = backlog_cursor_[host];
      while (cursor.time_ps < kNever && plan_.to_tick(cursor.time_ps) <= until) {
        backlog_count_[host] += plan_.source.describe(id, cursor).packets;
        plan_.source.advance(id, cursor);
      }
      total += backlog_count_[host] - sender.number;
      continue;
    }
    if (sender.state == HostState::kSilent || sender.entered > until) continue;
    std::uint64_t waiting = sender.left;
    SourceCursor cursor = sender.cursor;
    plan_.source.advance(id, cursor);
    while (waiting < limit && cursor.time_ps < kNever && plan_.to_tick(cursor.time_ps) <= until) {
      const std::uint32_t packets = plan_.source.describe(id, cursor).packets;
      if (skips_ && is_crowded_out(host, cursor, sender.number + waiting, packets)) {
        plan_.source.skip(id, cursor);
        continue;
      }
      waiting += packets;
      plan_.source.advance(id, cursor);
    }
    total += std::min<std::uint64_t>(waiting, limit);  // what waits for room has not entered yet
  }
  return total;
}

}  // namespace dragonfly
