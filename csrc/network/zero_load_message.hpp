// The time of a message that is alone in the network.
#pragma once

#include <cstdint>

#include "core/time.hpp"
#include "network/blueprint.hpp"

namespace dragonfly {

// The first packet passes every part of a minimal path in full, and waits for the next clock edge behind each
// part; the others follow it at the pace of the slowest part. A packet alone: exact. Several: exact where the
// pace is a multiple of the clock, else within a clock per hop.
class ZeroLoadMessage {
 public:
  explicit ZeroLoadMessage(const Blueprint& plan) noexcept : plan_{plan} {}

  // From `begun`, when the message enters an empty source queue, to its last bit at the destination.
  [[nodiscard]] Tick ticks(std::uint32_t source, std::uint32_t destination, std::uint32_t packets,
                           Tick begun) const noexcept;

 private:
  const Blueprint& plan_;
};

}  // namespace dragonfly
