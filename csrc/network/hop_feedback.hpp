// Reports on hops for learning routers that chose them.
//
// The router that a packet reached computes the value that the previous router would have had to expect
// (RouteChoice::target_ns). The value waits in the packet until the packet leaves the buffer, and travels
// with the credit for its place there. Packets of learners take no non-minimal paths: the travel time, and
// then the report, use the fields of one.
#pragma once

#include <bit>
#include <cstdint>

#include "core/pick.hpp"
#include "network/partition_messages.hpp"
#include "routing/decision_context.hpp"
#include "routing/learning.hpp"

namespace dragonfly {

// Call when the packet reaches a buffer, before `arrived` is updated.
inline void note_travel(Packet& packet, Tick now) noexcept {
  packet.intermediate_router = low_of(now) - packet.arrived;
}
// Call when the packet's decision there was made.
inline void note_report(Packet& packet, bool reports, float target_ns) noexcept {
  packet.intermediate_group = pick(reports, std::uint16_t{0}, kNoGroup);
  packet.intermediate_router =
      pick(reports, std::bit_cast<std::uint32_t>(target_ns), packet.intermediate_router);
}
// Notes an arrival without a learner's decision: a packet comes into its destination group, or goes on inside
// it.
inline void note_arrival(Packet& packet, const LearningPolicy& learner, bool arrived_on_global,
                         TimePs quantum_ps) noexcept {
  if (packet.plan != Plan::kMinimal) return;
  note_report(packet, arrived_on_global, learner.arrival_ns(packet, quantum_ps));
}
// Call when the packet leaves the buffer that it reached from a router of `group`.
[[nodiscard]] inline Feedback report_of(const LearningPolicy& learner, const Packet& packet,
                                        std::uint32_t group) noexcept {
  const bool reports =
      (std::uint32_t{packet.intermediate_group == 0} & std::uint32_t{packet.plan == Plan::kMinimal}) != 0;
  const std::uint32_t row = learner.row_of(packet, group);  // meaningless without a report
  return {pick(reports, row, kNil), std::bit_cast<float>(pick(reports, packet.intermediate_router, 0U))};
}

}  // namespace dragonfly
