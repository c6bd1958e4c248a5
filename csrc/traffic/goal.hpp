// GOAL: schedules of an application, as text or in the binary form of LogGOPSim and ATLAHS.
//
// Text: `num_ranks n`, then for each rank `rank r {`, lines, `}`. A line is
//   [label:] send <bytes>b to <rank> [tag t] [cpu c] [nic k]
//   [label:] recv <bytes>b from <rank> [tag t] [cpu c] [nic k]
//   [label:] calc <time> [cpu c]
//   label requires label      the first starts after the second has ended
//   label irequires label     the first starts after the second has started
// with comments as in C. Both forms are read rank by rank, so only the graph grows with the file.
//
// Rendezvous: the sender sends a request, a packet; the receiver sends an acknowledgement, a packet, when the
// request has come and the receive has started; then the message leaves. With an overhead, an eager send ends
// with its overhead, as in LogGOPSim.
//
// Sources: T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, LSAP 2010; spcl/LogGOPSim, spcl/atlahs.
// Deviation: the k-th receive of a channel is for the k-th send; LogGOPSim matches by the order in which
// receives are posted. LogGOPSim's S only ends a large send later, when the receive has started: its data
// leave at once, and no acknowledgement takes time. `nic` is read and not used: a host has one link.
#pragma once

#include <cstdint>
#include <string>

#include "core/time.hpp"
#include "traffic/graph.hpp"

namespace dragonfly {

struct GoalOptions {
  double calc_ps = 1000;             // a unit of `calc`
  double bytes_scale = 1;            // messages are so many times as large
  std::uint32_t ranks_per_host = 1;  // consecutive ranks, whose messages to each other take no time
  // LogGOPSim's o: a computation before each send and after each receive, on the stream of the message.
  TimePs overhead_ps = 0;
  static constexpr std::uint64_t kEager = ~std::uint64_t{0};
  // LogGOPSim's S: messages of more bytes in the file are sent by rendezvous.
  std::uint64_t rendezvous_bytes = kEager;
};

// Throws ConfigError, naming file and line: for what is not GOAL, and for what GraphBuilder refuses.
[[nodiscard]] Graph read_goal(const std::string& path, const GoalOptions& options);

}  // namespace dragonfly
