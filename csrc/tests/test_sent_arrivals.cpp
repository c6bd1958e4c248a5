// By which last local links a router's packets came to their destinations, against what is counted by hand.
#include <cmath>
#include <cstdint>

#include "routing/last_router.hpp"
#include "tests/check.hpp"
#include "tests/tracker_bench.hpp"

namespace {

using namespace dragonfly;

constexpr std::uint32_t kLastLink = 0;
constexpr std::uint32_t kDestinationRouter = 1;

double of_window(double packets) { return static_cast<double>(static_cast<float>(packets / 200)); }

struct Bench : TrackerBench {
  Bench() : TrackerBench{"sent-arrivals"} {}
  [[nodiscard]] double arrivals(std::uint32_t router, std::uint32_t to, std::uint32_t last, Tick now) const {
    return tracker->read(kLastLink, router, arrival_of(topology, to, last), now);
  }
};

TEST(a_packet_comes_to_its_router_by_the_one_where_it_enters_the_group) {
  const Bench bench;
  const Dragonfly& topology = bench.topology;
  const std::uint32_t to = 7 * topology.a() + 4;
  const auto last = [&](const Detour& detour) { return last_router_before(topology, 0, to, 7, detour); };
  CHECK_EQ(last({}), bench.entry(7, 0));
  for (const DetourKind kind : {DetourKind::kG, DetourKind::kLg}) {
    CHECK_EQ(last(by(kind, 12)), bench.entry(7, 12));
    CHECK_EQ(last(by(kind, 7)), bench.entry(7, 0));  // through its own group: as a shortest path
  }
  for (const DetourKind kind : {DetourKind::kGl, DetourKind::kLgl}) {
    CHECK_EQ(last(by(kind, 12, 12 * topology.a())), bench.entry(7, 12));
    CHECK_EQ(last(by(kind, 7, to - 1)), to - 1);
    CHECK_EQ(last(by(kind, 7, to)), bench.entry(7, 0));
  }
  CHECK_EQ(last_router_before(topology, to - 2, to, 7, {}), to - 2);  // inside the group
  CHECK_EQ(last_router_before(topology, to - 2, to, 7, by(DetourKind::kL, 7, to - 3)), to - 3);
  CHECK_EQ(last_router_before(topology, to - 2, to, 7, by(DetourKind::kG, 3)), bench.entry(7, 3));
}

// What tornado does: three hosts of a router, one destination router, and non-minimal paths by the router's
// own links.
TEST(own_detours_of_a_router_meet_on_one_or_two_last_links) {
  Bench bench;
  const Dragonfly& topology = bench.topology;
  const std::uint32_t to = 9 * topology.a() + 5;
  double together = 0;
  std::uint32_t groups[3]{};
  for (std::uint32_t j = 0; j < 3; ++j) {
    groups[j] = topology.group_behind(0, static_cast<Port>(topology.first_global_port() + j));
    bench.forward(0, to, by(DetourKind::kG, groups[j]), 10);
  }
  std::uint32_t different = 0;
  for (std::uint32_t last = 9 * topology.a(); last < 10 * topology.a(); ++last) {
    const double here = bench.arrivals(0, to, last, 20);
    together += here;
    different += here > 0 ? 1U : 0U;
  }
  CHECK(different <= 2);
  CHECK(std::abs(together - 3.0 / 200) < 1e-6);
  CHECK_EQ(bench.tracker->read(kDestinationRouter, 0, to, 20), of_window(3));
  CHECK_EQ(bench.tracker->read(kDestinationRouter, 0, to - 1, 20), 0.0);
  CHECK_EQ(bench.tracker->read(kDestinationRouter, 1, to, 20), 0.0);  // of other routers nothing is known
}

TEST(an_arrival_counts_for_a_window_and_prescribed_routes_do_not) {
  Bench bench;
  const std::uint32_t to = 9 * bench.topology.a() + 5;
  const std::uint32_t last = bench.entry(9, 0);
  bench.forward(0, to, {}, 10);
  bench.forward(0, to, {}, 60);
  CHECK_EQ(bench.arrivals(0, to, last, 209), of_window(2));
  CHECK_EQ(bench.arrivals(0, to, last, 210), of_window(1));
  CHECK_EQ(bench.tracker->read(kDestinationRouter, 0, to, 259), of_window(1));
  CHECK_EQ(bench.tracker->read(kDestinationRouter, 0, to, 260), 0.0);
  Packet packet = bench.packet_to(to);
  packet.plan = Plan::kRouted;
  bench.tracker->packet_forwarded(0, 0, packet, 300);
  bench.forward(to, to, {}, 300);  // to a host of its own
  CHECK_EQ(bench.tracker->read(kDestinationRouter, 0, to, 301), 0.0);
  CHECK_EQ(bench.tracker->read(kDestinationRouter, to, to, 301), 0.0);
}

}  // namespace
