// Reports to learning routers: one line per link, against its direction, in step with the credits.
//
// Every credit of a link brings one entry, possibly empty. The entry is written by the router that sends the
// credit and read by the one that gets it, at least one link latency later; so the two may work at the same
// time in different partitions, and a line needs no more room than there are credits under way.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/reserved_array.hpp"
#include "network/blueprint.hpp"

namespace dragonfly {

struct Feedback {
  std::uint32_t key = kNil;  // kNil: nothing to report
  float target_ns = 0;
};

class FeedbackLines {
 public:
  explicit FeedbackLines(const Blueprint& plan)
      : first_port_{plan.topology.p()},
        first_global_{plan.topology.first_global_port()},
        locals_{first_global_ - first_port_},
        room_{1U, std::bit_ceil(plan.vcs[1] * plan.input_buffer[1] + 1U),
              std::bit_ceil(plan.vcs[2] * plan.input_buffer[2] + 1U)},
        per_router_{std::size_t{locals_} * room_[1] + std::size_t{plan.topology.h()} * room_[2]},
        entries_{plan.learner != nullptr ? per_router_ * plan.topology.num_routers() : 0U} {}

  // The line back to `port` of `router`; `count`: entries before this one.
  [[nodiscard]] Feedback& entry(std::uint32_t router, Port port, std::uint32_t count) noexcept {
    const bool global = port >= first_global_;
    const std::uint32_t room = room_[global ? 2 : 1];
    const std::size_t line = global
                                 ? std::size_t{locals_} * room_[1] + std::size_t{port - first_global_} * room
                                 : std::size_t{port - first_port_} * room;
    return entries_.data()[router * per_router_ + line + (count & (room - 1U))];
  }

 private:
  std::uint32_t first_port_;
  std::uint32_t first_global_;
  std::uint32_t locals_;
  std::array<std::uint32_t, 3> room_;
  std::size_t per_router_;
  ReservedArray<Feedback> entries_;
};

}  // namespace dragonfly
