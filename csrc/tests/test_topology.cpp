// The wiring of every arrangement, and the queries that routing makes on every hop.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/fast_divisor.hpp"
#include "tests/check.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {
namespace {

constexpr std::uint32_t kNone = Id<void>::kNoneValue;

// Balanced, unbalanced, one router per group, one group, partial numbers of groups (odd and even),
// trunking; each in every arrangement.
std::vector<Dragonfly> systems() {
  const std::vector<DragonflyParams> shapes{
      {.p = 2, .a = 4, .h = 2},
      {.p = 4, .a = 8, .h = 4},
      {.p = 3, .a = 5, .h = 3},
      {.p = 1, .a = 3, .h = 4, .g = 10},
      {.p = 2, .a = 4, .h = 3, .g = 7},
      {.p = 1, .a = 1, .h = 6},
      {.p = 1, .a = 1, .h = 0},
      {.p = 5, .a = 6, .h = 0},
      {.p = 2, .a = 6, .h = 2, .g = 1},
      {.p = 2, .a = 4, .h = 2, .g = 2},
      {.p = 2, .a = 4, .h = 3, .trunking = 2},
      {.p = 2, .a = 4, .h = 3, .trunking = 4},
      {.p = 2, .a = 5, .h = 6, .g = 5, .trunking = 6},
      {.p = 2, .a = 4, .h = 3, .trunking = 12},
      {.p = 1, .a = 1, .h = 6, .trunking = 3},
      {.p = 2, .a = 4, .h = 2, .trunking = 3},  // two positions are left
  };
  std::vector<Dragonfly> all;
  for (DragonflyParams params : shapes) {
    for (const std::string& name : arrangement_names()) {
      params.arrangement = parse_arrangement(name);
      all.emplace_back(params);
    }
  }
  return all;
}

TEST(every_pair_of_groups_has_exactly_trunking_links_and_the_table_names_them) {
  for (const Dragonfly& t : systems()) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::pair<std::uint32_t, Port>>> found;
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      for (Port port = t.first_global_port(); port < t.radix(); ++port) {
        const std::uint32_t peer = t.group_behind(router, port);
        if (peer != kNone) found[{t.group_of(router), peer}].insert({router, port});
      }
    }
    CHECK_EQ(found.size(), t.g() * (t.g() - 1));
    for (const auto& [pair, links] : found) {
      CHECK_EQ(links.size(), t.trunking());
      std::set<std::pair<std::uint32_t, Port>> named;
      for (std::uint32_t k = 0; k < t.trunking(); ++k) {
        const Endpoint& end = t.links_between(pair.first, pair.second)[k];
        named.insert({end.router, end.port});
      }
      CHECK(named == links);
    }
  }
}

TEST(a_port_towards_a_group_needs_at_most_one_local_hop_before_the_global_one) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      for (std::uint32_t group = 0; group < t.num_groups(); ++group) {
        if (group == t.group_of(router)) continue;
        const auto links = t.links_between(t.group_of(router), group);
        const auto own = static_cast<std::size_t>(
            std::ranges::count_if(links, [&](const Endpoint& end) { return end.router == router; }));
        std::set<Port> used;
        for (std::uint32_t choice = 0; choice < t.trunking(); ++choice) {
          const Port port = t.port_towards_group(router, group, choice);
          used.insert(port);
          const Endpoint next = t.neighbor(router, port);
          REQUIRE(next.port != kNoPort);
          CHECK_EQ(t.is_global(port), own > 0);
          if (own > 0) {
            CHECK_EQ(t.group_of(next.router), group);
          } else {
            CHECK_EQ(t.is_global(t.port_towards_group(next.router, group)), true);
          }
        }
        if (own > 0) CHECK_EQ(used.size(), own);  // every one of its own links gets its turn
      }
    }
  }
}

TEST(fast_divisor_divides_exactly) {
  for (std::uint32_t divisor = 1; divisor <= 1024; ++divisor) {
    const FastDivisor fast{divisor};
    for (const std::uint32_t quotient : {0U, 1U, 2U, 1000U, ((1U << 31) - 1U) / divisor}) {
      const std::uint32_t base = quotient * divisor;
      for (const std::uint32_t n :
           {base == 0 ? 0U : base - 1U, base, std::min(base + divisor - 1U, (1U << 31) - 1U)}) {
        CHECK_EQ(fast.divide(n), n / divisor);
      }
    }
  }
}

}  // namespace
}  // namespace dragonfly
