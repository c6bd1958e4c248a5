// The memory of a network before its first packet.
#pragma once

#include <cstdint>

#include "network/blueprint.hpp"

namespace dragonfly {

struct MemoryNeed {
  std::uint64_t routers = 0;        // ports, queues and buffers, bytes
  std::uint64_t hosts = 0;          // hosts without their source queues
  std::uint64_t source_queues = 0;  // bounded ones
  std::uint64_t partitions = 0;     // queues of events, messages between partitions, counters
  std::uint64_t tables = 0;         // tables of a learner
  std::uint64_t trackers = 0;       // counters of policies and features, without records made during the run
  std::uint64_t decisions = 0;      // tables behind the rows that policies or environments are shown
  [[nodiscard]] std::uint64_t total() const noexcept {
    return routers + hosts + source_queues + partitions + tables + trackers + decisions;
  }
};

[[nodiscard]] MemoryNeed memory_need(const Blueprint& plan) noexcept;

// Throws ConfigError when the network would not fit into this machine: the system would hand the
// memory out all the same, and kill the process when it is used.
void require_memory(const Blueprint& plan);

}  // namespace dragonfly
