// Where all packets of a network live. A packet that crosses to another partition stays where it is;
// only its index travels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "core/reserved_array.hpp"
#include "routing/packet.hpp"
#include "traffic/program.hpp"

namespace dragonfly {

// The routers that a packet has passed, with a packet log.
struct PathRecord {
  static constexpr std::uint32_t kLongest = 31;
  std::uint32_t length = 0;
  std::array<std::uint32_t, kLongest> routers{};
};

// The message that a packet is a part of, with programs on hosts.
struct MessagePart {
  std::uint32_t number = 0;   // k-th message of its source host
  std::uint32_t tag = 0;      // the sender's
  std::uint32_t packets = 0;  // of the whole message; 0: of an open-loop source, which nobody waits for
  std::uint8_t policy = 0;    // who decides for it: Blueprint::deciders
  Lane lane{};                // of its job: Job::policies
  Tick sent = 0;              // given to the source queue
};

class PacketStore {
 public:
  // `capacity`: packets that can exist at once.
  PacketStore(std::uint32_t capacity, bool with_paths, bool with_messages)
      : capacity_{capacity + kBlock},
        packets_{capacity_},
        paths_{with_paths ? capacity_ : 0U},
        messages_{with_messages ? capacity_ : 0U} {}

  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] Packet* packets() const noexcept { return packets_.data(); }
  [[nodiscard]] PathRecord* paths() const noexcept { return paths_.data(); }
  [[nodiscard]] MessagePart* messages() const noexcept { return messages_.data(); }

  // Indices that a partition keeps although no packet of it uses them; more go back.
  static constexpr std::uint32_t kMostUnused = 512;

  // Adds a block of unused indices to a partition's list. Thread-safe.
  void refill(std::vector<std::uint32_t>& free) {
    const std::scoped_lock lock{mutex_};
    if (!returned_.empty()) {
      const auto block = static_cast<std::ptrdiff_t>(std::min<std::size_t>(kBlock, returned_.size()));
      free.insert(free.end(), returned_.end() - block, returned_.end());
      returned_.resize(returned_.size() - static_cast<std::size_t>(block));
      return;
    }
    if (used_ > capacity_ - kBlock) throw std::bad_alloc{};
    for (std::uint32_t i = kBlock; i > 0; --i) free.push_back(used_ + i - 1);
    used_ += kBlock;
  }

  // Where more packets end than begin, indices pile up; others need them. Thread-safe.
  void give_back(std::vector<std::uint32_t>& free) {
    if (free.size() <= kMostUnused) return;
    constexpr std::ptrdiff_t kKeep = kMostUnused / 2;
    const std::scoped_lock lock{mutex_};
    returned_.insert(returned_.end(), free.begin() + kKeep, free.end());
    free.resize(kKeep);
  }

 private:
  static constexpr std::uint32_t kBlock = 64;

  std::uint32_t capacity_;
  ReservedArray<Packet> packets_;
  ReservedArray<PathRecord> paths_;
  ReservedArray<MessagePart> messages_;
  std::mutex mutex_;
  std::uint32_t used_ = 0;
  std::vector<std::uint32_t> returned_;
};

}  // namespace dragonfly
