// The rows that leave the core next to the observations.
#pragma once

#include <cstdint>

#include "core/archive.hpp"
#include "core/time.hpp"

namespace dragonfly {

// Integer facts of a decision's packet.
struct PacketFacts {
  double created_ns = 0;
  double arrived_ns = 0;
  std::uint32_t source_host = 0;
  std::uint32_t destination_host = 0;
  std::uint32_t number = 0;
  std::uint32_t source_router = 0;
  std::uint32_t destination_router = 0;
  std::uint16_t destination_group = 0;
  std::int16_t input_port = 0;
  std::int16_t minimal_action = 0;  // always legal
  std::uint8_t hops = 0;
  std::uint8_t vc = 0;
  bool minimal = true;  // never sent off the minimal path so far
  std::uint8_t unused[3] = {};
  static constexpr bool kArchivedWhole = true;
};
static_assert(sizeof(PacketFacts) == 48);

// A decision that was made and whose outcome is still open.
struct alignas(32) OpenDecision {
  std::int64_t id = -1;
  Tick time = 0;
  std::int32_t agent = 0;
  std::int32_t action = 0;
  std::uint32_t feedback_delay = 0;  // time from the far end of the chosen link back to the router
  std::uint32_t open = 0;            // number of open decisions of a packet, kept in the first one
  static constexpr bool kArchivedWhole = true;
};
static_assert(sizeof(OpenDecision) == 32);

// A decision with its outcome.
struct CompletedDecision {
  std::int64_t id = -1;
  std::int64_t next_id = -1;  // -1: none, the packet was delivered, or the episode has ended
  Tick time = 0;              // time of the decision
  Tick leg = 0;               // time from the decision to its end; minus the reward is proportional to it
  Tick feedback = 0;          // time at which the router receives the reward
  std::int32_t agent = 0;
  std::int32_t action = 0;
  std::int32_t next_agent = -1;
  std::int32_t truncated = 0;  // 1: the episode ended before the decision did
  static constexpr bool kArchivedWhole = true;
};

// The outcome of a decision alone, without the observations of a transition.
struct DecisionOutcome {
  std::int64_t id = -1;
  std::int64_t next_id = -1;  // -1: none, the packet was delivered, or the episode has ended
  Tick leg = 0;               // time from the decision to its end
  std::int32_t agent = 0;
  std::int32_t truncated = 0;  // 1: the episode ended before the decision did
  static constexpr bool kArchivedWhole = true;
};

// A hop, as it is reported to the router that chose it (hop_reports.hpp).
struct HopReport {
  std::int64_t id = -1;       // id of the decision
  std::int64_t next_id = -1;  // the next router's decision for the packet; -1: none
  Tick travel = 0;            // time from the input buffer of the router to that of the next router
  Tick when = 0;              // the report arrives
  std::int32_t agent = 0;
  std::int32_t port = 0;  // port that the packet left through, numbered as port actions are
  static constexpr bool kArchivedWhole = true;
};

// A packet's data for the next report on a hop.
struct HopNote {
  LowTick arrived = 0;  // time of arrival in the input buffer of the router before
  bool chosen = false;  // whether the router before raised a decision for the packet
  bool raised = false;  // whether the present router has
  void archive(Archive& archive) { archive(arrived, chosen, raised); }
};

// Identifies a decision in every batching: a packet has at most one decision per router on its path.
[[nodiscard]] constexpr std::int64_t decision_id(std::uint32_t source_host, std::uint32_t number,
                                                 std::uint32_t hops) noexcept {
  return static_cast<std::int64_t>(std::uint64_t{source_host} << 40 | std::uint64_t{number} << 8 | hops);
}
[[nodiscard]] constexpr std::uint32_t host_of_decision(std::int64_t id) noexcept {
  return static_cast<std::uint32_t>(id >> 40);
}

}  // namespace dragonfly
