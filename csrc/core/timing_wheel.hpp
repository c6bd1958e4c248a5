// A wheel of time slots. Each slot holds one list of 32-bit items per kind of event.
//
// The lists of a slot are drained kind by kind, in the order of the enumeration; nothing may depend
// on the order inside one list (network/partition.hpp says why nothing does).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragonfly {

// Simulated time in quanta: the greatest common divisor of all delays, so that every event falls
// exactly on a slot.
using Tick = std::int64_t;

template <std::size_t Kinds>
class TimingWheel {
 public:
  static constexpr std::uint32_t kItemsPerChunk = 16;
  // Items of a slot that glance() looks at, and how far ahead drain() does.
  static constexpr std::uint32_t kGlanced = kItemsPerChunk;

  // `horizon`: the longest delay between now and a pushed event, in quanta.
  explicit TimingWheel(Tick horizon)
      : size_{std::bit_ceil(static_cast<std::uint64_t>(horizon) + 2)},
        mask_{size_ - 1},
        slots_(size_ * Kinds),
        occupied_((size_ + 63) / 64, 0) {}

  [[nodiscard]] Tick horizon() const noexcept { return static_cast<Tick>(size_) - 2; }

  [[gnu::always_inline]] void push(std::size_t kind, Tick when, std::uint32_t item) {
    const std::uint64_t slot_index = static_cast<std::uint64_t>(when) & mask_;
    Slot& slot = slots_[slot_index * Kinds + kind];
    const std::uint32_t within = slot.count % kItemsPerChunk;
    if (within == 0) append_chunk(slot, slot_index);
    chunks_[slot.tail].items[within] = item;
    ++slot.count;
  }

  // Whether anything is due at `when`.
  [[nodiscard]] bool any(Tick when) const noexcept {
    const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
    return ((occupied_[slot >> 6] >> (slot & 63)) & 1U) != 0;
  }

  [[nodiscard]] bool any(std::size_t kind, Tick when) const noexcept {
    return slots_[(static_cast<std::uint64_t>(when) & mask_) * Kinds + kind].count > 0;
  }

  // Memory of the slots of a wheel.
  [[nodiscard]] static constexpr std::uint64_t bytes(Tick horizon) noexcept {
    return std::bit_ceil(static_cast<std::uint64_t>(horizon) + 2) * Kinds * sizeof(Slot);
  }

  // Whether nothing is due at any time.
  [[nodiscard]] bool empty() const noexcept {
    return std::ranges::all_of(occupied_, [](std::uint64_t word) { return word == 0; });
  }

  // The first instant in [from, end) at which something is due, or `end`.
  [[nodiscard]] Tick next_due(Tick from, Tick end) const noexcept {
    Tick when = from;
    while (when < end) {
      const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
      const std::uint64_t word = occupied_[slot >> 6] >> (slot & 63);
      if (word != 0) {
        const Tick found = when + std::countr_zero(word);
        return found < end ? found : end;
      }
      // A wheel shorter than a word wraps inside it; step to the end of the word or of the wheel.
      const std::uint64_t step = size_ < 64 ? size_ - slot : 64 - (slot & 63);
      when += static_cast<Tick>(step);
    }
    return end;
  }

  // Hands every item of one kind that is due at `when` to `handle(item)` and forgets it. `touch(item)`
  // prefetches what an item names: some items ahead here, and for the first items of a slot through glance()
  // some time before.
  template <class Touch, class Handle>
  void drain(std::size_t kind, Tick when, Touch&& touch, Handle&& handle) {
    Slot& slot = slots_[(static_cast<std::uint64_t>(when) & mask_) * Kinds + kind];
    if (slot.count == 0) return;
    const std::uint32_t count = slot.count;
    if (due_.size() < count + kItemsPerChunk) due_.resize(2 * count + kItemsPerChunk);
    std::uint32_t* const due = due_.data();
    std::uint32_t chunk = slot.head;
    for (std::uint32_t i = 0; i < count; i += kItemsPerChunk) {
      std::copy_n(chunks_[chunk].items.data(), kItemsPerChunk, due + i);
      chunk = next_[chunk];
    }
    next_[slot.tail] = free_;
    free_ = slot.head;
    slot.count = 0;

    for (std::uint32_t i = 0; i < count; ++i) {
      if (i + kGlanced < count) touch(due[i + kGlanced]);
      handle(due[i]);
    }
  }
  template <class Handle>
  void drain(std::size_t kind, Tick when, Handle&& handle) {
    drain(kind, when, [](std::uint32_t) {}, handle);
  }

  // Calls `touch(item)` for the first items of a slot.
  template <class Touch>
  void glance(std::size_t kind, Tick when, Touch&& touch) const {
    const Slot& slot = slots_[(static_cast<std::uint64_t>(when) & mask_) * Kinds + kind];
    if (slot.count == 0) return;
    const Chunk& chunk = chunks_[slot.head];
    const std::uint32_t count = std::min(slot.count, kGlanced);
    for (std::uint32_t i = 0; i < count; ++i) touch(chunk.items[i]);
  }

  // Every item of one kind that is on the wheel, in no particular order.
  template <class Visit>
  void for_each(std::size_t kind, Visit&& visit) const {
    for (std::uint64_t slot_index = 0; slot_index < size_; ++slot_index) {
      const Slot& slot = slots_[slot_index * Kinds + kind];
      std::uint32_t chunk = slot.head;
      for (std::uint32_t i = 0; i < slot.count; ++i) {
        if (i > 0 && i % kItemsPerChunk == 0) chunk = next_[chunk];
        visit(chunks_[chunk].items[i % kItemsPerChunk]);
      }
    }
  }

  // After every kind of the slot was drained.
  void finish(Tick when) noexcept {
    const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
    for (std::size_t kind = 0; kind < Kinds; ++kind) assert(slots_[slot * Kinds + kind].count == 0);
    occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  }

 private:
  static constexpr std::uint32_t kNil = 0xffffffffU;

  struct Slot {
    std::uint32_t head = kNil;
    std::uint32_t tail = kNil;
    std::uint32_t count = 0;
  };
  struct alignas(64) Chunk {
    std::array<std::uint32_t, kItemsPerChunk> items;
  };

  [[gnu::noinline]] void append_chunk(Slot& slot, std::uint64_t slot_index) {
    std::uint32_t chunk = free_;
    if (chunk == kNil) {
      chunk = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back();
      next_.push_back(kNil);
    } else {
      free_ = next_[chunk];
    }
    if (slot.count == 0) {
      slot.head = chunk;
      occupied_[slot_index >> 6] |= std::uint64_t{1} << (slot_index & 63);
    } else {
      next_[slot.tail] = chunk;
    }
    slot.tail = chunk;
  }

  std::uint64_t size_;
  std::uint64_t mask_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> occupied_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> due_;  // scratch of drain()
  std::uint32_t free_ = kNil;
};

}  // namespace dragonfly
