// A packet: half a cache line of fields that routers read, and its times in a separate record.
#pragma once

#include <cstdint>

#include "core/archive.hpp"
#include "core/ids.hpp"
#include "core/time.hpp"

namespace dragonfly {

inline constexpr std::uint16_t kNoGroup = 0xffff;

// The state of the packet's non-minimal path.
enum class Plan : std::uint8_t {
  kMinimal,         // straight to the destination
  kByGateway,       // straight, but out of the source group by the router `intermediate_router`, near or not
  kToIntermediate,  // heading for its intermediate router (or any router of its intermediate group)
  kFromIntermediate,  // the non-minimal part of the path is completed
  kRouted,            // the routers to pass are prescribed by the traffic source
};

// The first part of a non-minimal path, named as in LIA (section 2.2.1).
enum class NonMinimalKind : std::uint8_t {
  kLgl,  // to a random router of another group ("Valiant-node")
  kLg,   // to a random group, whichever router it is entered by ("Valiant-group")
  kGl,   // through one of the source router's own global links, then to a random router there
  kG,    // through one of the source router's own global links
  kL,    // inside a group: to a random router of the group that the packet has just entered
};

// The path that a packet took, for logs: 0 minimal, 1 + NonMinimalKind, kPrescribedPath for a route of a
// trace that is not minimal.
inline constexpr std::uint8_t kPrescribedPath = 6;

struct alignas(32) Packet {
  std::uint32_t source_host = kNil;
  std::uint32_t number = 0;  // k-th packet of its source host; (source_host, number) is the packet id
  std::uint32_t destination_host = kNil;
  std::uint32_t destination_router = kNil;
  std::uint32_t intermediate_router =
      kNil;  // kByGateway: the gateway; kRouted: offset of its route in the table
  std::uint16_t destination_group = kNoGroup;
  std::uint16_t intermediate_group = kNoGroup;  // kRouted: routers on the route
  LowTick arrived = 0;                          // reached the present router (after its input latency)
  std::uint8_t hops = 0;                        // links between routers so far
  std::uint8_t attempts = 0;                    // number of new decisions of its source router
  Plan plan : 4 = Plan::kMinimal;
  NonMinimalKind nonminimal_kind : 4 = NonMinimalKind::kLgl;
  bool non_minimal = false;  // it was ever sent off the minimal path

  // Whether it goes straight to its destination, and may yet be sent on a non-minimal path.
  [[nodiscard]] bool is_on_minimal_plan() const noexcept {
    return plan == Plan::kMinimal || plan == Plan::kByGateway;
  }
  // The kind of the last non-minimal path that it was sent on.
  [[nodiscard]] std::uint8_t path_kind() const noexcept {
    if (!non_minimal) return 0;
    return plan == Plan::kRouted ? kPrescribedPath
                                 : static_cast<std::uint8_t>(1U + static_cast<unsigned>(nonminimal_kind));
  }
  static constexpr bool kArchivedWhole = true;
};
static_assert(sizeof(Packet) == 32);

// Fields that only deliveries, and a few decisions, read.
struct PacketTimes {
  Tick created = 0;   // entered its source queue
  Tick injected = 0;  // left its source queue
  static constexpr bool kArchivedWhole = true;
};

}  // namespace dragonfly
