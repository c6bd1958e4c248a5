// Noticing that packets are stuck.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "network/head_progress_monitor.hpp"
#include "network/partition.hpp"

namespace dragonfly {

// Called from time to time. A packet that waits long is not stuck: in a saturated network the queue in front
// of a popular host grows with the number of hosts. Two things are certain, though:
//   a circle     heads of input VCs that did not move since the last time, each waiting for room in a
//                buffer whose head is the next one. None of them can ever move (Dally and Seitz 1987).
//   standstill   nothing moved anywhere since the last time, although packets are in the network.
// The time between two calls must exceed a credit round trip.
class Watchdog {
 public:
  // A report, or an empty string if there is no such thing.
  [[nodiscard]] std::string check(std::span<const Partition> partitions);
  // Archives the watch over these partitions.
  void archive(Archive& archive, std::span<const Partition> partitions);

 private:
  void watch(std::span<const Partition> partitions);

  std::vector<HeadProgressMonitor> heads_;  // [partition]
  std::uint64_t progress_ = 0;              // a count of everything that moves, at the last call
  bool started_ = false;
};

}  // namespace dragonfly
