// Queues of events, ordered by time.
//
// A class of events with one delay needs no sorting: the event that is sent first arrives first, so a ring is
// in order by construction. Events of other delays hang in slots, one slot per time, as lists that are
// chained through the objects of the events: an object cannot wait twice in such a list.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/archive.hpp"
#include "core/ids.hpp"
#include "core/large_pages.hpp"
#include "core/time.hpp"

namespace dragonfly {

// First in, first out. `Event` has a member `when`, the low bits of its time; pushed times never fall.
template <class Event>
class EventRing {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }
  [[gnu::always_inline]] void push(const Event& event) {
    if (tail_ - head_ > mask_) [[unlikely]]
      grow();
    events_[tail_++ & mask_] = event;
  }
  // Whether the first one is due at `now`. Precondition, here and below: none is due before.
  [[nodiscard]] bool due(Tick now) const noexcept { return !empty() && ahead(0).when == low_of(now); }
  [[nodiscard]] Tick first_time(Tick now) const noexcept {
    return empty() ? kNever : time_from(now, ahead(0).when);
  }
  [[nodiscard]] Event take() noexcept { return events_[head_++ & mask_]; }
  // The one so many places behind the first, for prefetching: an old one where there are not so many.
  [[nodiscard]] const Event& ahead(std::size_t places) const noexcept {
    return events_[(head_ + places) & mask_];
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < size(); ++i) visit(ahead(i));
  }
  // Archives the items from the first one on; their places in the ring make no difference.
  void archive(Archive& archive) {
    const std::size_t count = archive.length(size());
    if (archive.reads()) {
      const std::size_t room = std::bit_ceil(std::max(count, kFew));
      events_.assign(room, Event{});
      mask_ = room - 1;
      head_ = 0;
      tail_ = count;
    }
    const std::size_t until_wrap = std::min(count, events_.size() - (head_ & mask_));
    archive.block(events_.data() + (head_ & mask_), until_wrap);
    archive.block(events_.data(), count - until_wrap);
  }

 private:
  [[gnu::noinline]] void grow() {
    std::vector<Event> larger(events_.size() * 2);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      larger[(head_ + i) & (larger.size() - 1)] = ahead(i);
    }
    events_ = std::move(larger);
    mask_ = events_.size() - 1;
  }

  static constexpr std::size_t kFew = 64;
  std::vector<Event> events_ = std::vector<Event>(kFew);
  std::size_t mask_ = kFew - 1;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

// The first item of a list for each time.
class TimeSlots {
 public:
  // `horizon`: the longest delay between now and a time that is used.
  explicit TimeSlots(Tick horizon)
      : mask_{std::bit_ceil(static_cast<std::size_t>(horizon) + 1) - 1}, heads_(mask_ + 1, kNil) {}

  [[nodiscard]] std::uint32_t& head(Tick when) noexcept {
    return heads_[static_cast<std::size_t>(when) & mask_];
  }
  [[nodiscard]] std::uint32_t peek(Tick when) const noexcept {
    return heads_[static_cast<std::size_t>(when) & mask_];
  }
  [[nodiscard]] const SharedVector<std::uint32_t>& heads() const noexcept { return heads_; }
  [[nodiscard]] SharedVector<std::uint32_t>& all() noexcept { return heads_; }
  [[nodiscard]] static std::uint64_t bytes(Tick horizon) noexcept {
    return std::bit_ceil(static_cast<std::uint64_t>(horizon) + 1) * sizeof(std::uint32_t);
  }
  void archive(Archive& archive) { archive.fixed(heads_); }

 private:
  std::size_t mask_;
  SharedVector<std::uint32_t> heads_;
};

// Lists by time of items that are numbered.
class SlotLists {
 public:
  SlotLists(Tick horizon, std::size_t items) : slots_{horizon}, next_(items, kNil) {}

  // Precondition: the item is in no list.
  [[gnu::always_inline]] void push(Tick when, std::uint32_t item) noexcept {
    std::uint32_t& head = slots_.head(when);
    next_[item] = head;
    head = item;
  }
  // The first item of a time, kNil without any; the others follow by next(). They are in the list no more, so
  // look up the next one before an item is pushed again.
  [[nodiscard]] std::uint32_t take(Tick now) noexcept {
    std::uint32_t& head = slots_.head(now);
    const std::uint32_t first = head;
    head = kNil;
    return first;
  }
  [[nodiscard]] std::uint32_t peek(Tick when) const noexcept { return slots_.peek(when); }
  [[nodiscard]] std::uint32_t next(std::uint32_t item) const noexcept { return next_[item]; }
  // Removes all items for which `goes` is true; the order of the lists is not kept.
  template <class Goes>
  void remove_if(Goes goes) {
    for (std::uint32_t& head : slots_.all()) {
      for (std::uint32_t item = std::exchange(head, kNil); item != kNil;) {
        const std::uint32_t after = next_[item];
        if (!goes(item)) next_[item] = std::exchange(head, item);
        item = after;
      }
    }
  }
  void archive(Archive& archive) {
    archive(slots_);
    archive.fixed(next_);
  }

 private:
  TimeSlots slots_;
  SharedVector<std::uint32_t> next_;
};

// The times at which something waits in a slot.
class BusyTimes {
 public:
  explicit BusyTimes(Tick horizon)
      : mask_{std::bit_ceil(static_cast<std::uint64_t>(std::max<Tick>(horizon, 62)) + 2) - 1},
        words_((mask_ + 1) / 64, 0) {}

  [[gnu::always_inline]] void mark(Tick when) noexcept {
    const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
    words_[slot >> 6] |= std::uint64_t{1} << (slot & 63);
  }
  void clear(Tick when) noexcept {
    const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
    words_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
  }
  [[nodiscard]] bool none() const noexcept {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }
  // The first time in [from, end), or `end`. Precondition: the two are less than the horizon apart, or no
  // time between them is marked.
  [[nodiscard]] Tick first(Tick from, Tick end) const noexcept {
    for (Tick when = from; when < end;) {
      const std::uint64_t slot = static_cast<std::uint64_t>(when) & mask_;
      const std::uint64_t word = words_[slot >> 6] >> (slot & 63);
      if (word != 0) return std::min(end, when + std::countr_zero(word));
      when += static_cast<Tick>(64 - (slot & 63));
    }
    return end;
  }
  [[nodiscard]] static std::uint64_t bytes(Tick horizon) noexcept {
    return (std::bit_ceil(static_cast<std::uint64_t>(std::max<Tick>(horizon, 62)) + 2)) / 8;
  }
  void archive(Archive& archive) { archive.fixed(words_); }

 private:
  std::uint64_t mask_;
  SharedVector<std::uint64_t> words_;
};

}  // namespace dragonfly
