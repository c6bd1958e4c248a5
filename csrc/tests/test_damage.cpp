// Machines with dead links and routers: wiring, distances, and the paths of every policy.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "tests/check.hpp"
#include "topology/dragonfly.hpp"

namespace {

using namespace dragonfly;

constexpr std::uint32_t kUnreached = ~0U;
constexpr std::uint32_t kDraws = 6;

std::shared_ptr<const GroupShape> grid(std::uint32_t rows, std::uint32_t columns) {
  return make_group_shape("grid", {{"rows", double(rows)}, {"columns", double(columns)}});
}
std::shared_ptr<const GroupShape> leaf_spine(std::uint32_t leaves, std::uint32_t spines) {
  return make_group_shape("leaf-spine", {{"leaves", double(leaves)}, {"spines", double(spines)}});
}

std::vector<DragonflyParams> whole_machines() {
  return {{.p = 2, .a = 4, .h = 2},
          {.p = 1, .a = 4, .h = 2, .g = 5, .trunking = 2},
          {.p = 1, .h = 2, .g = 6, .shape = grid(2, 3)},
          {.p = 1, .h = 2, .g = 5, .shape = leaf_spine(3, 3)}};
}

// About a share of all links, and sometimes a router.
Damage draw_damage(const Dragonfly& whole, double share, std::uint32_t seed) {
  RandomStream random{seed, Purpose::kRouting, 0, 0, 0};
  Damage damage;
  for (std::uint32_t router = 0; router < whole.num_routers(); ++router) {
    for (Port port = whole.first_local_port(); port < whole.radix(); ++port) {
      if (random.uniform() < share) damage.links.push_back({router, port});
    }
  }
  if (seed % 3 == 0) damage.routers.push_back(random.below(whole.num_routers()));
  return damage;
}

std::optional<Dragonfly> damaged(DragonflyParams params, double share, std::uint32_t seed) {
  params.damage = draw_damage(Dragonfly{params}, share, seed);
  try {
    return Dragonfly{params};
  } catch (const ConfigError&) {  // routers are cut off
    return std::nullopt;
  }
}

std::vector<Dragonfly> damaged_machines(double share) {
  std::vector<Dragonfly> all;
  for (const DragonflyParams& params : whole_machines()) {
    for (std::uint32_t seed = 1; seed <= kDraws; ++seed) {
      if (auto machine = damaged(params, share, seed)) all.push_back(std::move(*machine));
    }
  }
  return all;
}

// Hops between two routers by the links alone: over one link between their groups or, if there is none, by a
// relay.
std::uint32_t hops_between(const Dragonfly& t, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t last_group = t.group_of(to);
  const auto linked = [&](std::uint32_t some, std::uint32_t other) {
    return !t.links_between(some, other).empty();
  };
  std::vector<std::uint32_t> hops(t.num_routers(), kUnreached);
  std::vector<std::uint32_t> reached{from};
  hops[from] = 0;
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const std::uint32_t here = t.group_of(reached[at]);
    for (Port port = t.first_local_port(); port < t.radix(); ++port) {
      const Endpoint next = t.neighbor(reached[at], port);
      if (next.port == kNoPort || hops[next.router] != kUnreached) continue;
      const std::uint32_t there = t.group_of(next.router);
      const bool direct = here == last_group || linked(here, last_group);
      if (there != here &&
          (direct ? here == last_group || there != last_group : !linked(there, last_group))) {
        continue;
      }
      hops[next.router] = hops[reached[at]] + 1;
      reached.push_back(next.router);
    }
  }
  return hops[to];
}

TEST(dead_links_are_dark_at_both_ends_and_no_others_are) {
  for (const DragonflyParams& params : whole_machines()) {
    const Dragonfly whole{params};
    for (std::uint32_t seed = 1; seed <= kDraws; ++seed) {
      const auto t = damaged(params, 0.05, seed);
      if (!t) continue;
      std::set<std::pair<std::uint32_t, Port>> dead;
      for (const Endpoint& near : draw_damage(whole, 0.05, seed).links) {
        const Endpoint far = whole.neighbor(near.router, near.port);
        dead.insert({near.router, near.port});
        if (far.port != kNoPort) dead.insert({far.router, far.port});
      }
      for (std::uint32_t router = 0; router < whole.num_routers(); ++router) {
        for (Port port = whole.first_local_port(); port < whole.radix(); ++port) {
          const Endpoint before = whole.neighbor(router, port);
          const bool alive = before.port != kNoPort && !dead.contains({router, port}) &&
                             t->is_alive(router) && t->is_alive(before.router);
          CHECK((t->neighbor(router, port) == (alive ? before : Endpoint{})));
        }
      }
    }
  }
}

TEST(groups_have_the_links_that_their_ports_lead_to) {
  bool some_relayed = false;
  for (const Dragonfly& t : damaged_machines(0.15)) {
    for (std::uint32_t from = 0; from < t.num_groups(); ++from) {
      for (std::uint32_t to = 0; to < t.num_groups(); ++to) {
        std::uint32_t links = 0;
        for (std::uint32_t index = 0; index < t.a(); ++index) {
          for (Port port = t.first_global_port(); port < t.radix(); ++port) {
            links += t.group_behind(t.router_at(from, index), port) == to ? 1U : 0U;
          }
        }
        CHECK_EQ(t.links_between(from, to).size(), links);
        CHECK_EQ(t.are_linked(from, to), links > 0);
        for (const Endpoint& near : t.links_between(from, to)) {
          CHECK_EQ(t.group_of(t.neighbor(near.router, near.port).router), to);
        }
        const bool have_hosts = t.live_host_routers(from) > 0 && t.live_host_routers(to) > 0;
        if (from == to || links > 0 || !have_hosts) continue;
        some_relayed = true;
        CHECK(t.is_relayed(from, to));
        for (const RelayLink& link : t.relay_links(from, to)) {
          CHECK_EQ(t.neighbor(link.router, link.port).router, link.far_router);
          CHECK_EQ(t.group_of(link.far_router), link.group);
          CHECK(t.are_linked(link.group, to));
        }
      }
    }
  }
  CHECK(some_relayed);
}

TEST(paths_around_dead_links_are_the_shortest_that_are_left) {
  for (const Dragonfly& t : damaged_machines(0.1)) {
    const std::uint32_t positions = t.longest_local().vcs;
    for (std::uint32_t from = 0; from < t.num_routers(); ++from) {
      for (std::uint32_t to = 0; to < t.num_routers(); ++to) {
        if (from == to || !t.is_alive(from) || !t.is_alive(to)) continue;
        const std::uint32_t hops = t.minimal_hops(from, to);
        CHECK_EQ(hops, hops_between(t, from, to));
        CHECK(hops <= t.diameter());
        for (std::uint32_t choice = 0; choice < t.num_choices(); choice += 4096) {
          const NextHop step = t.minimal_path(from, to, choice);
          const Endpoint next = t.neighbor(from, step.port);
          CHECK(next.port != kNoPort);
          CHECK_EQ(t.minimal_hops(next.router, to), hops - 1);
          if (t.is_global(step.port) || next.router == to || positions == 1) continue;
          CHECK(step.position < positions);
          const NextHop then = t.minimal_path(next.router, to, choice);
          CHECK(t.is_global(then.port) || then.position > step.position);
        }
      }
    }
  }
}

TEST(a_pair_that_nothing_joins_is_named) {
  DragonflyParams params{.p = 1, .a = 2, .h = 1, .g = 2};
  params.damage.links = {{0, 1}};
  try {
    const Dragonfly t{params};
    CHECK(false);
  } catch (const ConfigError& error) {
    CHECK(std::string{error.what()}.find("routers 0 and 1") != std::string::npos);
  }
  const Dragonfly whole{{.p = 1, .a = 2, .h = 1, .g = 2}};
  params.damage.links = {whole.links_between(0, 1).front()};
  try {
    const Dragonfly t{params};
    CHECK(false);
  } catch (const ConfigError& error) {
    CHECK(std::string{error.what()}.find("groups 0 and 1") != std::string::npos);
  }
}

}  // namespace
