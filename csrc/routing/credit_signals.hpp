// Signals to the router before: one message with every credit of a link, against its direction. (The other
// kind, inside a group: group_signals.hpp.)
//
// Every credit brings one message, possibly an empty one. It is written by the router that sends the credit
// and read by the one that gets it, at least one link latency later; so the two may work at the same time in
// different partitions, and a line needs no more room than there are credits under way. No event, no
// allocation, no lock.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/reserved_array.hpp"

namespace dragonfly {

template <class Message>
class CreditSignals {
 public:
  // One end of the line of a link. Both ends count, so they agree on which message is the next one.
  struct End {
    Message* line = nullptr;
    std::uint32_t mask = 0;   // messages on the line - 1
    std::uint32_t count = 0;  // messages written or read so far at this end

    [[nodiscard]] Message& next() const noexcept { return line[count & mask]; }
    void advance() noexcept { ++count; }
  };

  // `most_under_way`: credits on the way to each port of a router, by port; 0: the port has no line.
  CreditSignals(std::uint32_t num_routers, std::span<const std::uint64_t> most_under_way)
      : per_router_{bytes_per_router(most_under_way) / sizeof(Message)},
        messages_{per_router_ * num_routers} {
    std::uint32_t begin = 0;
    for (const std::uint64_t most : most_under_way) {
      lines_.push_back({begin, room_for(most)});
      begin += lines_.back().room;
    }
  }

  [[nodiscard]] static std::size_t bytes_per_router(std::span<const std::uint64_t> most_under_way) noexcept {
    std::size_t messages = 0;
    for (const std::uint64_t most : most_under_way) messages += room_for(most);
    return messages * sizeof(Message);
  }

  // An end of the line back to `port` of `router`.
  [[nodiscard]] End end(std::uint32_t router, std::uint32_t port) noexcept {
    const Line& line = lines_[port];
    return {.line = messages_.data() + router * per_router_ + line.begin, .mask = line.room - 1U};
  }

 private:
  struct Line {
    std::uint32_t begin = 0;  // among the messages of a router
    std::uint32_t room = 0;
  };
  [[nodiscard]] static std::uint32_t room_for(std::uint64_t most) noexcept {
    return most == 0 ? 0U : static_cast<std::uint32_t>(std::bit_ceil(most));
  }

  std::vector<Line> lines_;  // [port]
  std::size_t per_router_;
  ReservedArray<Message> messages_;
};

}  // namespace dragonfly
