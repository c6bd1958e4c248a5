// Counts in an open-addressing table, against a map.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "routing/trackers/tally.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

TEST(a_tally_counts_as_a_map_does_while_it_grows_and_shrinks) {
  for (const std::size_t room : {std::size_t{0}, std::size_t{16}, std::size_t{37}, std::size_t{1000}}) {
    Tally tally{room};
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> added;
    RandomStream random{room + 1, Purpose::kRouting, 0, 0, 0};
    for (std::uint32_t step = 0; step < 20'000; ++step) {
      const bool rising = step % 5000 < 2500;  // fills up, and empties again
      if (added.empty() || random.below(10) < (rising ? 7U : 2U)) {
        // Some of them far apart, as arrivals at many routers are.
        const std::pair key{random.below(12), random.below(40) * (random.below(2) == 0 ? 1U : 104'729U)};
        tally.add(key.first, key.second);
        ++expected[key];
        added.push_back(key);
      } else {
        std::swap(added[random.below(static_cast<std::uint32_t>(added.size()))], added.back());
        tally.remove(added.back().first, added.back().second);
        if (--expected[added.back()] == 0) expected.erase(added.back());
        added.pop_back();
      }
      if (step % 97 != 0) continue;
      CHECK_EQ(tally.size(), expected.size());
      for (std::uint32_t owner = 0; owner < 12; ++owner) {
        for (std::uint32_t what = 0; what < 40; ++what) {
          for (const std::uint32_t key : {what, what * 104'729U}) {
            const auto at = expected.find({owner, key});
            CHECK_EQ(tally.count(owner, key), at == expected.end() ? 0U : at->second);
          }
        }
      }
    }
  }
}

}  // namespace
