// The state of a router's output ports: written by the network, read by routing.
//
// A port and the queues of its VCs lie in one block of one or more cache lines: a reader of the port reads
// one of the queues next.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "core/archive.hpp"
#include "core/ids.hpp"
#include "core/large_pages.hpp"
#include "core/time.hpp"

namespace dragonfly {

// A VC of an output port: its queue (intrusive list) and the credits for the buffer behind it.
struct VcQueue {
  std::uint32_t head = kNil;
  std::uint32_t tail = kNil;
  std::uint16_t queued = 0;   // packets in this queue
  std::uint16_t credits = 0;  // packets that still fit into the buffer downstream
};
static_assert(sizeof(VcQueue) == 12);

struct alignas(8) OutputPort {
  Tick timer_end = -1;          // the link is taken (or its timer runs) until then
  std::uint64_t sent = 0;       // packets, since the last reset of the statistics
  std::uint32_t occupancy = 0;  // packets in its queues + credits in use
  std::uint32_t queued = 0;     // packets in all its queues
  std::uint32_t peer = kNil;    // first input VC of the port at the far end (in the peer's partition)
  std::uint16_t peer_partition = 0;
  std::uint16_t sendable = 0;  // bit v: VC v has a packet, and a credit if it needs one to leave
  std::uint16_t waiting = 0;   // bit v: some input VC waits for room in VC v
  std::uint16_t next_vc = 0;   // round-robin pointer; a pointer behind the last VC means the first one
  std::uint8_t vcs = 0;
  LinkClass link_class = LinkClass::kHost;
  bool scheduled = false;     // a departure is planned
  bool blocked : 1 = false;   // has packets but no credit
  bool degraded : 1 = false;  // carries a share of the rate of its class

  [[nodiscard]] VcQueue* queues() noexcept { return reinterpret_cast<VcQueue*>(this + 1); }
  [[nodiscard]] const VcQueue* queues() const noexcept { return reinterpret_cast<const VcQueue*>(this + 1); }

  // Packets sent through the port whose credit is not back.
  [[nodiscard]] std::uint32_t credits_in_use() const noexcept { return occupancy - queued; }

  // The first sendable VC from next_vc on, round the circle. Precondition: there is a sendable VC.
  [[nodiscard]] std::uint32_t first_sendable() const noexcept {
    const std::uint32_t behind = static_cast<std::uint32_t>(sendable) >> next_vc << next_vc;
    return static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : std::uint32_t{sendable}));
  }
};
static_assert(sizeof(OutputPort) == 40);

// The ports of one router, or some of them: [port].
class RouterPorts {
 public:
  RouterPorts() = default;
  RouterPorts(const std::byte* first, std::uint32_t block_shift) : first_{first}, block_shift_{block_shift} {}

  [[nodiscard]] const OutputPort& operator[](std::size_t port) const noexcept {
    return *reinterpret_cast<const OutputPort*>(first_ + (port << block_shift_));
  }
  [[nodiscard]] RouterPorts from(std::size_t port) const noexcept {
    return {first_ + (port << block_shift_), block_shift_};
  }

 private:
  const std::byte* first_ = nullptr;
  std::uint32_t block_shift_ = 0;
};

// All ports of some routers. The id of a port is its router, shifted by router_shift_, and its number.
class PortBlocks {
 public:
  PortBlocks(std::uint32_t routers, std::uint32_t radix, std::uint32_t vcs)
      : block_shift_{shift_of(vcs)},
        router_shift_{static_cast<std::uint32_t>(std::bit_width(radix - 1U))},
        vcs_{vcs},
        lines_((std::size_t{routers} << router_shift_ << block_shift_) / sizeof(Line)) {
    for (std::uint32_t id = 0; id < size(); ++id) {
      auto* const port = new (at(id)) OutputPort{};
      for (std::uint32_t vc = 0; vc < vcs; ++vc) new (port->queues() + vc) VcQueue{};
    }
  }

  [[nodiscard]] static std::uint64_t bytes(std::uint32_t radix, std::uint32_t vcs) noexcept {
    return std::uint64_t{std::bit_ceil(radix)} << shift_of(vcs);
  }

  [[nodiscard]] std::uint32_t block_shift() const noexcept { return block_shift_; }
  // Number of ids; some ids have no port.
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(lines_.size() * sizeof(Line) >> block_shift_);
  }
  [[nodiscard]] OutputPort& operator[](std::uint32_t id) noexcept {
    return *reinterpret_cast<OutputPort*>(at(id));
  }
  [[nodiscard]] const OutputPort& operator[](std::uint32_t id) const noexcept {
    return *reinterpret_cast<const OutputPort*>(at(id));
  }
  [[nodiscard]] const OutputPort& port(std::uint32_t router, std::uint32_t port) const noexcept {
    return (*this)[router << router_shift_ | port];
  }
  [[nodiscard]] RouterPorts of_router(std::uint32_t router) const noexcept {
    return {at(router << router_shift_), block_shift_};
  }
  // The line of queue `vc`: in the block's first line, or behind it.
  [[nodiscard]] const std::byte* line_of(std::uint32_t id, std::uint32_t vc) const noexcept {
    return at(id) + sizeof(OutputPort) + vc * sizeof(VcQueue);
  }
  void archive(Archive& archive) {
    archive.block(reinterpret_cast<std::byte*>(lines_.data()), lines_.size() * sizeof(Line));
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64]{};
  };
  [[nodiscard]] static std::uint32_t shift_of(std::uint32_t vcs) noexcept {
    const std::size_t bytes = sizeof(OutputPort) + vcs * sizeof(VcQueue);
    return static_cast<std::uint32_t>(std::bit_width((bytes - 1) | (sizeof(Line) - 1)));
  }
  [[nodiscard]] std::byte* at(std::uint32_t id) noexcept {
    return reinterpret_cast<std::byte*>(lines_.data()) + (std::size_t{id} << block_shift_);
  }
  [[nodiscard]] const std::byte* at(std::uint32_t id) const noexcept {
    return reinterpret_cast<const std::byte*>(lines_.data()) + (std::size_t{id} << block_shift_);
  }

  std::uint32_t block_shift_;
  std::uint32_t router_shift_;
  std::uint32_t vcs_;
  SharedVector<Line> lines_;
};

}  // namespace dragonfly
