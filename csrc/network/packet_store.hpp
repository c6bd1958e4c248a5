// Where all packets of a network live. A packet that crosses to another partition stays where it is;
// only its index travels.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "core/reserved_array.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// The routers that a packet has passed, with a packet log.
struct PathRecord {
  static constexpr std::uint32_t kLongest = 31;
  std::uint32_t length = 0;
  std::array<std::uint32_t, kLongest> routers{};
};

class PacketStore {
 public:
  // `capacity`: packets that can exist at once.
  PacketStore(std::uint32_t capacity, bool with_paths)
      : capacity_{capacity + kBlock}, packets_{capacity_}, paths_{with_paths ? capacity_ : 0U} {}

  [[nodiscard]] Packet* packets() const noexcept { return packets_.data(); }
  [[nodiscard]] PathRecord* paths() const noexcept { return paths_.data(); }

  // Adds a block of unused indices to a partition's list. Thread-safe.
  void refill(std::vector<std::uint32_t>& free) {
    const std::uint32_t first = used_.fetch_add(kBlock, std::memory_order_relaxed);
    if (first > capacity_ - kBlock) throw std::bad_alloc{};
    for (std::uint32_t i = kBlock; i > 0; --i) free.push_back(first + i - 1);
  }

 private:
  static constexpr std::uint32_t kBlock = 64;

  std::uint32_t capacity_;
  ReservedArray<Packet> packets_;
  ReservedArray<PathRecord> paths_;
  std::atomic<std::uint32_t> used_{0};
};

}  // namespace dragonfly
