// Messages put together again, compared with an ordered map.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "network/message_table.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

TEST(a_message_of_one_packet_is_complete_at_once_and_takes_no_room) {
  MessageTable table;
  std::uint32_t highest = 1;
  for (std::uint32_t number = 0; number < 1000; ++number) CHECK(table.add(7, number, 1, 0, highest));
  CHECK_EQ(highest, 0U);
  CHECK_EQ(table.size(), 0U);
}

TEST(every_message_is_complete_with_its_last_packet_in_any_order) {
  struct Part {
    std::uint32_t sender, number, packets, place;
  };
  for (std::uint32_t round = 0; round < 20; ++round) {
    RandomStream random{1, Purpose::kPattern, round, 0};
    std::vector<Part> parts;
    for (std::uint32_t m = 0; m < 300; ++m) {
      Part part{random.below(40), m, 1 + random.below(9), 0};
      for (; part.place < part.packets; ++part.place) parts.push_back(part);
    }
    for (std::size_t last = parts.size() - 1; last > 0; --last) {
      std::swap(parts[last], parts[random.below(static_cast<std::uint32_t>(last) + 1)]);
    }
    MessageTable table;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> arrived;
    std::uint32_t complete = 0;
    for (const Part& part : parts) {
      auto& [packets, most] = arrived[{part.sender, part.number}];
      const bool last = ++packets == part.packets;
      most = std::max(most, part.place);
      std::uint32_t highest = 0;
      CHECK_EQ(table.add(part.sender, part.number, part.packets, part.place, highest), last);
      CHECK_EQ(highest, most);
      complete += last ? 1 : 0;
    }
    CHECK_EQ(complete, 300U);
    CHECK_EQ(table.size(), 0U);
  }
}

}  // namespace
