// The input side of a router, its allocator state, and the hosts in front of it.
#pragma once

#include <cstdint>

#include "core/ids.hpp"
#include "core/timing_wheel.hpp"
#include "routing/packet.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

inline constexpr std::uint16_t kNoInputVc = 0xffff;

enum class HeadState : std::uint8_t {
  kNone,      // the buffer is empty
  kDeciding,  // its head has no decision yet, or the decision has not taken effect
  kReady,     // its head asks for the crossbar at every clock edge
  kWaiting,   // its head waits until there is room behind the crossbar
};

// One VC buffer of an input port.
struct alignas(32) InputVc {
  std::uint32_t head = kNil;
  std::uint32_t tail = kNil;
  std::uint32_t last_served = 0;  // stamp of its last grant, see RouterPorts::clock_edge
  std::uint32_t router = 0;       // within the partition
  std::uint16_t queued = 0;
  std::uint16_t port = 0;
  std::uint16_t index = 0;  // within the router
  std::uint16_t next_waiting = kNoInputVc;
  Port out_port = kNoPort;  // where its head goes, once the decision has taken effect
  std::uint8_t out_vc = 0;
  std::uint8_t vc = 0;
  HeadState state = HeadState::kNone;
};
static_assert(sizeof(InputVc) == 32);

struct InputPort {
  Tick crossbar_free = 0;         // it can send the next packet through the crossbar from then
  std::uint32_t upstream = kNil;  // sender whose credits this buffer is: see partition_state.hpp, kVcBits
  std::uint16_t upstream_partition = 0;
  LinkClass link_class = LinkClass::kHost;
};

// What an input port counts: the time in which at least one of its heads waits for room behind the crossbar.
// Kept apart from InputPort, which every packet touches; this one only those that find no room.
struct InputStall {
  Tick since = 0;             // since when, if some head waits
  Tick stalled = 0;           // before that, since the last reset
  std::uint32_t waiting = 0;  // heads that wait now
  [[nodiscard]] Tick until(Tick now) const noexcept { return stalled + (waiting > 0 ? now - since : 0); }
};

struct RouterState {
  Tick next_edge = -1;       // the clock edge at which the allocator will look; -1: none planned
  std::uint32_t served = 0;  // highest stamp of a grant so far
  std::uint16_t ready = 0;   // input VCs that ask for the crossbar
};

enum class HostState : std::uint8_t {
  kSilent,      // no further message
  kGenerating,  // the next packet enters the source queue at `wake`
  kSending,     // its port sends at `wake`
  kBlocked,     // has a packet, but no credit
};

struct HostSender {
  SourceCursor cursor{};
  Tick entered = 0;  // when the packet that is sent next entered the source queue
  Tick timer_end = -1;
  std::uint64_t number = 0;  // packets sent so far
  std::uint32_t left = 0;    // packets of the current message not yet sent
  std::uint32_t credits = 0;
  HostId destination{};            // of the current message
  std::uint32_t route_offset = 0;  // its prescribed route
  std::uint16_t route_length = 0;
  HostState state = HostState::kSilent;
};

}  // namespace dragonfly
