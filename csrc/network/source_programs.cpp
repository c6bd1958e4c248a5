// Closed-loop runs: programs on hosts hear of what reaches their host, and answer.
//
// All that concerns programs happens while hosts are worked off. Deliveries come first, then alarms, then
// the source queues: so a program hears of a message before its alarm of the same instant goes off, and may
// send at once. A host gets at most one delivery and one alarm at an instant, and asking one host touches no
// other: the order among hosts does not matter.
#include "network/source_hosts.hpp"

namespace dragonfly {

void SourceHosts::start_programs() {
  for (std::uint32_t host = 0; host < num_hosts_; ++host) {
    if (programs_->runs_on(host)) heed(host, programs_->start(host), 0);
  }
}

// After a program was asked: plans its alarm, and wakes the sender if it stands idle.
void SourceHosts::heed(std::uint32_t host, Tick alarm, Tick now) {
  if (alarm != HostPrograms::kNoAlarm) push_host(kAlarmBit | host, alarm, now);
  HostSender& sender = hosts_[host];
  if (sender.state != HostState::kSilent || sender.left > 0 || programs_->queued_packets(host) == 0) return;
  next_packet<true>(host, sender);
  schedule_host(host, sender, now);
}

bool SourceHosts::begin_message(std::uint32_t host, HostSender& sender) {
  if (programs_->queued_packets(host) == 0) return false;
  const QueuedMessage& message = programs_->begin_message(host);
  sender.destination = HostId{message.destination};
  sender.left = message.part.packets;
  sender.cursor.time_ps = plan_.to_ps(message.part.sent);
  return true;
}

[[gnu::noinline]] void SourceHosts::run_programs(Tick now) {
  woken_.clear();
  sending_.clear();
  wheel_.drain(kHost, now, [this, now](std::uint32_t item) {
    if ((item & kDeliveryBit) != 0) {
      hand_over(item & ~kDeliveryBit, now);
    } else if ((item & kAlarmBit) != 0) {
      woken_.push_back(item & ~kAlarmBit);
    } else {
      sending_.push_back(item);
    }
  });
  for (const std::uint32_t host : woken_) heed(host, programs_->wake(host, now), now);
  for (const std::uint32_t host : sending_) host_event<true>(host, now);
  while (wheel_.any(kHost, now)) {  // what they send at once
    wheel_.drain(kHost, now, [this, now](std::uint32_t host) { host_event<true>(host, now); });
  }
}

void SourceHosts::hand_over(std::uint32_t index, Tick now) {
  const MessagePart part = messages_[index];
  const std::uint32_t source = packets_[index].source_host;
  const std::uint32_t host = packets_[index].destination_host - first_host_;
  deliver(index, now);
  if (part.packets > 0) heed(host, programs_->deliver(host, source, part, now), now);
}

// All that a program has sent, or, with a bounded source queue, what has room there: each packet enters it
// when the one so many places before has left.
std::uint64_t SourceHosts::queued_by_program(std::uint32_t host) const {
  const HostSender& sender = hosts_[host];
  const std::uint64_t waiting = sender.left + programs_->queued_packets(host);
  const std::uint32_t limit = plan_.options.source_queue_packets;
  if (limit == 0) return waiting;
  if (sender.left > 0 && sender.state == HostState::kSilent) return 0;  // it found no room before the end
  return std::min<std::uint64_t>(waiting, limit);
}

}  // namespace dragonfly
