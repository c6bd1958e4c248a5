// The local links that a group's packets cross out of its routers' sight: against walks hop by hop, and
// counts by hand.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "routing/remote_hops.hpp"
#include "tests/check.hpp"
#include "tests/tracker_bench.hpp"

namespace {

using namespace dragonfly;

enum Field : std::uint32_t { kBetween, kLast, kMinimal, kAll };

struct Bench : TrackerBench {
  explicit Bench(const DragonflyParams& shape = {.p = 3, .a = 6, .h = 3})
      : TrackerBench{"sent-crossings", shape} {}
  [[nodiscard]] double between(std::uint32_t router, std::uint32_t first, std::uint32_t second,
                               Tick now) const {
    return tracker->read(kBetween, router, first * topology.a() + second, now);
  }
  [[nodiscard]] double last(std::uint32_t router, std::uint32_t type, Tick now) const {
    return tracker->read(kLast, router, type, now);
  }
  [[nodiscard]] double minimal(std::uint32_t router, std::uint32_t group, Tick now) const {
    return tracker->read(kMinimal, router, group, now);
  }
  [[nodiscard]] double sent(std::uint32_t router, Tick now) const {
    return tracker->read(kAll, router, 0, now);
  }
  // Crossings of all types.
  [[nodiscard]] std::uint32_t crossings(std::uint32_t router, Tick now) const {
    double sum = 0;
    for (std::uint32_t type = 0; type < topology.a(); ++type) sum += last(router, type, now);
    return static_cast<std::uint32_t>(sum * 500 * topology.a() + 0.5);
  }
};

double of_links(double packets) { return static_cast<double>(static_cast<float>(packets / 3000)); }
double of_group(double packets) { return static_cast<double>(static_cast<float>(packets / 500)); }

using Types = std::vector<std::uint32_t>;

// The types of the local links behind the first group, and of the last one in it, hop by hop.
Types walked(const Dragonfly& topology, std::uint32_t router, std::uint32_t to,
             const NonMinimalPath& nonminimal) {
  Types types;
  const std::uint32_t own = topology.group_of(router);
  const auto take = [&](Port port) {
    const std::uint32_t next = topology.neighbor(router, port).router;
    const std::uint32_t group = topology.group_of(next);
    if (group == topology.group_of(router) && (group != own || next == to)) {
      types.push_back((next + topology.a() - router) % topology.a());
    }
    router = next;
  };
  if (nonminimal.exists()) {
    while (topology.group_of(router) != nonminimal.group)
      take(topology.port_towards_group(router, nonminimal.group));
    if (visits_router(nonminimal.kind)) {
      while (router != nonminimal.router) take(topology.minimal_port(router, nonminimal.router));
    }
  }
  while (router != to) take(topology.minimal_port(router, to));
  std::ranges::sort(types);
  return types;
}

Types told(const Dragonfly& topology, std::uint32_t router, std::uint32_t to,
           const NonMinimalPath& nonminimal) {
  const RemoteHops hops = remote_hops(topology, router, to, topology.group_of(to), nonminimal);
  Types types{hops.between[0], hops.between[1], hops.last};
  std::erase(types, 0U);
  std::ranges::sort(types);
  return types;
}

TEST(local_hops_of_all_paths_of_a_small_system_are_those_of_a_walk) {
  for (const std::uint32_t groups : {2U, 3U, 9U}) {
    const Dragonfly topology{{.p = 2, .a = 4, .h = 2, .g = groups}};
    const std::uint32_t own = groups - 1;
    std::uint32_t different = 0;
    const auto compare = [&](std::uint32_t from, std::uint32_t to, const NonMinimalPath& nonminimal) {
      different += walked(topology, from, to, nonminimal) == told(topology, from, to, nonminimal) ? 0U : 1U;
    };
    for (std::uint32_t from = own * 4; from < own * 4 + 4; ++from) {
      for (std::uint32_t to = 0; to < topology.num_routers(); ++to) {
        compare(from, to, {});
        for (std::uint32_t at = 0; at < topology.num_routers(); ++at) {
          const std::uint32_t group = topology.group_of(at);
          if (group == own) {  // a non-minimal path inside the group
            if (topology.group_of(to) == own && at != to) compare(from, to, by(NonMinimalKind::kL, own, at));
            continue;
          }
          if (topology.group_of(to) == own) continue;
          for (const NonMinimalKind kind : {NonMinimalKind::kG, NonMinimalKind::kLg})
            compare(from, to, by(kind, group));
          for (const NonMinimalKind kind : {NonMinimalKind::kGl, NonMinimalKind::kLgl}) {
            compare(from, to, by(kind, group, at));
          }
        }
      }
    }
    CHECK_EQ(different, 0U);
  }
}

TEST(a_type_is_how_many_routers_ahead_a_local_link_leads) {
  const Bench bench;
  CHECK_EQ(bench.topology.places_ahead(6, 6), 0U);
  CHECK_EQ(bench.topology.places_ahead(6, 7), 1U);
  CHECK_EQ(bench.topology.places_ahead(7, 6), 5U);
  CHECK_EQ(bench.topology.places_ahead(11, 8), 3U);
}

TEST(every_local_link_of_a_path_behind_its_first_group_counts_once) {
  struct Case {
    NonMinimalPath nonminimal;
    std::uint32_t links;
  };
  const Bench layout;
  const std::uint32_t in = layout.entry(12, 0);   // entry of the group between
  const std::uint32_t out = layout.entry(12, 7);  // the router by which a packet leaves that group
  REQUIRE(in != out);
  const std::uint32_t aside =
      12 * 6 + (in % 6 + 1) % 6 == out ? 12 * 6 + (in % 6 + 2) % 6 : 12 * 6 + (in % 6 + 1) % 6;
  const std::uint32_t to = layout.entry(7, 12) == 7 * 6 ? 7 * 6 + 1 : 7 * 6;
  const std::uint32_t last = layout.entry(7, 0) == to ? 0U : 1U;
  for (const Case& counted :
       {Case{{}, last}, Case{by(NonMinimalKind::kG, 12), 2}, Case{by(NonMinimalKind::kLg, 12), 2},
        Case{by(NonMinimalKind::kGl, 12, aside), 3}, Case{by(NonMinimalKind::kLgl, 12, aside), 3},
        Case{by(NonMinimalKind::kLgl, 12, in), 2}, Case{by(NonMinimalKind::kLgl, 12, out), 2},
        Case{by(NonMinimalKind::kLgl, 7, to), last}}) {
    Bench bench;
    bench.forward(3, to, counted.nonminimal, 10);
    CHECK_EQ(bench.crossings(0, 20), counted.links);  // all routers of the group read the same counts
    CHECK_EQ(bench.crossings(5, 20), counted.links);
    CHECK_EQ(bench.crossings(6, 20), 0U);  // others do not
    const Types types = walked(bench.topology, 3, to, counted.nonminimal);
    for (std::uint32_t type = 1; type < 6; ++type) {
      CHECK_EQ(bench.last(0, type, 20), of_links(static_cast<double>(std::ranges::count(types, type))));
    }
    CHECK_EQ(bench.minimal(0, 7, 20), of_group(counted.nonminimal.exists() ? 0 : 1));
    CHECK_EQ(bench.minimal(0, 6, 20), 0.0);
  }
}

TEST(a_path_with_two_links_between_meets_what_is_on_the_fuller_one) {
  Bench bench;
  // Inside the group the last hop is all that counts: three of type 2, one of type 5.
  for (const Tick now : {10, 11, 12}) bench.forward(0, 2, {}, now);
  bench.forward(4, 3, {}, 13);
  CHECK_EQ(bench.between(1, 2, 0, 20), of_links(3));
  CHECK_EQ(bench.between(1, 0, 2, 20), of_links(3));
  CHECK_EQ(bench.between(1, 5, 2, 20), of_links(3));
  CHECK_EQ(bench.between(1, 5, 1, 20), of_links(1));
  CHECK_EQ(bench.between(1, 1, 3, 20), 0.0);
  CHECK_EQ(bench.last(1, 2, 20), of_links(3));
  CHECK_EQ(bench.last(1, 5, 20), of_links(1));
  CHECK_EQ(bench.minimal(1, 0, 20), 0.0);                 // they went to no other group
  bench.forward(4, 3, by(NonMinimalKind::kL, 0, 1), 21);  // sent by router 1: its last hop is of type 2
  CHECK_EQ(bench.last(1, 2, 22), of_links(4));
}

// A non-minimal path of kind g crosses a link in the intermediate group and one in the destination group.
// With an offset of half the groups both may have the same type.
TEST(a_link_between_and_a_last_link_of_one_type_are_one_number) {
  Bench bench;
  const Dragonfly& topology = bench.topology;
  std::uint32_t expected[6]{};
  for (std::uint32_t router = 0; router < 6; ++router) {
    const std::uint32_t to = 9 * 6 + router;  // tornado
    for (std::uint32_t j = 0; j < 3; ++j) {
      const std::uint32_t group =
          topology.group_behind(router, static_cast<Port>(topology.first_global_port() + j));
      if (group == 9) continue;
      bench.forward(router, to, by(NonMinimalKind::kG, group), 10);
      for (const std::uint32_t type : walked(topology, router, to, by(NonMinimalKind::kG, group))) {
        ++expected[type];
      }
    }
  }
  std::uint32_t shared = 0;
  for (std::uint32_t type = 1; type < 6; ++type) {
    CHECK_EQ(bench.last(2, type, 20), of_links(expected[type]));
    CHECK_EQ(bench.between(2, 0, type, 20), of_links(expected[type]));
    shared += expected[type];
  }
  CHECK_EQ(shared, bench.crossings(2, 20));
  CHECK(shared > 17);  // 17 non-minimal paths, many of them over both links
}

TEST(a_crossing_counts_for_a_window_and_what_is_prescribed_or_sent_by_ports_does_not) {
  Bench bench;
  bench.forward(0, bench.entry(9, 0), {}, 10);  // a path without a last hop
  bench.forward(0, 2, {}, 10);
  bench.forward(0, 2, {}, 400);
  CHECK_EQ(bench.last(0, 2, 509), of_links(2));
  CHECK_EQ(bench.minimal(0, 9, 509), of_group(1));
  CHECK_EQ(bench.crossings(0, 510), 1U);
  CHECK_EQ(bench.last(0, 2, 510), of_links(1));
  CHECK_EQ(bench.minimal(0, 9, 510), 0.0);
  CHECK_EQ(bench.crossings(0, 900), 0U);
  Packet packet = bench.packet_to(9 * 6 + 5);
  packet.non_minimal = true;  // a path that ports prescribe
  bench.tracker->packet_forwarded(0, 0, packet, 1000);
  packet.plan = Plan::kRouted;
  packet.non_minimal = false;
  bench.tracker->packet_forwarded(0, 0, packet, 1000);
  bench.forward(3, 3, {}, 1000);  // a packet to a host of the router
  CHECK_EQ(bench.crossings(0, 1001), 0U);
  CHECK_EQ(bench.minimal(0, 9, 1001), 0.0);
}

TEST(all_that_a_group_sends_to_others_counts_on_every_path) {
  Bench bench;
  const auto share = [](double packets) { return static_cast<double>(static_cast<float>(packets / 9000)); };
  CHECK_EQ(bench.sent(0, 5), 0.0);
  bench.forward(0, bench.entry(9, 0), {}, 10);
  bench.forward(3, 9 * 6, by(NonMinimalKind::kLg, 12), 20);
  bench.forward(4, 3, {}, 30);                            // stays in the group
  bench.forward(4, 3, by(NonMinimalKind::kL, 0, 1), 30);  // stays in it on a non-minimal path
  Packet packet = bench.packet_to(9 * 6 + 5);
  packet.plan = Plan::kRouted;  // a path that ports prescribe
  bench.tracker->packet_forwarded(5, 0, packet, 40);
  CHECK_EQ(bench.sent(0, 50), share(3));  // share of 18 links with 500 packets each
  CHECK_EQ(bench.sent(5, 50), share(3));
  CHECK_EQ(bench.sent(6, 50), 0.0);
  CHECK_EQ(bench.minimal(0, 9, 50), of_group(1));
  CHECK_EQ(bench.sent(0, 510), share(2));
  CHECK_EQ(bench.sent(0, 520), share(1));
  CHECK_EQ(bench.sent(0, 540), 0.0);
}

TEST(links_that_lead_nowhere_carry_nothing) {
  Bench bench{{.p = 3, .a = 6, .h = 3, .g = 4}};  // three of 18 ports lead to other groups
  const Dragonfly& topology = bench.topology;
  std::uint32_t links = 0;
  for (std::uint32_t router = 0; router < 6; ++router) {
    for (Port port = topology.first_global_port(); port < topology.radix(); ++port) {
      links += topology.neighbor(router, port).port != kNoPort ? 1U : 0U;
    }
  }
  bench.forward(0, 2 * 6, {}, 10);
  CHECK_EQ(bench.sent(0, 20), static_cast<double>(static_cast<float>(1.0 / (links * 500))));
  CHECK(links < 18);
}

}  // namespace
