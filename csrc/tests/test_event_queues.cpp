// Rings, slots and busy times against lists that are searched.
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/event_queues.hpp"
#include "core/random.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

struct Event {
  LowTick when = 0;
  std::uint32_t item = 0;
};

// Around a time whose low bits begin anew.
constexpr Tick kStart = (Tick{1} << 32) - 700;

TEST(a_ring_hands_events_out_in_order_and_across_the_end_of_low_times) {
  EventRing<Event> ring;
  RandomStream random{1, Purpose::kPattern, 0, 0};
  std::uint32_t pushed = 0;
  std::uint32_t taken = 0;
  CHECK_EQ(ring.first_time(kStart), kNever);
  for (Tick now = kStart; now < kStart + 2'000; ++now) {
    for (std::uint32_t n = random.below(5); n > 0; --n) ring.push({low_of(now + 300), pushed++});
    if (!ring.empty()) CHECK(ring.first_time(now) >= now);
    while (ring.due(now)) CHECK_EQ(ring.take().item, taken++);
    CHECK_EQ(ring.size(), pushed - taken);
    std::uint32_t seen = taken;
    ring.for_each([&](const Event& event) { CHECK_EQ(event.item, seen++); });
    CHECK_EQ(seen, pushed);
  }
  CHECK(ring.size() > 300);
}

TEST(slots_hold_what_is_due_at_each_time) {
  constexpr std::uint32_t kItems = 100;
  constexpr Tick kHorizon = 90;
  SlotLists slots{kHorizon, kItems};
  BusyTimes busy{kHorizon};
  RandomStream random{1, Purpose::kPattern, 0, 1};
  std::vector<bool> waits(kItems, false);
  std::map<Tick, std::set<std::uint32_t>> expected;
  for (Tick now = kStart; now < kStart + 3'000; ++now) {
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t item = random.below(kItems);
      if (waits[item]) continue;
      const Tick when = now + random.below(kHorizon + 1);
      waits[item] = true;
      slots.push(when, item);
      busy.mark(when);
      expected[when].insert(item);
    }
    const Tick end = now + 40;
    CHECK_EQ(busy.first(now, end), expected.empty() ? end : std::min(end, expected.begin()->first));
    std::set<std::uint32_t> due;
    for (std::uint32_t item = slots.take(now); item != kNil;) {
      const std::uint32_t next = slots.next(item);
      CHECK(due.insert(item).second);
      waits[item] = false;
      item = next;
    }
    CHECK(due == expected[now]);
    expected.erase(now);
    busy.clear(now);
    CHECK_EQ(slots.take(now), kNil);
    CHECK_EQ(busy.none(), expected.empty());
  }
}

TEST(low_times_name_the_times_next_to_now) {
  for (const Tick now : {Tick{0}, kStart, kStart + 700, kStart + 701}) {
    for (const Tick away : {Tick{0}, Tick{1}, Tick{699}, Tick{0xffffffff}}) {
      CHECK_EQ(time_from(now, low_of(now + away)), now + away);
      CHECK_EQ(time_until(now, low_of(now - away)), now - away);
    }
  }
}

}  // namespace
