// Messages of several packets that have reached a host in part.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/archive.hpp"

namespace dragonfly {

// The number of arrived packets per (sender, message): open addressing with linear probing, never iterated in
// order. Grows when half full; an empty table takes no memory.
class MessageTable {
 public:
  // Counts a packet of a message of `packets`; returns whether the message is complete now, and removes it
  // then. `highest`: the last place in the message of the packets that have come, which `place` may raise.
  bool add(std::uint32_t sender, std::uint32_t number, std::uint32_t packets, std::uint32_t place,
           std::uint32_t& highest) {
    highest = place;
    if (packets == 1) return true;
    if (2 * (used_ + 1) > slots_.size()) grow();
    const std::uint64_t key = std::uint64_t{sender} << 32 | number;
    std::size_t at = find(key);
    if (slots_[at].arrived == 0) {
      slots_[at].key = key;
      ++used_;
    }
    highest = slots_[at].highest = std::max(slots_[at].highest, place);
    if (++slots_[at].arrived < packets) return false;
    remove(at);
    return true;
  }

  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  void archive(Archive& archive) {
    archive(slots_);
    if (!archive.reads()) return;
    used_ = 0;
    for (const Slot& slot : slots_) used_ += slot.arrived != 0 ? 1U : 0U;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t arrived = 0;  // 0: empty
    std::uint32_t highest = 0;
    void archive(Archive& archive) { archive(key, arrived, highest); }
  };

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  // Fibonacci hashing: the high bits of a product mix all bits of the key.
  [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> (64 - std::bit_width(mask())));
  }
  [[nodiscard]] std::size_t find(std::uint64_t key) const noexcept {
    std::size_t at = home(key);
    while (slots_[at].arrived != 0 && slots_[at].key != key) at = (at + 1) & mask();
    return at;
  }
  // Moves later entries up, so that no probe ends too early.
  void remove(std::size_t hole) {
    --used_;
    for (std::size_t at = (hole + 1) & mask(); slots_[at].arrived != 0; at = (at + 1) & mask()) {
      if (((at - home(slots_[at].key)) & mask()) < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = Slot{};
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.arrived != 0) slots_[find(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace dragonfly
