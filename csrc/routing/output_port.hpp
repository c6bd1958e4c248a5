// The state of a router's output port, as the network keeps it and as routing may read it.
#pragma once

#include <bit>
#include <cstdint>

#include "core/ids.hpp"
#include "core/timing_wheel.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// One VC of an output port: its queue (intrusive list) and the credits for the buffer behind it.
struct VcQueue {
  std::uint32_t head = kNil;
  std::uint32_t tail = kNil;
  std::uint16_t queued = 0;              // packets in this queue
  std::uint16_t credits = 0;             // packets that still fit into the buffer downstream
  std::uint16_t first_waiting = 0xffff;  // input VCs of the router that wait for room (list)
  std::uint16_t buffer = 0;              // size of the buffer downstream, packets
};

struct alignas(64) OutputPort {
  Tick timer_end = -1;          // the link is taken (or its timer runs) until then
  Tick crossbar_free = 0;       // the crossbar can pass the next packet to this port from then
  Tick blocked_since = -1;      // has packets but no credit since then; -1: not blocked
  std::uint64_t sent = 0;       // packets, since the last reset of the statistics
  Tick stalled = 0;             // time spent blocked, since the last reset
  std::uint32_t occupancy = 0;  // packets in its queues + credits in use
  std::uint32_t router = 0;     // whose port it is, within the partition
  std::uint32_t peer = kNil;    // first input VC of the port at the far end (in the peer's partition)
  std::uint32_t queued = 0;     // packets in all its queues
  std::uint16_t peer_partition = 0;
  std::uint8_t vcs = 0;
  std::uint8_t next_vc = 0;  // round-robin pointer
  LinkClass link_class = LinkClass::kHost;
  bool scheduled = false;      // a departure is on the wheel
  std::uint16_t sendable = 0;  // bit v: VC v has a packet, and a credit if it needs one to leave

  // The first sendable VC from next_vc on, round the circle. Precondition: there is one.
  [[nodiscard]] std::uint32_t first_sendable() const noexcept {
    const std::uint32_t behind = static_cast<std::uint32_t>(sendable) >> next_vc << next_vc;
    return static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : std::uint32_t{sendable}));
  }
};
static_assert(sizeof(OutputPort) == 64);

}  // namespace dragonfly
