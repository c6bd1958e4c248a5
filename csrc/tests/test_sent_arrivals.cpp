// By which last local links a router's packets came to their destinations, against what is counted by hand.
#include <cmath>
#include <cstdint>
#include <memory>

#include "routing/last_router.hpp"
#include "routing/router_tracker.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

constexpr std::uint32_t kLastLink = 0;
constexpr std::uint32_t kDestinationRouter = 1;

double of_window(double packets) { return static_cast<double>(static_cast<float>(packets / 200)); }

// 342 hosts: 19 groups of 6 routers, three global links each. A tick is a nanosecond, and so is a packet.
struct Bench {
  Bench() : topology{{.p = 3, .a = 6, .h = 3}} {
    TrackerSite site{
        .topology = topology, .num_routers = topology.num_routers(), .clock = 1, .quantum_ps = kPsPerNs};
    for (TrackedLinks& link : site.links) link.packet_ps = kPsPerNs;
    const TrackerRequest request = request_tracker("sent-arrivals", {});
    tracker = request.info->make(*request.info, request.parameters, site);
  }
  void forward(std::uint32_t router, std::uint32_t to, const Detour& detour, Tick now) {
    Packet packet;
    packet.destination_router = to;
    packet.destination_group = static_cast<std::uint16_t>(topology.group_of(to));
    if (detour.exists()) PathFollower::set_detour(packet, detour);
    tracker->packet_forwarded(router, 0, packet, now);
  }
  [[nodiscard]] double arrivals(std::uint32_t router, std::uint32_t to, std::uint32_t last, Tick now) const {
    return tracker->read(kLastLink, router, arrival_of(topology, to, last), now);
  }
  [[nodiscard]] std::uint32_t entry(std::uint32_t to_group, std::uint32_t from_group) const {
    return topology.links_between(to_group, from_group)->router;
  }

  Dragonfly topology;
  std::unique_ptr<RouterTracker> tracker;
};

Detour by(DetourKind kind, std::uint16_t group, std::uint32_t router = kNil) {
  return {.kind = kind, .router = router, .group = group};
}

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

// What tornado does: three hosts of a router, one destination router, and detours by the router's own links.
TEST(own_detours_of_a_router_meet_on_one_or_two_last_links) {
  Bench bench;
  const Dragonfly& topology = bench.topology;
  const std::uint32_t to = 9 * topology.a() + 5;
  double together = 0;
  std::uint32_t groups[3]{};
  for (std::uint32_t j = 0; j < 3; ++j) {
    groups[j] = topology.group_behind(0, static_cast<Port>(topology.first_global_port() + j));
    bench.forward(0, to, by(DetourKind::kG, static_cast<std::uint16_t>(groups[j])), 10);
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
  Packet packet;
  packet.destination_router = to;
  packet.destination_group = 9;
  packet.plan = Plan::kRouted;
  bench.tracker->packet_forwarded(0, 0, packet, 300);
  bench.forward(to, to, {}, 300);  // to a host of its own
  CHECK_EQ(bench.tracker->read(kDestinationRouter, 0, to, 301), 0.0);
  CHECK_EQ(bench.tracker->read(kDestinationRouter, to, to, 301), 0.0);
}

}  // namespace
