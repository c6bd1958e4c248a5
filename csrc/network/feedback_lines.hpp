// Reports to learning routers: one line per link, against its direction, in step with the credits.
//
// Every credit of a link brings one entry, possibly empty. The entry is written by the router that sends the
// credit and read by the one that gets it, at least one link latency later; so the two may work at the same
// time in different partitions, and a line needs no more room than there are credits under way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/reserved_array.hpp"
#include "network/blueprint.hpp"

namespace dragonfly {

struct Feedback {
  std::uint32_t row = kNil;  // of the reader's table; kNil: nothing to report
  float target_ns = 0;
};

// One end of a line: where the next entry is, and who reads it.
struct FeedbackEnd {
  Feedback* entries = nullptr;
  std::uint32_t mask = 0;    // entries of the line - 1
  std::uint32_t count = 0;   // entries written or read so far at this end
  std::uint32_t router = 0;  // the reader: reports are about packets that left it through `port`
  Port port = kNoPort;
  std::uint16_t group = 0;  // of the reader

  [[nodiscard]] Feedback& next() const noexcept { return entries[count & mask]; }
};

class FeedbackLines {
 public:
  explicit FeedbackLines(const Blueprint& plan)
      : first_port_{plan.topology.p()},
        per_router_{bytes_per_router(plan) / sizeof(Feedback)},
        entries_{plan.learner != nullptr ? per_router_ * plan.topology.num_routers() : 0U} {
    std::uint32_t begin = 0;
    for (Port port = plan.topology.first_local_port(); port < plan.topology.radix(); ++port) {
      lines_.push_back({begin, room(plan, port)});
      begin += lines_.back().room;
    }
  }

  [[nodiscard]] static std::size_t bytes_per_router(const Blueprint& plan) noexcept {
    std::size_t entries = 0;
    for (Port port = plan.topology.first_local_port(); port < plan.topology.radix(); ++port) {
      entries += room(plan, port);
    }
    return entries * sizeof(Feedback);
  }

  // An end of the line back to `port` of `router`, which is in `group`.
  [[nodiscard]] FeedbackEnd end(std::uint32_t router, Port port, std::uint32_t group) noexcept {
    const Line& line = lines_[port - first_port_];
    return {.entries = entries_.data() + router * per_router_ + line.begin,
            .mask = line.room - 1U,
            .router = router,
            .port = port,
            .group = static_cast<std::uint16_t>(group)};
  }

 private:
  struct Line {
    std::uint32_t begin = 0;  // among the entries of a router
    std::uint32_t room = 0;
  };

  // No more credits are under way than there are places in the buffer, nor than clock edges bring in the time
  // that a credit takes, and between partitions in the window by which the writer may be ahead.
  [[nodiscard]] static std::uint32_t room(const Blueprint& plan, Port port) noexcept {
    const std::size_t i = index_of(plan.topology.port_class(port));
    const Tick ahead = plan.topology.is_global(port) ? plan.window : 0;
    const Tick edges = (plan.timing.credit_delay[i] + ahead) / plan.timing.clock + 2;
    return static_cast<std::uint32_t>(std::bit_ceil(
        static_cast<std::uint64_t>(std::min<Tick>(plan.vcs[i] * plan.input_buffer[i] + 1, edges))));
  }

  std::uint32_t first_port_;
  std::vector<Line> lines_;  // [port - first_port]
  std::size_t per_router_;
  ReservedArray<Feedback> entries_;
};

}  // namespace dragonfly
