// The load of a router's hosts on links between groups: counts by hand.
#include <cstdint>

#include "tests/check.hpp"
#include "tests/tracker_bench.hpp"

namespace {

using namespace dragonfly;

enum Field : std::uint32_t { kThere, kOfHosts };

struct Bench : TrackerBench {
  explicit Bench(const DragonflyParams& shape = {.p = 3, .a = 6, .h = 3})
      : TrackerBench{"host-load", shape} {}
  [[nodiscard]] double there(std::uint32_t router, std::uint32_t group, Tick now) const {
    return tracker->read(kThere, router, group, now);
  }
  [[nodiscard]] double of_hosts(std::uint32_t router, Tick now) const {
    return tracker->read(kOfHosts, router, 0, now);
  }
};

double rounded(double load) { return static_cast<double>(static_cast<float>(load)); }

TEST(the_load_on_a_link_is_that_of_a_group_whose_routers_all_send_alike) {
  Bench bench;
  for (int i = 0; i < 50; ++i) bench.forward(3, 7 * 6 + 1, {}, 10);
  // A link carries 2,000 packets in the window, and six routers share it, and 18 links to all other groups.
  CHECK_EQ(bench.there(3, 7, 20), rounded(50.0 * 6 / 2000));
  CHECK_EQ(bench.of_hosts(3, 20), rounded(50.0 * 6 / 2000 / 18));
  CHECK_EQ(bench.there(3, 8, 20), 0.0);
}

TEST(a_router_counts_the_packets_of_its_own_hosts_alone) {
  Bench bench;
  bench.forward(3, 7 * 6, {}, 10);
  CHECK_EQ(bench.there(4, 7, 20), 0.0);
  CHECK_EQ(bench.of_hosts(4, 20), 0.0);
}

TEST(packets_that_stay_in_the_group_load_no_link_between_groups) {
  Bench bench;
  bench.forward(3, 5, {}, 10);
  CHECK_EQ(bench.there(3, 0, 20), 0.0);
  CHECK_EQ(bench.of_hosts(3, 20), 0.0);
}

TEST(a_packet_counts_for_the_length_of_the_window) {
  Bench bench;
  bench.forward(3, 7 * 6, {}, 10);
  CHECK(bench.there(3, 7, 2009) > 0);
  CHECK_EQ(bench.there(3, 7, 2010), 0.0);
  CHECK_EQ(bench.of_hosts(3, 2010), 0.0);
}

TEST(parallel_links_share_the_load) {
  Bench bench{{.p = 3, .a = 6, .h = 3, .trunking = 2}};
  bench.forward(3, 7 * 6, {}, 10);
  CHECK_EQ(bench.there(3, 7, 20), rounded(6.0 / 2000 / 2));
  CHECK_EQ(bench.of_hosts(3, 20), rounded(6.0 / 2000 / 18));
}

}  // namespace
