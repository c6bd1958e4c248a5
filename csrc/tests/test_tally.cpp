// Counts in an open-addressing table, against a map.
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "routing/trackers/tally.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;
using Key = std::array<std::uint32_t, 3>;  // owner, place, detail

TEST(a_tally_counts_as_a_map_does_while_it_grows_and_shrinks) {
  for (const std::size_t room : {std::size_t{0}, std::size_t{16}, std::size_t{37}, std::size_t{1000}}) {
    Tally tally{room};
    std::map<Key, std::uint32_t> expected;
    std::vector<Key> added;
    RandomStream random{room + 1, Purpose::kRouting, 0, 0, 0};
    for (std::uint32_t step = 0; step < 20'000; ++step) {
      const bool rising = step % 5000 < 2500;  // fills up, and empties again
      if (added.empty() || random.below(10) < (rising ? 7U : 2U)) {
        // Some of them far apart, as arrivals at many routers are.
        const Key key{random.below(6), random.below(20) * (random.below(2) == 0 ? 1U : 104'729U),
                      random.below(4)};
        tally.add(key[0], key[1], key[2]);
        ++expected[key];
        added.push_back(key);
      } else {
        std::swap(added[random.below(static_cast<std::uint32_t>(added.size()))], added.back());
        tally.remove(added.back()[0], added.back()[1], added.back()[2]);
        if (--expected[added.back()] == 0) expected.erase(added.back());
        added.pop_back();
      }
      if (step % 97 != 0) continue;
      CHECK_EQ(tally.size(), expected.size());
      for (std::uint32_t i = 0; i < 6 * 20 * 4; ++i) {
        for (const std::uint32_t apart : {1U, 104'729U}) {
          const Key key{i % 6, i / 6 % 20 * apart, i / 120};
          const auto at = expected.find(key);
          CHECK_EQ(tally.count(key[0], key[1], key[2]), at == expected.end() ? 0U : at->second);
        }
      }
    }
  }
}

}  // namespace
