// The timing wheel against an ordered map.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/random.hpp"
#include "core/timing_wheel.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;
using Wheel = TimingWheel<2>;
using Items = std::vector<std::uint32_t>;

Items drain(Wheel& wheel, std::size_t kind, Tick when) {
  Items items;
  wheel.drain(kind, when, [&items](std::uint32_t item) { items.push_back(item); });
  return items;
}

TEST(a_wheel_hands_out_what_is_due_by_kind_and_in_the_order_of_arrival) {
  Wheel wheel{10};
  wheel.push(1, 3, 7);
  wheel.push(0, 3, 8);
  wheel.push(0, 3, 9);
  wheel.push(0, 4, 10);
  CHECK(drain(wheel, 0, 3) == (Items{8, 9}));
  CHECK(drain(wheel, 1, 3) == Items{7});
  CHECK(drain(wheel, 0, 3).empty());
  wheel.finish(3);
  CHECK(!wheel.any(3));
  CHECK(wheel.any(4));
}

TEST(a_wheel_is_empty_only_without_items) {
  Wheel wheel{100};
  CHECK(wheel.empty());
  wheel.push(1, 100, 1);
  CHECK(!wheel.empty());
  CHECK_EQ(wheel.next_due(0, 100), 100);
  CHECK_EQ(wheel.next_due(0, 101), 100);
  CHECK_EQ(wheel.next_due(0, 1000), 100);
  static_cast<void>(drain(wheel, 1, 100));
  wheel.finish(100);
  CHECK(wheel.empty());
  CHECK_EQ(wheel.next_due(101, 1'000'000), 1'000'000);
}

TEST(a_glance_and_the_drain_after_it_touch_every_item_once) {
  for (const std::uint32_t count : {1U, 15U, 16U, 17U, 40U}) {
    Wheel wheel{20};
    for (std::uint32_t i = 0; i < count; ++i) wheel.push(1, 7, i);
    std::vector<std::uint32_t> touched(count, 0);
    std::uint32_t handled = 0;
    bool in_time = true;
    const auto touch = [&](std::uint32_t item) { ++touched[item]; };
    wheel.glance(1, 7, touch);
    wheel.drain(1, 7, touch, [&](std::uint32_t item) {
      in_time = in_time && touched[item] == 1;
      ++handled;
    });
    CHECK(in_time);
    CHECK_EQ(handled, count);
    CHECK(touched == std::vector<std::uint32_t>(count, 1));
  }
}

TEST(items_pushed_while_a_slot_is_drained_are_kept_for_later) {
  Wheel wheel{20};
  for (std::uint32_t i = 0; i < 40; ++i) wheel.push(0, 5, i);
  wheel.drain(0, 5, [&wheel](std::uint32_t item) { wheel.push(0, 6, item); });
  wheel.finish(5);
  CHECK_EQ(drain(wheel, 0, 6).size(), 40U);
}

// Every size of wheel, shorter than a word of its bitmap and longer; times far beyond its length.
TEST(a_wheel_behaves_like_an_ordered_map) {
  for (const Tick horizon : {1, 2, 7, 61, 62, 63, 64, 200, 5000}) {
    Wheel wheel{horizon};
    std::multimap<Tick, std::uint32_t> model[2];
    RandomStream random{1, Purpose::kPattern, static_cast<std::uint32_t>(horizon), 0};
    std::uint32_t next_item = 0;
    Tick now = 0;
    bool same = true;
    for (int round = 0; round < 600; ++round) {
      for (std::uint32_t n = random.below(round % 7 == 0 ? 60U : 3U); n > 0; --n) {
        const Tick when = now + 1 + random.below(static_cast<std::uint32_t>(horizon));
        const std::size_t kind = random.below(2);
        wheel.push(kind, when, next_item);
        model[kind].emplace(when, next_item++);
      }
      std::size_t on_wheel = 0;
      for (const std::size_t kind : {0U, 1U})
        wheel.for_each(kind, [&on_wheel](std::uint32_t) { ++on_wheel; });
      same = same && on_wheel == model[0].size() + model[1].size();

      const Tick end = now + 1 + random.below(static_cast<std::uint32_t>(horizon));
      for (now = wheel.next_due(now + 1, end); now < end; now = wheel.next_due(now + 1, end)) {
        for (const std::size_t kind : {0U, 1U}) {
          const auto [first, last] = model[kind].equal_range(now);
          Items expected;
          for (auto it = first; it != last; ++it) expected.push_back(it->second);
          model[kind].erase(first, last);
          same = same && drain(wheel, kind, now) == expected;
        }
        wheel.finish(now);
      }
      for (const auto& items : model) same = same && (items.empty() || items.begin()->first >= end);
      now = end - 1;
    }
    CHECK(same);
  }
}

}  // namespace
