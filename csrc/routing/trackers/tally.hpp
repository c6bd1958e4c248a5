// Counts by owner, place and detail, few of which are above 0 at a time: an open-addressing table with linear
// probing. The details of a place stand together, as they are asked for one after the other.
//
// Every count is exact, so what is read depends neither on the table's size nor on the order of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dragonfly {

class Tally {
 public:
  // `room`: slots to begin with. The table doubles when half of them are taken.
  explicit Tally(std::size_t room) : slots_(room < kLeast ? kLeast : room) {}

  static constexpr std::uint64_t bytes(std::uint64_t room) noexcept { return room * sizeof(Slot); }

  void add(std::uint32_t owner, std::uint32_t place, std::uint32_t detail) {
    if ((taken_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[find(owner, place, detail)];
    if (slot.count == 0) {
      slot.owner = owner;
      slot.place = place;
      slot.detail = detail;
      ++taken_;
    }
    ++slot.count;
  }

  // Takes back one that was added.
  void remove(std::uint32_t owner, std::uint32_t place, std::uint32_t detail) noexcept {
    const std::size_t at = find(owner, place, detail);
    if (--slots_[at].count == 0) {
      --taken_;
      close_gap(at);
    }
  }

  [[nodiscard]] std::uint32_t count(std::uint32_t owner, std::uint32_t place,
                                    std::uint32_t detail) const noexcept {
    return slots_[find(owner, place, detail)].count;
  }

  // How many count above 0.
  [[nodiscard]] std::size_t size() const noexcept { return taken_; }

 private:
  struct Slot {
    std::uint32_t owner = 0;
    std::uint32_t place = 0;
    std::uint32_t detail = 0;
    std::uint32_t count = 0;  // 0: free
    [[nodiscard]] bool is(std::uint32_t of, std::uint32_t where, std::uint32_t which) const noexcept {
      return owner == of && place == where && detail == which;
    }
  };

  static constexpr std::size_t kLeast = 16;

  [[nodiscard]] std::size_t home(std::uint32_t owner, std::uint32_t place) const noexcept {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15U;  // 2^64 over the golden ratio
    const std::uint64_t key = (std::uint64_t{owner} << 32 | place) * kSpread;
    return static_cast<std::size_t>((key >> 32) * slots_.size() >> 32);
  }
  [[nodiscard]] std::size_t after(std::size_t at) const noexcept {
    return at + 1 == slots_.size() ? 0 : at + 1;
  }
  // Its slot, or the free one where it would stand. One is always free.
  [[nodiscard]] std::size_t find(std::uint32_t owner, std::uint32_t place,
                                 std::uint32_t detail) const noexcept {
    std::size_t at = home(owner, place);
    while (slots_[at].count != 0 && !slots_[at].is(owner, place, detail)) at = after(at);
    return at;
  }
  [[nodiscard]] std::size_t way(std::size_t from, std::size_t to) const noexcept {
    return to >= from ? to - from : to + slots_.size() - from;
  }
  // What was pushed on by the one that stood here moves back, so that everything is found without gaps.
  void close_gap(std::size_t gap) noexcept {
    for (std::size_t at = after(gap); slots_[at].count != 0; at = after(at)) {
      const std::size_t wanted = home(slots_[at].owner, slots_[at].place);
      if (way(wanted, at) < way(gap, at)) continue;  // it wants to stand behind the gap
      slots_[gap] = std::exchange(slots_[at], Slot{});
      gap = at;
    }
  }
  void grow() {
    std::vector<Slot> before(slots_.size() * 2);
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.count != 0) slots_[find(slot.owner, slot.place, slot.detail)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t taken_ = 0;
};

}  // namespace dragonfly
