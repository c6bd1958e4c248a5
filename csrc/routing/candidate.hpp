// A path that a router may choose for a packet, as an observation shows it.
#pragma once

#include <cstdint>

#include "routing/path_follower.hpp"

namespace dragonfly {

// kind: -1 does not exist, 0 minimal, then 1 + NonMinimalKind.
struct Candidate {
  std::int8_t kind = -1;
  std::int8_t hops = 0;  // hops from here to the destination router
  std::int16_t port = -1;
  std::int32_t occupancy = 0;     // packets, of the first port
  std::int32_t vc_occupancy = 0;  // packets, of the VC that it would use there
  std::int32_t vc_queued = 0;     // packets, of that VC's output queue alone
  std::int32_t intermediate_group = -1;
  std::int32_t intermediate_router = -1;  // kind 0: the gateway out of the group, where any may be drawn
  std::int32_t minimal_choice = 0;        // number of the path among the shortest ones
  static constexpr bool kArchivedWhole = true;
};
static_assert(sizeof(Candidate) == 28);

// The non-minimal path of a candidate path that takes one.
[[nodiscard]] inline NonMinimalPath nonminimal_of(const Candidate& candidate) noexcept {
  return {.kind = static_cast<NonMinimalKind>(candidate.kind - 1),
          .router = candidate.intermediate_router < 0
                        ? kNil
                        : static_cast<std::uint32_t>(candidate.intermediate_router),
          .group = static_cast<std::uint16_t>(candidate.intermediate_group)};
}

// The gateway of a minimal candidate path.
[[nodiscard]] inline std::uint32_t gateway_of(const Candidate& candidate) noexcept {
  return candidate.intermediate_router < 0 ? kNil : static_cast<std::uint32_t>(candidate.intermediate_router);
}

}  // namespace dragonfly
