// Hosts: generating, queueing at the source, sending, and the programs that run on them.
//
// A source queue is never stored. Packets of a host leave in the order in which they were generated, so the
// queue only decides when each packet enters it:
//   unbounded      when it is generated
//   N, stall       as with "lose", but the generator stands still: what finds no room is generated at
//                  the first regular time with room; a message of a trace waits for packet k - N
//   N, lose        when it is generated; a message that has not room for all its packets k .. k + m - 1
//                  then, because packet k + m - 1 - N has not left, is lost
// The last N departure times are all that has to be remembered.
//
// Programs are called while the events of hosts are processed. Deliveries come first, then alarms, then the
// source queues: so a program receives a message before its alarm of the same time goes off, and may send at
// once. A host gets at most one delivery and one alarm at a time, and calling the program of one host touches
// no other: the order among hosts does not matter.
#pragma once

#include <cstdint>
#include <functional>

#include "network/partition_state.hpp"

namespace dragonfly {

void build_hosts(PartitionState& s);
// Puts the hosts whose time comes before `end` into slots.
void call_hosts_before(PartitionState& s, Tick end);
// The event of a host: its next packet enters the source queue, or leaves it. With programs on some, or
// without: `kPrograms`.
template <bool kPrograms>
void host_event(PartitionState& s, std::uint32_t host, Tick now);
// All events of hosts at `now`, in a run with programs.
void run_programs(PartitionState& s, Tick now);
// A place in its router's buffer is free again.
void host_credit(PartitionState& s, std::uint32_t host, Tick now);

// The source has changed at `now` (TrafficSource::rejoin): the messages not yet generated are planned anew.
void resync_source(PartitionState& s, Tick now);

// Generates no further message after `now`, and calls programs no longer.
void stop_generating(PartitionState& s, Tick now);

// The packets that wait in source queues. Those of a paced program are created one after the other.
struct SourceQueue {
  std::uint64_t packets = 0;
  std::uint64_t created = 0;      // packets in the source queues that are created already
  std::uint64_t created_sum = 0;  // sum of their times of creation, modulo 2^64

  SourceQueue& operator+=(const SourceQueue& other) noexcept {
    packets += other.packets;
    created += other.created;
    created_sum += other.created_sum;
    return *this;
  }
  // The time that all of them have spent there up to `now`.
  [[nodiscard]] std::uint64_t waited(Tick now) const noexcept {
    return created * static_cast<std::uint64_t>(now) - created_sum;
  }
};
// Calls visit(when it was created) for each of them that waits at `now`, in their order.
void visit_source_queue(PartitionState& s, std::uint32_t host, Tick now,
                        const std::function<void(Tick)>& visit);
[[nodiscard]] SourceQueue source_queue(PartitionState& s, std::uint32_t host, Tick now);
// The source queues of all hosts together.
[[nodiscard]] SourceQueue source_queues(PartitionState& s, Tick now);

}  // namespace dragonfly
