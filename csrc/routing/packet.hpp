// A packet on its way: one cache line.
#pragma once

#include <cstdint>

#include "core/ids.hpp"
#include "core/timing_wheel.hpp"

namespace dragonfly {

inline constexpr std::uint32_t kNil = 0xffffffffU;
inline constexpr std::uint16_t kNoGroup = 0xffff;

// What the packet is doing with respect to its non-minimal path.
enum class Plan : std::uint8_t {
  kMinimal,     // straight to the destination
  kByGateway,   // the same, but out of the source group by the router `detour_router`, near or not
  kToDetour,    // heading for its intermediate router (or any router of its intermediate group)
  kFromDetour,  // the non-minimal path is behind it
  kRouted,      // the routers to pass are prescribed by the traffic source
};

// The first part of a non-minimal path, named as in LIA (section 2.2.1).
enum class DetourKind : std::uint8_t {
  kLgl,  // to a random router of another group ("Valiant-node")
  kLg,   // to a random group, whichever router it is entered by ("Valiant-group")
  kGl,   // through one of the source router's own global links, then to a random router there
  kG,    // through one of the source router's own global links
  kL,    // inside a group: to a random router of the group that the packet has just entered
};

// The path that a packet took, for logs: 0 minimal, 1 + DetourKind, kPrescribedPath for a route of a trace
// that is not minimal.
inline constexpr std::uint8_t kPrescribedPath = 6;

struct alignas(64) Packet {
  std::uint32_t next = kNil;  // the list it is in; on a link: the input VC it is heading for
  std::uint32_t source_host = kNil;
  std::uint32_t number = 0;  // k-th packet of its source host; (source_host, number) is the packet id
  std::uint32_t destination_host = kNil;
  std::uint32_t destination_router = kNil;
  std::uint32_t detour_router = kNil;  // kByGateway: the gateway; kRouted: offset of its route in the table
  // Low bits of the instant at which the crossbar has let it through; before that, at its source router, how
  // often it has decided anew.
  std::uint32_t output_ready = 0;
  std::uint16_t destination_group = kNoGroup;
  std::uint16_t detour_group = kNoGroup;  // kRouted: routers on the route
  Tick created = 0;                       // entered its source queue
  Tick injected = 0;                      // left its source queue
  Tick arrived = 0;                       // reached the present router (after its input latency)
  Port out_port = kNoPort;                // the decision taken at the present router
  std::uint8_t out_vc = 0;
  std::uint8_t vc = 0;    // the VC it occupies
  std::uint8_t hops = 0;  // links between routers so far
  Plan plan = Plan::kMinimal;
  DetourKind detour_kind = DetourKind::kLgl;
  bool non_minimal = false;  // it was ever sent off the minimal path

  // Whether it goes straight to its destination, and may yet be sent on a non-minimal path.
  [[nodiscard]] bool goes_straight() const noexcept {
    return plan == Plan::kMinimal || plan == Plan::kByGateway;
  }
  // The kind of the last non-minimal path that it was sent on.
  [[nodiscard]] std::uint8_t path_kind() const noexcept {
    if (!non_minimal) return 0;
    return plan == Plan::kRouted ? kPrescribedPath
                                 : static_cast<std::uint8_t>(1U + static_cast<unsigned>(detour_kind));
  }
};
static_assert(sizeof(Packet) == 64);

}  // namespace dragonfly
