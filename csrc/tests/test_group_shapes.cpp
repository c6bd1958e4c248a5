// Groups that are no full meshes: the links of a shape, the shortest paths in it, and the wiring around it.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/check.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {
namespace {

std::shared_ptr<const GroupShape> grid(double rows, double columns) {
  return make_group_shape("grid", {{"rows", rows}, {"columns", columns}});
}

std::vector<Dragonfly> systems() {
  std::vector<Dragonfly> all;
  for (const std::string& name : arrangement_names()) {
    const Arrangement arrangement = parse_arrangement(name);
    all.emplace_back(DragonflyParams{
        .p = 2, .h = 2, .g = 5, .trunking = 3, .arrangement = arrangement, .shape = grid(2, 3)});
    all.emplace_back(
        DragonflyParams{.p = 1, .h = 1, .g = 4, .arrangement = arrangement, .shape = grid(3, 3)});
    all.emplace_back(
        DragonflyParams{.p = 1, .h = 2, .g = 3, .arrangement = arrangement, .shape = grid(1, 4)});
    all.emplace_back(
        DragonflyParams{.p = 1, .h = 0, .g = 1, .arrangement = arrangement, .shape = grid(4, 2)});
  }
  return all;
}

TEST(a_grid_joins_rows_and_columns) {
  const auto shape = grid(3, 4);
  CHECK_EQ(shape->routers(), 12U);
  CHECK_EQ(shape->ports(), 5U);
  for (std::uint32_t index = 0; index < 12; ++index) {
    std::set<std::uint32_t> peers;
    for (std::uint32_t slot = 0; slot < shape->ports(); ++slot) {
      const LocalEnd far = shape->across({index, slot});
      CHECK((shape->across(far) == LocalEnd{index, slot}));
      CHECK(slot < 3 ? far.index / 4 == index / 4 : far.index % 4 == index % 4);
      peers.insert(far.index);
    }
    CHECK_EQ(peers.size(), 5U);
    CHECK(!peers.contains(index));
  }
}

// The distance and the set of shortest paths, by hand: one hop in a row or a column, else two, by either
// corner.
TEST(a_grid_has_two_shortest_paths_between_corners) {
  const LocalPaths paths{*grid(3, 4)};
  CHECK_EQ(paths.longest().any, 2U);
  for (std::uint32_t from = 0; from < 12; ++from) {
    for (std::uint32_t to = 0; to < 12; ++to) {
      const std::uint32_t apart = (from / 4 != to / 4 ? 1U : 0U) + (from % 4 != to % 4 ? 1U : 0U);
      CHECK_EQ(paths.hops(from, to), apart);
      CHECK_EQ(paths.slots(from, to).size(), apart);
    }
  }
}

TEST(every_mesh_by_table_is_the_mesh_by_arithmetic) {
  for (const std::string& name : arrangement_names()) {
    const Arrangement arrangement = parse_arrangement(name);
    const Dragonfly by_arithmetic{{.p = 2, .a = 5, .h = 2, .arrangement = arrangement}};
    const Dragonfly by_table{{.p = 2,
                              .h = 2,
                              .arrangement = arrangement,
                              .shape = make_group_shape("all-to-all", {{"routers", 5.0}})}};
    CHECK_EQ(by_table.diameter(), 3U);
    for (std::uint32_t from = 0; from < by_table.num_routers(); ++from) {
      for (Port port = by_table.first_local_port(); port < by_table.radix(); ++port) {
        CHECK((by_table.neighbor(from, port) == by_arithmetic.neighbor(from, port)));
      }
      for (std::uint32_t to = 0; to < by_table.num_routers(); ++to) {
        CHECK_EQ(by_table.minimal_hops(from, to), by_arithmetic.minimal_hops(from, to));
        if (from != to) CHECK_EQ(by_table.minimal_port(from, to), by_arithmetic.minimal_port(from, to));
      }
    }
  }
}

TEST(every_hop_gets_one_closer_and_local_hops_rise_in_position) {
  for (const Dragonfly& t : systems()) {
    const std::uint32_t last = t.local_path_hops() - 1;
    for (std::uint32_t from = 0; from < t.num_routers(); ++from) {
      for (std::uint32_t to = 0; to < t.num_routers(); ++to) {
        if (from == to) continue;
        const std::uint32_t hops = t.minimal_hops(from, to);
        CHECK(hops <= t.diameter());
        const std::vector<Port> shortest = t.minimal_ports(from, to);
        std::set<Port> taken;
        for (std::uint32_t choice = 0; choice < t.num_choices(); choice += t.draws_paths() ? 1024 : 1) {
          const NextHop step = t.minimal_path(from, to, choice);
          taken.insert(step.port);
          CHECK(std::ranges::find(shortest, step.port) != shortest.end());
          const std::uint32_t next = t.neighbor(from, step.port).router;
          CHECK_EQ(t.minimal_hops(next, to), hops - 1);
          if (t.is_global(step.port) || next == to) continue;
          CHECK(step.position <= last);
          for (std::uint32_t on = 0; on < t.num_choices(); on += t.draws_paths() ? 1024 : 1) {
            const NextHop then = t.minimal_path(next, to, on);
            CHECK(t.is_global(then.port) || then.position > step.position);
          }
        }
        // Every path inside a group gets its turn.
        if (t.group_of(from) == t.group_of(to)) CHECK_EQ(taken.size(), shortest.size());
      }
    }
  }
}

// For a gateway that is chosen at the source router and kept: every hop has one less to go, local hops rise
// in position, and no path is longer than a shortest one may be; every link between the groups is drawn as
// often.
TEST(a_way_by_any_gateway_gets_there_by_a_link_of_it) {
  for (const Dragonfly& t : systems()) {
    if (t.trunking() < 2) continue;
    for (std::uint32_t from = 0; from < t.num_routers(); ++from) {
      for (std::uint32_t to = 0; to < t.num_routers(); ++to) {
        const std::uint32_t own = t.group_of(from);
        const std::uint32_t other = t.group_of(to);
        if (own == other) continue;
        std::vector<std::uint32_t> drawn;
        for (std::uint32_t choice = 0; choice < t.num_choices(); choice += 512) {
          const auto [gateway, rest] = t.any_gateway(own, other, choice);
          drawn.push_back(gateway);
          std::uint32_t router = from;
          std::uint32_t left = t.hops_by_gateway(from, own, gateway, to, other);
          CHECK(t.minimal_hops(from, to) <= left && left <= t.diameter());
          for (int position = -1; t.group_of(router) == own; --left) {
            const NextHop step = t.path_by_gateway(router, own, gateway, to, other, rest);
            CHECK_EQ(t.is_global(step.port), router == gateway);
            CHECK(t.is_global(step.port) || step.position > position);
            position = step.position;
            router = t.neighbor(router, step.port).router;
          }
          CHECK_EQ(t.group_of(router), other);
          CHECK_EQ(t.minimal_hops(router, to), left);
        }
        for (std::uint32_t k = 0; k < t.trunking(); ++k) {
          const std::uint32_t gateway = t.links_between(own, other)[k].router;
          std::uint32_t links = 0;
          for (std::uint32_t i = 0; i < t.trunking(); ++i) {
            links += t.links_between(own, other)[i].router == gateway ? 1U : 0U;
          }
          const double share =
              static_cast<double>(std::ranges::count(drawn, gateway)) / static_cast<double>(drawn.size());
          CHECK(std::abs(share - static_cast<double>(links) / t.trunking()) < 0.02);
        }
      }
    }
  }
}

TEST(the_path_towards_a_group_goes_by_the_nearest_link) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      for (std::uint32_t group = 0; group < t.num_groups(); ++group) {
        const std::uint32_t own = t.group_of(router);
        if (group == own) continue;
        std::uint32_t nearest = 99;
        for (std::uint32_t k = 0; k < t.trunking(); ++k) {
          nearest = std::min(nearest, t.minimal_hops(router, t.links_between(own, group)[k].router));
        }
        std::uint32_t at = router;
        for (std::uint32_t hops = 0; t.group_of(at) == own; ++hops) {
          const NextHop step =
              t.path_towards_group(at, group, (hops * 7919U + router * 104729U) % t.num_choices());
          CHECK_EQ(t.is_global(step.port), hops == nearest);
          REQUIRE(hops <= nearest);
          at = t.neighbor(at, step.port).router;
        }
        CHECK_EQ(t.group_of(at), group);
      }
    }
  }
}

TEST(xc_deals_bundles_of_two_to_the_routers_column_by_column) {
  // An eighth of Theta: 12 groups of 3 rows and 8 columns, three bundles a pair, peer k in column k mod 8.
  const Dragonfly t{
      {.p = 2, .h = 2, .g = 12, .trunking = 3, .arrangement = Arrangement::kXc, .shape = grid(3, 8)}};
  CHECK_EQ(t.num_hosts(), 576U);
  CHECK_EQ(t.bundled(t.global_class()), 2U);
  for (std::uint32_t group = 0; group < 12; ++group) {
    for (std::uint32_t peer = 0; peer < 12; ++peer) {
      if (peer == group) continue;
      const std::uint32_t rank = peer < group ? peer : peer - 1;
      for (std::uint32_t k = 0; k < 3; ++k) {
        const Endpoint& near = t.links_between(group, peer)[k];
        const std::uint32_t index = t.local_index_of(near.router);
        CHECK_EQ(index % 8, rank % 8);
        CHECK_EQ(index / 8, k);
        CHECK_EQ(t.local_index_of(t.neighbor(near.router, near.port).router) / 8, k);  // a link keeps its row
      }
    }
  }
}

TEST(link_classes_have_names_and_bundles) {
  const Dragonfly t{
      {.p = 2, .h = 1, .g = 4, .shape = make_group_shape("grid", {{"rows", 2.0}, {"columns", 3.0}})}};
  CHECK_EQ(t.num_link_classes(), 4U);
  const std::vector<std::string> expected{"host", "host", "rank-1", "rank-1", "rank-2", "rank-3"};
  for (Port port = 0; port < t.radix(); ++port) CHECK(t.class_name(t.port_class(port)) == expected[port]);
  CHECK_EQ(t.bundled(t.port_class(4)), 3U);
  CHECK(index_of(t.global_class()) == 3);
  const Dragonfly mesh{{.p = 1, .a = 2, .h = 1}};
  CHECK(mesh.class_name(mesh.port_class(1)) == "local");
  CHECK(mesh.class_name(mesh.port_class(2)) == "global");
}

}  // namespace
}  // namespace dragonfly
