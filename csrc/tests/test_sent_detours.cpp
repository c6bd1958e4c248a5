// What a router's packets did lately, against what is counted by hand.
#include <cstdint>

#include "tests/check.hpp"
#include "tests/tracker_bench.hpp"

namespace {

using namespace dragonfly;

constexpr std::uint32_t kDetour = 0;
constexpr std::uint32_t kMinimal = 1;

struct Bench : TrackerBench {
  Bench() : TrackerBench{"sent-detours"} {}
  void forward(std::uint32_t router, std::uint32_t to_group, const Detour& detour, Tick now) {
    TrackerBench::forward(router, to_group * topology.a(), detour, now);
  }
  [[nodiscard]] double detours(std::uint32_t router, std::uint32_t between, std::uint32_t to,
                               Tick now) const {
    return tracker->read(kDetour, router, between * topology.num_groups() + to, now);
  }
};

TEST(detours_under_an_offset_of_h_groups_meet_on_one_type_of_local_link) {
  Bench bench;
  // Whatever group is between: from group 0 to group 3 = h, the same local link is crossed (paper, section
  // 2).
  for (const std::uint32_t between : {5U, 9U, 14U}) {
    bench.forward(0, 3, by(DetourKind::kG, between), 10);
    bench.forward(0, 3, by(DetourKind::kLg, between), 20);
  }
  for (const std::uint32_t between : {6U, 10U, 15U}) {
    CHECK_EQ(bench.detours(0, between, 3, 30), static_cast<double>(static_cast<float>(6.0 / 200)));
    CHECK_EQ(bench.detours(1, between, 3, 30), 0.0);  // of other routers nothing is known
  }
}

TEST(only_detours_that_cross_a_local_link_of_a_group_between_count) {
  Bench bench;
  bench.forward(0, 3, by(DetourKind::kGl, 9), 10);
  bench.forward(0, 3, by(DetourKind::kLgl, 9), 10);
  bench.forward(0, 3, by(DetourKind::kG, 3), 10);
  bench.forward(0, 3, {}, 10);
  CHECK_EQ(bench.detours(0, 9, 3, 20), 0.0);
  CHECK_EQ(bench.detours(0, 0, 3, 20), 0.0);  // through its own group, or that of the destination: none
  CHECK_EQ(bench.detours(0, 3, 3, 20), 0.0);
}

TEST(a_sent_packet_counts_for_a_window) {
  Bench bench;
  bench.forward(0, 3, by(DetourKind::kG, 9), 10);
  bench.forward(0, 3, {}, 10);
  CHECK(bench.detours(0, 9, 3, 209) > 0);
  CHECK_EQ(bench.tracker->read(kMinimal, 0, 3, 209), static_cast<double>(static_cast<float>(6.0 / 200)));
  CHECK_EQ(bench.tracker->read(kMinimal, 0, 4, 209), 0.0);
  CHECK_EQ(bench.detours(0, 9, 3, 210), 0.0);
  CHECK_EQ(bench.tracker->read(kMinimal, 0, 3, 210), 0.0);
}

}  // namespace
