// The wiring of every arrangement, and the queries that routing asks on every hop.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
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

Dragonfly one(Arrangement arrangement) {
  return Dragonfly{{.p = 4, .a = 8, .h = 4, .arrangement = arrangement}};
}

// The group behind position q of a group.
std::uint32_t behind(const Dragonfly& topology, std::uint32_t group, std::uint32_t q) {
  return topology.group_behind(group * topology.a() + q / topology.h(),
                               static_cast<Port>(topology.first_global_port() + q % topology.h()));
}

TEST(every_link_is_its_own_reverse_and_never_a_loop) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      for (Port port = t.first_local_port(); port < t.radix(); ++port) {
        const Endpoint far = t.neighbor(router, port);
        if (far.port == kNoPort) {
          CHECK_EQ(far.router, kNone);
          continue;
        }
        CHECK(far.router != router && far.router < t.num_routers());
        CHECK(t.port_class(far.port) == t.port_class(port));
        CHECK((t.neighbor(far.router, far.port) == Endpoint{router, port}));
        CHECK_EQ(t.group_of(router) == t.group_of(far.router), !t.is_global(port));
      }
    }
  }
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

TEST(local_ports_reach_every_other_router_of_the_group) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      std::set<std::uint32_t> reached;
      for (Port port = t.first_local_port(); port < t.first_global_port(); ++port) {
        const std::uint32_t peer = t.neighbor(router, port).router;
        CHECK_EQ(t.local_port(t.local_index_of(router), t.local_index_of(peer)), port);
        CHECK_EQ(t.minimal_port(router, peer), port);
        reached.insert(peer);
      }
      CHECK_EQ(reached.size(), t.a() - 1);
    }
  }
}

TEST(each_minimal_port_brings_the_destination_one_hop_closer) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t source = 0; source < t.num_routers(); ++source) {
      for (std::uint32_t destination = 0; destination < t.num_routers(); ++destination) {
        const std::uint32_t hops = t.minimal_hops(source, destination);
        CHECK_EQ(hops == 0, source == destination);
        CHECK(hops <= 3);
        if (hops == 0) continue;
        const Port port = t.minimal_port(source, destination);
        if (t.has_single_ways()) {
          CHECK_EQ(t.only_port(source, t.group_of(source), destination, t.group_of(destination)), port);
        }
        const Endpoint next = t.neighbor(source, port);
        REQUIRE(next.port != kNoPort);
        CHECK_EQ(t.minimal_hops(next.router, destination), hops - 1);
      }
    }
  }
}

TEST(minimal_hops_is_the_shortest_over_all_links_of_the_pair_of_groups) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t source = 0; source < t.num_routers(); ++source) {
      for (std::uint32_t destination = 0; destination < t.num_routers(); ++destination) {
        if (t.group_of(source) == t.group_of(destination)) continue;
        std::uint32_t best = 99;
        for (std::uint32_t k = 0; k < t.trunking(); ++k) {
          const Endpoint& near = t.links_between(t.group_of(source), t.group_of(destination))[k];
          const std::uint32_t far = t.neighbor(near.router, near.port).router;
          best = std::min(best, 1U + (near.router != source ? 1U : 0U) + (far != destination ? 1U : 0U));
        }
        CHECK_EQ(t.minimal_hops(source, destination), best);
      }
    }
  }
}

TEST(a_port_towards_a_group_needs_at_most_one_local_hop_before_the_global_one) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      for (std::uint32_t group = 0; group < t.num_groups(); ++group) {
        if (group == t.group_of(router)) continue;
        const Endpoint* links = t.links_between(t.group_of(router), group);
        const auto own = static_cast<std::size_t>(std::count_if(
            links, links + t.trunking(), [&](const Endpoint& end) { return end.router == router; }));
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

TEST(palmtree_leads_backwards_as_in_the_figures_of_lia) {
  const Dragonfly t = one(Arrangement::kPalmtree);
  for (std::uint32_t group = 0; group < t.g(); ++group) {
    for (std::uint32_t q = 0; q < 32; ++q) CHECK_EQ(behind(t, group, q), (group + 33 - (q + 1)) % 33);
  }
  // Consecutive adversarial traffic, groups i+1 .. i+h, all leaves through router a-1.
  for (std::uint32_t offset = 1; offset <= t.h(); ++offset) {
    CHECK_EQ(t.local_index_of(t.links_between(5, 5 + offset)->router), t.a() - 1);
  }
}

TEST(palmtree_plus_leads_forwards_as_in_the_text_of_lia) {
  const Dragonfly t = one(Arrangement::kPalmtreePlus);
  for (std::uint32_t group = 0; group < t.g(); ++group) {
    for (std::uint32_t q = 0; q < 32; ++q) CHECK_EQ(behind(t, group, q), (group + q + 1) % 33);
  }
  for (std::uint32_t offset = 1; offset <= t.h(); ++offset) {
    CHECK_EQ(t.local_index_of(t.links_between(5, 5 + offset)->router), 0);
  }
}

TEST(absolute_skips_the_own_group) {
  const Dragonfly t = one(Arrangement::kAbsolute);
  for (std::uint32_t group = 0; group < t.g(); ++group) {
    for (std::uint32_t q = 0; q < 32; ++q) CHECK_EQ(behind(t, group, q), q >= group ? q + 1 : q);
  }
}

TEST(relative_is_palmtree_plus_without_trunking_and_pairs_other_slices_with_it) {
  const auto same = [](const Dragonfly& left, const Dragonfly& right) {
    for (std::uint32_t router = 0; router < left.num_routers(); ++router) {
      for (Port port = left.first_global_port(); port < left.radix(); ++port) {
        if (!(left.neighbor(router, port) == right.neighbor(router, port))) return false;
      }
    }
    return true;
  };
  CHECK(same(one(Arrangement::kRelative), one(Arrangement::kPalmtreePlus)));
  DragonflyParams params{.p = 2, .a = 4, .h = 3, .trunking = 2, .arrangement = Arrangement::kRelative};
  const Dragonfly relative{params};
  params.arrangement = Arrangement::kPalmtreePlus;
  CHECK(!same(relative, Dragonfly{params}));
}

TEST(circulant_alternates_ahead_and_back) {
  const Dragonfly t = one(Arrangement::kCirculant);
  for (std::uint32_t group = 0; group < t.g(); ++group) {
    for (std::uint32_t q = 0; q < 32; ++q) {
      const std::uint32_t distance = q / 2 + 1;
      CHECK_EQ(behind(t, group, q), (group + (q % 2 == 0 ? distance : 33 - distance)) % 33);
    }
  }
}

TEST(fewer_groups_leave_the_last_slots_unconnected) {
  const Dragonfly t{{.p = 2, .a = 4, .h = 2, .g = 4}};
  for (std::uint32_t q = 0; q < 8; ++q) CHECK_EQ(behind(t, 0, q) == kNone, q >= 3);
}

TEST(default_number_of_groups_is_the_largest_possible) {
  CHECK_EQ((Dragonfly{{.p = 4, .a = 8, .h = 4}}.num_hosts()), 1056);
  CHECK_EQ((Dragonfly{{.p = 16, .a = 32, .h = 17}}.num_hosts()), 279040);
  CHECK_EQ((Dragonfly{{.p = 4, .a = 8, .h = 4, .trunking = 4}}.num_groups()), 9);
}

std::string message_of(const DragonflyParams& params) {
  try {
    const Dragonfly accepted{params};
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(impossible_topologies_are_refused_by_field_value_and_range) {
  const auto starts = [](const DragonflyParams& params, const std::string& start) {
    const std::string message = message_of(params);
    if (!CHECK(message.starts_with(start))) std::printf("  message: %s\n", message.c_str());
  };
  starts({.p = 0}, "p = 0: must lie in [1, 1024]");
  starts({.a = 0}, "a = 0: must lie in [1, 1024]");
  starts({.h = 0, .g = 2}, "h = 0: must be at least 1");
  starts({.p = 4, .a = 8, .h = 4, .g = 34}, "g = 34: must lie in [1, 33]");
  starts({.p = 4, .a = 8, .h = 4, .trunking = 0}, "trunking = 0: ");
  starts({.p = 4, .a = 8, .h = 4, .trunking = 33}, "trunking = 33: must lie in [1, 32] (a*h)");
  starts({.p = 4, .a = 8, .h = 4, .trunking = 64}, "trunking = 64: ");
  starts({.p = 1, .a = 8, .h = 0, .trunking = 2}, "trunking = 2: ");
  starts({.p = 500, .a = 500, .h = 500}, "radix (p + a - 1 + h) = 1499: ");
  starts({.p = 0xffffffffU, .a = 2, .h = 2}, "p = 4294967295: ");
  starts({.p = 1, .a = 2, .h = 0xffffffffU}, "h = 4294967295: ");
  starts({.p = 340, .a = 342, .h = 343}, "num_hosts (p*a*g) = ");
  starts({.p = 1, .a = 500, .h = 400}, "number of links");
  CHECK_THROWS(ConfigError, parse_arrangement("palmtre"));
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

TEST(hosts_map_to_routers_and_ports) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t host = 0; host < t.num_hosts(); ++host) {
      CHECK_EQ(t.router_of_host(host), host / t.p());
      CHECK_EQ(t.host_port(host), host % t.p());
    }
  }
}

}  // namespace
}  // namespace dragonfly
