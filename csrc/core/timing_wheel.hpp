// A wheel of time slots. Each slot holds one list of 32-bit items per kind of event; all lists of a slot
// are one cache line, for up to eight kinds.
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
  // Items of a slot that glance() looks at, and how far ahead drain() does.
  static constexpr std::uint32_t kGlanced = 16;

  // `horizon`: the longest delay between now and a pushed event, in quanta.
  explicit TimingWheel(Tick horizon)
      : size_{std::bit_ceil(static_cast<std::uint64_t>(horizon) + 2)},
        mask_{size_ - 1},
        slots_(size_),
        occupied_((size_ + 63) / 64, 0) {}

  [[nodiscard]] Tick horizon() const noexcept { return static_cast<Tick>(size_) - 2; }

  [[gnu::always_inline]] void push(std::size_t kind, Tick when, std::uint32_t item) {
    const std::uint64_t slot_index = static_cast<std::uint64_t>(when) & mask_;
    List& list = slots_[slot_index].lists[kind];
    if (list.end % kChunk == kLink) append_chunk(list, slot_index);
    words_[list.end++] = item;
  }

  // Whether anything is due at `when`.
  [[nodiscard]] bool any(Tick when) const noexcept {
    const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
    return ((occupied_[slot >> 6] >> (slot & 63)) & 1U) != 0;
  }

  [[nodiscard]] bool any(std::size_t kind, Tick when) const noexcept {
    return list_of(kind, when).end != kLink;
  }

  // Memory of the slots of a wheel.
  [[nodiscard]] static constexpr std::uint64_t bytes(Tick horizon) noexcept {
    return std::bit_ceil(static_cast<std::uint64_t>(horizon) + 2) * sizeof(Slot);
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
    List& list = slots_[static_cast<std::uint64_t>(when) & mask_].lists[kind];
    if (list.end == kLink) return;
    const std::uint32_t count = take(list);
    const std::uint32_t* const due = due_.data();
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
    const List& list = list_of(kind, when);
    if (list.end == kLink) return;
    std::uint32_t seen = 0;
    for_each_of(list, [&](std::uint32_t item) {
      touch(item);
      return ++seen < kGlanced;
    });
  }

  // Every item of one kind that is on the wheel, in no particular order.
  template <class Visit>
  void for_each(std::size_t kind, Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.lists[kind].end == kLink) continue;
      for_each_of(slot.lists[kind], [&](std::uint32_t item) {
        visit(item);
        return true;
      });
    }
  }

  // After every kind of the slot was drained.
  void finish(Tick when) noexcept {
    const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
    for (std::size_t kind = 0; kind < Kinds; ++kind) assert(slots_[slot].lists[kind].end == kLink);
    occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  }

 private:
  // Items lie in chunks of one cache line: fifteen, and the first word of the next chunk.
  static constexpr std::uint32_t kChunk = 16;
  static constexpr std::uint32_t kLink = kChunk - 1;
  static constexpr std::uint32_t kNil = 0xffffffffU;

  // Where the next item goes: a link, if that needs a chunk first; of an empty list the link of the chunk 0,
  // which holds no items.
  struct List {
    std::uint32_t end = kLink;
    std::uint32_t begin = kNil;
  };
  struct alignas(64) Slot {
    std::array<List, Kinds> lists;
  };

  [[nodiscard]] const List& list_of(std::size_t kind, Tick when) const noexcept {
    return slots_[static_cast<std::uint64_t>(when) & mask_].lists[kind];
  }

  // Precondition: the list is not empty. `visit` says whether to go on.
  template <class Visit>
  void for_each_of(const List& list, Visit&& visit) const {
    for (std::uint32_t at = list.begin; at != list.end; ++at) {
      if (at % kChunk == kLink) at = words_[at];
      if (!visit(words_[at])) return;
    }
  }

  // Copies a list that is not empty to due_ and empties it; returns the number of its items.
  std::uint32_t take(List& list) {
    std::uint32_t count = 0;
    std::uint32_t chunk = list.begin;
    for (;;) {
      if (due_.size() < count + kChunk) due_.resize(2 * (count + kChunk));
      std::copy_n(words_.data() + chunk, kChunk, due_.data() + count);
      if (list.end - chunk < kChunk) break;
      count += kLink;
      chunk = words_[chunk + kLink];
    }
    count += list.end - chunk;
    words_[chunk + kLink] = free_;
    free_ = list.begin;
    list = List{};
    return count;
  }

  [[gnu::noinline]] void append_chunk(List& list, std::uint64_t slot_index) {
    std::uint32_t chunk = free_;
    if (chunk == kNil) {
      chunk = static_cast<std::uint32_t>(words_.size());
      words_.resize(words_.size() + kChunk);
    } else {
      free_ = words_[chunk + kLink];
    }
    if (list.end == kLink) {
      list.begin = chunk;
      occupied_[slot_index >> 6] |= std::uint64_t{1} << (slot_index & 63);
    } else {
      words_[list.end] = chunk;
    }
    list.end = chunk;
  }

  std::uint64_t size_;
  std::uint64_t mask_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> occupied_;
  std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>(kChunk);
  std::vector<std::uint32_t> due_;  // scratch of take()
  std::uint32_t free_ = kNil;       // chunks, by their links
};

}  // namespace dragonfly
