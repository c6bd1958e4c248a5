// Counters of traffic against what is counted by hand: LIA's global and remote counters, ACOR's level, and
// the occupancies that UGAL-G sees.
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "routing/offered_traffic.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"
#include "routing/traffic_level.hpp"
#include "simulation/simulation.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

// A tracker of a whole system, and events made by hand. A tick is a nanosecond.
struct Bench {
  Bench(const DragonflyParams& params, const std::string& name, const Parameters& given = {})
      : topology{params} {
    TrackerSite site{
        .topology = topology, .num_routers = topology.num_routers(), .clock = 1, .quantum_ps = kPsPerNs};
    for (TrackedLinks& links : site.links) links.packet_ps = 10.0 * kPsPerNs;
    const TrackerRequest request = request_tracker(name, given);
    tracker = request.info->make(*request.info, request.parameters, site);
  }
  [[nodiscard]] Packet packet_for(std::uint32_t group) const {
    Packet packet;
    packet.destination_group = static_cast<std::uint16_t>(group);
    packet.non_minimal = true;
    return packet;
  }
  void store(std::uint32_t router, std::uint32_t group) {
    tracker->packet_injected(router, packet_for(group));
  }
  void forward(std::uint32_t router, std::uint32_t group, Tick now) {
    tracker->packet_forwarded(router, 0, packet_for(group), now);
  }
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t router, std::uint32_t column, Tick now) const {
    return tracker->read(field, router, column, now);
  }
  [[nodiscard]] double read(Offered field, std::uint32_t router, std::uint32_t column, Tick now) const {
    return read(static_cast<std::uint32_t>(field), router, column, now);
  }

  Dragonfly topology;
  std::unique_ptr<RouterTracker> tracker;
};

// The text's sign of the palm tree, for which equation 3 is written; h = 6 as in the paper.
const DragonflyParams kPaper{.p = 6, .a = 12, .h = 6, .arrangement = Arrangement::kPalmtreePlus};

TEST(a_note_counts_for_exactly_the_length_of_the_window) {
  SlidingWindow window{200};
  int count = 0;
  const auto at = [&](Tick now) {
    window.move_to(now, [&](SlidingWindow::Note note) { count -= static_cast<int>(note.group); });
    return count;
  };
  for (const Tick when : {10, 10, 150, 900}) {
    (void)at(when);
    window.add({0, 1}, when);
    ++count;
  }
  CHECK_EQ(at(900), 1);
  CHECK_EQ(at(1'099), 1);
  CHECK_EQ(at(1'100), 0);
}

TEST(global_counters_are_what_left_in_the_window_and_a_share_of_what_waits) {
  Bench bench{kPaper, kOfferedTraffic};
  for (int i = 0; i < 7; ++i) bench.store(0, 3);
  bench.forward(0, 3, 50);
  bench.forward(0, 3, 100);
  CHECK_EQ(bench.read(Offered::kOfferedThere, 0, 3, 100), 2.5);
  CHECK_EQ(bench.read(Offered::kOffered, 0, 2, 249), 2.5);  // group 3 is column 2 of group 0
  CHECK_EQ(bench.read(Offered::kOffered, 0, 2, 250), 1.5);
  CHECK_EQ(bench.read(Offered::kOffered, 0, 2, 300), 0.5);
  CHECK_EQ(bench.read(Offered::kOfferedThere, 1, 3, 300), 0.0);  // another router
  const std::uint32_t in_group_5 = 5 * bench.topology.a();
  bench.store(in_group_5, 3);
  // 5 + 1 + 70 = 3 modulo 73; tenths are floats
  CHECK(std::fabs(bench.read(Offered::kOffered, in_group_5, 70, 300) - 0.1) < 1e-6);
  bench.store(in_group_5, 5);  // packets inside the group have no counter
  CHECK_EQ(bench.read(Offered::kOfferedThere, in_group_5, 5, 300), 0.0);
}

TEST(traffic_is_benign_below_the_low_threshold_and_adverse_above_the_high_one) {
  Bench bench{kPaper, kOfferedTraffic};  // 3 and 5
  const auto level = [&bench](Tick now) {
    return static_cast<TrafficLevel>(bench.read(Offered::kLevelThere, 0, 9, now));
  };
  for (const TrafficLevel expected : {TrafficLevel::kBenign, TrafficLevel::kBenign, TrafficLevel::kMixed,
                                      TrafficLevel::kMixed, TrafficLevel::kMixed, TrafficLevel::kAdverse}) {
    bench.store(0, 9);
    bench.forward(0, 9, 10);
    CHECK(level(10) == expected);
  }
  CHECK(level(210) == TrafficLevel::kBenign);
}

TEST(thresholds_are_those_of_table_1_for_a_share_of_5_thirds_and_lie_as_many_deviations_above_others) {
  const TrackerInfo& owner = find_tracker(kOfferedTraffic);
  const auto check = [&owner](double share, double low, double high) {
    const TrafficThresholds found = thresholds_of(owner, {}, share);
    CHECK_EQ(found.low_packets, low);
    CHECK_EQ(found.high_packets, high);
    CHECK_EQ(found.saturated_packets, high);
  };
  check(5.0 / 3, 3, 5);    // 5,256 hosts
  check(20.0 / 12, 3, 5);  // however it is divided
  check(2.5, 4, 6);        // 1,056
  check(10.0 / 3, 5, 8);   // 342
  check(5, 7, 10);         // 72
  check(0.1, 1, 1);        // a counter of 0 stays benign
  const TrafficThresholds high = thresholds_of(owner, {{"low_packets", 9.0}}, 5.0 / 3);
  CHECK_EQ(high.low_packets, 9.0);
  CHECK_EQ(high.high_packets, 9.0);
  const TrafficThresholds low = thresholds_of(owner, {{"high_packets", 2.0}}, 5.0 / 3);
  CHECK_EQ(low.low_packets, 2.0);
  CHECK_EQ(low.high_packets, 2.0);
  CHECK_THROWS(ConfigError, thresholds_of(owner, {{"low_packets", 6.0}, {"high_packets", 5.0}}, 5.0 / 3));
}

TEST(a_link_of_the_router_is_saturated_when_the_counter_of_the_group_behind_it_is) {
  Bench bench{kPaper, kOfferedTraffic};
  CHECK_EQ(bench.read(Offered::kOwnLinks, 0, 0, 0), 6.0);
  const std::uint32_t behind = bench.topology.group_behind(0, bench.topology.first_global_port());
  for (std::uint32_t group = 1; group < 73; ++group) {
    for (int i = 0; i < (group == behind ? 6 : 5); ++i) {
      bench.store(0, group);
      bench.forward(0, group, 10);
    }
  }
  CHECK_EQ(bench.read(Offered::kSaturatedLinks, 0, 0, 10), 1.0);
  Bench few{{.p = 2, .a = 4, .h = 2, .g = 4}, kOfferedTraffic};  // 3 of 8 ports lead somewhere
  double links = 0;
  for (std::uint32_t router = 0; router < 4; ++router) links += few.read(Offered::kOwnLinks, router, 0, 0);
  CHECK_EQ(links, 3.0);
}

// The counter R_k of equation 3 from one packet for each group in a list.
double equation_3(std::int32_t k, const std::vector<std::int32_t>& offsets) {
  double sum = 0;
  for (std::int32_t j = -5; j <= 5; ++j) {
    for (const std::int32_t offset : offsets) {
      if ((k * 6 + j - offset) % 73 == 0) sum += (6.0 - std::abs(j)) / 6.0;
    }
  }
  return sum;
}

TEST(remote_counters_are_those_of_equation_3_on_the_palm_tree_of_the_text) {
  // The paper neglects that the groups between source and destination shift by one (footnote 1): |offset| - 1
  // of the 71 groups between may be counted one link further.
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{1}, {6}, {8}, {3, 9}, {9, 11}, {-1}, {-8}}) {
    Bench bench{kPaper, "remote-traffic"};
    double most_shifted = 0;
    for (const std::int32_t offset : offsets) {
      bench.store(0, static_cast<std::uint32_t>((offset + 73) % 73));
      bench.forward(0, static_cast<std::uint32_t>((offset + 73) % 73), 0);
      most_shifted += (std::abs(offset) + 1) / 71.0;
    }
    for (std::int32_t k = 1; k <= 11; ++k) {
      const std::int32_t type = k <= 6 ? k : k - 12;
      const double counted = bench.read(0, 0, static_cast<std::uint32_t>(k - 1), 0);
      CHECK(std::abs(counted - equation_3(type, offsets)) <= most_shifted);
    }
  }
}

TEST(the_other_sign_of_the_palm_tree_loads_the_reverse_links) {
  DragonflyParams minus = kPaper;
  minus.arrangement = Arrangement::kPalmtree;
  Bench plus{kPaper, "remote-traffic"};
  Bench other{minus, "remote-traffic"};
  for (Bench* bench : {&plus, &other}) {
    bench->store(0, 6);
    bench->forward(0, 6, 0);
  }
  CHECK(plus.read(0, 0, 0, 0) > 0.9);    // load of links to the next router
  CHECK(other.read(0, 0, 10, 0) > 0.9);  // load of links to the router before
  CHECK(other.read(0, 0, 0, 0) < 0.1);
  CHECK(plus.read(1, 0, 6, 0) > 0.9);
  CHECK(other.read(1, 0, 6, 0) > 0.9);
}

TEST(links_of_a_destination_and_what_waits_count_and_trunking_spreads_them) {
  Bench bench{kPaper, "remote-traffic"};
  for (int i = 0; i < 10; ++i) bench.store(0, 6);
  const double waiting = bench.read(1, 0, 6, 0);
  CHECK(waiting > 0.9 && waiting <= 1.0);  // 10 * w
  CHECK_EQ(bench.read(1, 0, 0, 0), 0.0);   // the own group
  const auto share = [](std::uint32_t trunking) {
    Bench one{{.p = 4, .a = 8, .h = 4, .trunking = trunking}, "remote-traffic"};
    one.store(0, 4);
    one.forward(0, 4, 0);
    return one.read(1, 0, 4, 0);
  };
  CHECK(share(2) < 0.75 * share(1));
}

TEST(every_packet_is_in_a_remote_counter_or_needs_no_second_local_hop) {
  for (const Arrangement arrangement :
       {Arrangement::kPalmtree, Arrangement::kAbsolute, Arrangement::kCirculant, Arrangement::kRelative}) {
    for (const std::uint32_t groups : {9U, 7U, 2U, 1U}) {
      Bench bench{{.p = 2, .a = 4, .h = 2, .g = groups, .arrangement = arrangement}, "remote-traffic"};
      for (std::uint32_t to = 1; to < groups; ++to) {
        bench.store(0, to);
        bench.forward(0, to, 0);
      }
      double sum = 0;
      for (std::uint32_t k = 0; k < 3; ++k) sum += bench.read(0, 0, k, 0);
      CHECK(sum <= groups - 1.0 && (groups < 4 || sum > 0.5 * (groups - 1.0)));
      for (std::uint32_t k = 0; k < 3; ++k) CHECK_EQ(bench.read(0, 0, k, 200), 0.0);
    }
  }
}

// ACOR.

TEST(nonminimal_grow_after_15_and_50_attempts_in_vain_and_shrink_after_quiet_intervals) {
  Bench bench{kSmall, "nonminimal-length"};
  const Packet packet = bench.packet_for(1);
  bench.tracker->head_refused(0, 0, packet, Refusal::kNoRoom, 100);
  bench.tracker->head_refused(0, 0, packet, Refusal::kNoRoom, 105);  // still the same head
  CHECK_EQ(bench.read(1, 0, 0, 107), 14.0);                          // two attempts a cycle
  CHECK_EQ(bench.read(0, 0, 0, 107), 0.0);
  CHECK_EQ(bench.read(0, 0, 0, 108), 1.0);
  CHECK_EQ(bench.read(0, 0, 0, 132), 1.0);
  CHECK_EQ(bench.read(0, 0, 0, 133), 2.0);
  CHECK_EQ(bench.read(0, 1, 0, 133), 0.0);  // another router
  bench.forward(0, 1, 135);
  CHECK_EQ(bench.read(1, 0, 0, 135), 4.0);
  CHECK_EQ(bench.read(0, 0, 0, 632), 2.0);
  CHECK_EQ(bench.read(0, 0, 0, 633), 1.0);  // 500 ns with 4, at most 15
  CHECK_EQ(bench.read(0, 0, 0, 1'132), 1.0);
  CHECK_EQ(bench.read(0, 0, 0, 1'133), 0.0);
}

TEST(a_head_that_decides_anew_counts_each_time_and_one_that_keeps_its_path_once) {
  Bench bench{kSmall, "nonminimal-length"};
  Packet packet = bench.packet_for(1);
  for (const Tick now : {10, 11, 12}) bench.tracker->head_refused(0, 0, packet, Refusal::kTaken, now);
  CHECK_EQ(bench.read(1, 0, 0, 12), 1.0);
  bench.forward(0, 1, 13);
  for (const Tick now : {20, 21, 22}) bench.tracker->head_refused(0, 0, packet, Refusal::kAnew, now);
  packet.non_minimal = false;  // it was on a non-minimal path before
  bench.tracker->head_refused(0, 0, packet, Refusal::kAnew, 23);
  CHECK_EQ(bench.read(1, 0, 0, 23), 5.0);
  bench.forward(0, 1, 24);
  bench.tracker->head_refused(0, 0, packet, Refusal::kAnew, 30);  // another, never on one
  CHECK_EQ(bench.read(1, 0, 0, 31), 5.0);
}

TEST(two_blocked_heads_count_twice_and_minimal_packets_not_at_all) {
  Bench bench{kSmall, "nonminimal-length"};
  Packet packet = bench.packet_for(1);
  bench.tracker->head_refused(0, 0, packet, Refusal::kNoRoom, 0);
  bench.tracker->head_refused(0, 1, packet, Refusal::kNoRoom, 2);
  CHECK_EQ(bench.read(1, 0, 0, 4), 12.0);
  CHECK_EQ(bench.read(0, 0, 0, 4), 0.0);
  CHECK_EQ(bench.read(0, 0, 0, 5), 1.0);
  packet.non_minimal = false;
  bench.tracker->head_refused(1, 0, packet, Refusal::kNoRoom, 0);
  CHECK_EQ(bench.read(0, 1, 0, 400), 0.0);
}

TEST(the_longest_paths_do_not_put_off_the_end_of_the_interval) {
  Bench bench{kSmall, "nonminimal-length"};
  const Packet packet = bench.packet_for(1);
  bench.tracker->head_refused(0, 0, packet, Refusal::kNoRoom, 0);
  CHECK_EQ(bench.read(0, 0, 0, 33), 2.0);  // events at 8 and 33
  bench.forward(0, 1, 500);
  CHECK_EQ(bench.read(0, 0, 0, 533), 2.0);  // an interval with 934, and none before its end
  CHECK_EQ(bench.read(0, 0, 0, 1'032), 2.0);
  CHECK_EQ(bench.read(0, 0, 0, 1'033), 1.0);
}

TEST(the_level_does_not_depend_on_when_anybody_looks) {
  for (const Tick every : {1, 7, 1'000, 10'000}) {
    Bench bench{kSmall, "nonminimal-length"};
    Bench rarely{kSmall, "nonminimal-length"};
    const Packet packet = bench.packet_for(1);
    RandomStream random{static_cast<std::uint64_t>(every), Purpose::kRouting, 0, 0};
    bool waits = false;
    for (Tick now = 0; now < 50'000; ++now) {
      if (random.below(400) == 0) {
        waits = !waits;
        for (Bench* one : {&bench, &rarely}) {
          if (waits) {
            one->tracker->head_refused(0, 0, packet, Refusal::kNoRoom, now);
          } else {
            one->forward(0, 1, now);
          }
        }
      }
      (void)bench.read(0, 0, 0, now);
      if (now % every == 0) CHECK_EQ(bench.read(1, 0, 0, now), rarely.read(1, 0, 0, now));
    }
    CHECK_EQ(bench.read(0, 0, 0, 60'000), rarely.read(0, 0, 0, 60'000));
  }
}

// In a run.

TEST(counters_of_a_run_are_zero_again_when_the_network_is_empty) {
  for (const char* policy : {"lia", "tpr", "pb-acor"}) {
    Simulation simulation{small_system(kSmall, policy, "uniform", 0.9)};
    CHECK(simulation.run(5'000 * kPsPerNs, &always));
    double counted = 0;
    const auto sum = [&] {
      double all = 0;
      for (Partition& partition : simulation.network().partitions()) {
        TrackedNumbers& numbers = partition.trackers().numbers();
        const Tick now = simulation.network().now();
        for (std::uint32_t router = 0; router < simulation.topology().num_routers(); ++router) {
          all += numbers.trackers[0]->read(1, router, 0, now);
          all += numbers.trackers.back()->read(0, router, 0, now);
        }
      }
      return all;
    };
    counted = sum();
    CHECK(simulation.drain(1'000'000 * kPsPerNs, &always));
    CHECK(simulation.run(2'000 * kPsPerNs, &always));
    CHECK_EQ(sum(), 0.0);
    CHECK(counted > 0 || std::string{policy} == "pb-acor");
  }
}

TEST(what_ugal_ideal_sees_are_the_ports_of_the_group_as_they_are) {
  Simulation simulation{small_system(kSmall, "ugal-ideal", "adv+1", 0.9)};
  const Dragonfly& topology = simulation.topology();
  std::uint64_t seen = 0;
  for (int step = 0; step < 50; ++step) {
    simulation.run(97 * kPsPerNs, &always);
    Partition& partition = simulation.network().partitions()[0];
    RouterTracker& tracker = *partition.trackers().numbers().trackers[0];
    for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
      for (std::uint32_t q = 0; q < topology.a() * topology.h(); ++q) {
        const std::uint32_t owner = router - topology.local_index_of(router) + q / topology.h();
        const OutputPort& port =
            partition.output_port(owner, topology.first_global_port() + q % topology.h());
        CHECK_EQ(tracker.read(0, router, q, simulation.network().now()), port.occupancy);
        double by_vc = 0;
        for (std::uint32_t vc = 0; vc < port.vcs; ++vc) {
          by_vc += tracker.read(1, router, q * kMostVcsOfLink + vc, simulation.network().now());
        }
        CHECK_EQ(by_vc, port.occupancy);
        seen += port.occupancy;
      }
    }
  }
  CHECK(seen > 0);
}

}  // namespace
