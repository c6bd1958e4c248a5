// Messages inside a group: their numbers and delays by hand, and delayed fields against a history of ideal
// ones.
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "routing/group_messages.hpp"
#include "routing/offered_traffic.hpp"
#include "simulation/simulation.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"
#include "tests/tracker_bench.hpp"

namespace {

using namespace dragonfly;

std::shared_ptr<const GroupShape> shape_of(const std::string& name, double first, double second) {
  if (name == "grid") return make_group_shape(name, {{"rows", first}, {"columns", second}});
  return make_group_shape(name, {{"leaves", first}, {"spines", second}});
}

// A full mesh, one with a dead link, one with a dead router, leaves and spines, and a grid.
std::vector<DragonflyParams> shapes() {
  const DragonflyParams mesh{.p = 2, .a = 4, .h = 2};
  DragonflyParams cut = mesh;
  cut.damage.links.push_back({0, 2});
  DragonflyParams dead = mesh;
  dead.damage.routers.push_back(1);
  return {mesh,
          cut,
          dead,
          {.p = 2, .h = 2, .shape = shape_of("leaf-spine", 3, 2)},
          {.p = 1, .h = 2, .g = 6, .shape = shape_of("grid", 2, 3)}};
}

TEST(four_bits_send_the_nearest_of_sixteen_numbers) {
  const MessageNumbers numbers{4};
  for (const std::uint32_t exact : {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192}) {
    CHECK_EQ(numbers.rounded(exact), exact);
  }
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> rounded{
      {5, 4}, {7, 8}, {9, 8}, {10, 8}, {11, 12}, {13, 12}, {14, 16}, {15, 16}, {100, 96}, {1'000, 192}};
  for (const auto& [number, sent] : rounded) CHECK_EQ(numbers.rounded(number), sent);
}

TEST(sixteen_bits_are_exact_up_to_16_thousand) {
  const MessageNumbers numbers{16};
  for (std::uint32_t number = 0; number < 16'384; ++number) CHECK_EQ(numbers.rounded(number), number);
}

constexpr Tick kLatency = 30;
constexpr Tick kRoutingDelay = 7;
constexpr Tick kPeriod = 50;

// The counters of offered traffic by themselves, with messages. A tick is a nanosecond.
std::unique_ptr<RouterTracker> counters_with_messages(const Dragonfly& topology) {
  TrackerSite site{.topology = topology,
                   .num_routers = topology.num_routers(),
                   .routing_delay = kRoutingDelay,
                   .sends_messages = true,
                   .quantum_ps = kPsPerNs};
  for (TrackedLinks& link : site.links) link.latency = kLatency;
  const TrackerRequest request = request_tracker(kOfferedTraffic, {{"message_period_ns", double(kPeriod)}});
  return request.info->make(*request.info, request.parameters, site);
}

TEST(a_burst_is_seen_from_the_next_message_and_its_delay_on_and_not_a_tick_earlier) {
  constexpr auto kField = static_cast<std::uint32_t>(Offered::kGroupDemandThereDelayed);
  for (const DragonflyParams& shape : shapes()) {
    const Dragonfly topology{shape};
    for (std::uint32_t sender = 0; sender < topology.a(); ++sender) {
      if (!topology.is_alive(sender)) continue;
      for (const Tick burst : {Tick{1}, kPeriod - 1, kPeriod, 3 * kPeriod + 20}) {
        const auto tracker = counters_with_messages(topology);
        static_cast<void>(tracker->send_messages(burst));
        Packet packet;
        packet.destination_group = 2;
        for (int i = 0; i < 40; ++i) tracker->packet_injected(sender, packet);
        for (Tick now = burst; now < burst + kPeriod + 4 * kLatency; ++now) {
          static_cast<void>(tracker->send_messages(now));
          for (std::uint32_t reader = 0; reader < topology.a(); ++reader) {
            if (!topology.is_alive(reader)) continue;
            Tick seen_from = burst;
            if (reader != sender) {
              const Tick hops = topology.minimal_hops(sender, reader);
              const Tick sent = (burst / kPeriod + 1) * kPeriod;
              seen_from = sent + hops * kLatency + (hops - 1) * kRoutingDelay;
            }
            CHECK_EQ(tracker->read(kField, reader, 2, now) > 0, now >= seen_from);
          }
        }
      }
    }
  }
}

TEST(messages_that_no_router_can_read_any_more_are_not_written) {
  const Dragonfly topology{{.p = 2, .a = 4, .h = 2}};
  TrackerSite site{.topology = topology, .num_routers = topology.num_routers()};
  for (TrackedLinks& link : site.links) link.latency = kLatency;
  GroupMessages messages{site, 10, 1};
  std::vector<Tick> written;
  const auto write = [&](Tick time, std::uint16_t* rows) {
    written.push_back(time);
    rows[2] = static_cast<std::uint16_t>(time);
  };
  CHECK_EQ(messages.send_until(25, write), 30);
  CHECK_EQ(messages.send_until(1'005, write), 1'010);
  CHECK(written == (std::vector<Tick>{0, 10, 20, 970, 980, 990, 1'000}));
  CHECK_EQ(messages.inbox(0, 1'005).number(2, 0), 970U);
  CHECK_EQ(messages.inbox(0, 1'005).sum(0), 970U);
  CHECK_EQ(messages.inbox(2, 1'005).sum(0), 0U);
}

TEST(without_delay_and_with_all_bits_delayed_demands_are_the_ideal_ones) {
  const Parameters exact{{"message_bits", 16.0}, {"message_period_ns", 1.0}};
  Parameters halves = exact;
  halves["stored_weight"] = 0.5;
  TrackerBench offered{kOfferedTraffic, {.p = 3, .a = 6, .h = 3}, halves, true};
  TrackerBench crossings{"sent-crossings", {.p = 3, .a = 6, .h = 3}, exact, true};
  const Dragonfly& topology = offered.topology;
  const auto same = [](TrackerBench& bench, std::uint32_t ideal, std::uint32_t delayed, std::uint32_t reader,
                       std::uint32_t column, Tick now) {
    const double number = bench.tracker->read(ideal, reader, column, now);
    CHECK_EQ(bench.tracker->read(delayed, reader, column, now), number);
    return number;
  };
  double total = 0;
  RandomStream random{1, Purpose::kRouting, 0, 0};
  for (Tick now = 0; now < 3'000; ++now) {
    static_cast<void>(offered.tracker->send_messages(now));
    static_cast<void>(crossings.tracker->send_messages(now));
    const std::uint32_t reader = random.below(topology.a());
    const std::uint32_t to = 1 + random.below(topology.num_groups() - 1);
    total += same(offered, static_cast<std::uint32_t>(Offered::kGroupDemandThere),
                  static_cast<std::uint32_t>(Offered::kGroupDemandThereDelayed), reader, to, now);
    total += same(crossings, 0, 4, reader, random.below(topology.a() * topology.a()), now);
    total += same(crossings, 1, 5, reader, random.below(topology.a()), now);
    total += same(crossings, 2, 6, reader, to, now);
    // Packets to other groups are sent in fours.
    const double most = 2.01 * (topology.a() - 1) / (500.0 * topology.a() * topology.h());
    const double sent = crossings.tracker->read(3, reader, 0, now);
    CHECK(std::fabs(crossings.tracker->read(7, reader, 0, now) - sent) <= most);
    for (std::uint32_t i = random.below(4); i > 0; --i) {
      const std::uint32_t router = random.below(topology.a());
      const std::uint32_t destination = random.below(topology.num_routers());
      const std::uint32_t middle = 1 + random.below(topology.num_groups() - 1);
      const Packet packet = offered.packet_to(destination);
      offered.tracker->packet_injected(router, packet);
      if (random.below(8) > 0) offered.tracker->packet_forwarded(router, 0, packet, now);
      const bool minimal = random.below(2) == 0 || middle == packet.destination_group;
      crossings.forward(router, destination, minimal ? NonMinimalPath{} : by(NonMinimalKind::kLg, middle),
                        now);
    }
  }
  CHECK(total > 100);
}

// Minimal routing with a tracker that sends messages.
class Sending final : public PerDecision<Sending> {
 public:
  explicit Sending(TrackerRequest tracker) : tracker_{std::move(tracker)} { tracker_.messages = true; }
  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kNowhere; }
  [[nodiscard]] PathBudget budget() const noexcept override { return {}; }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {}; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {tracker_}; }
  [[nodiscard]] RouteChoice route(const DecisionContext& /*decision*/) const { return {}; }

 private:
  TrackerRequest tracker_;
};

struct FieldPair {
  std::uint32_t ideal;
  std::uint32_t delayed;
  std::vector<std::uint32_t> columns;
};

// Runs tick by tick, and checks that each delayed number of another router is the ideal one before the events
// of the time at which the message was sent. Returns the sum of the delayed numbers.
double compare(const DragonflyParams& shape, const TrackerRequest& tracker, TimePs period_ps,
               const std::vector<FieldPair>& pairs, Tick ticks) {
  SimulationSetup setup = small_system(shape, "min", "adv+1", 0.6);
  const Dragonfly& topology = *setup.topology;
  Sending policy{tracker};
  Network network{std::make_unique<Blueprint>(topology, setup.network, policy, *setup.source, setup.options)};
  const Blueprint& plan = network.blueprint();
  const Tick period = period_ps / plan.timing.quantum_ps;
  const Tick latency = setup.network.local_latency_ps / plan.timing.quantum_ps;
  std::vector<std::vector<double>> before;  // [tick]: all ideal numbers before its events
  double total = 0;
  for (Tick now = 0; now < ticks; ++now) {
    const auto each = [&](auto with) {
      for (Partition& partition : network.partitions()) {
        RouterTracker& running = *partition.trackers().numbers().trackers[0];
        for (std::uint32_t i = 0; i < partition.num_routers(); ++i) {
          const std::uint32_t reader = partition.first_router() + i;
          if (!topology.is_alive(reader)) continue;
          for (const FieldPair& pair : pairs) {
            for (const std::uint32_t column : pair.columns) with(running, reader, pair, column);
          }
        }
      }
    };
    before.emplace_back();
    each([&](RouterTracker& running, std::uint32_t reader, const FieldPair& pair, std::uint32_t column) {
      before.back().push_back(running.read(pair.ideal, reader, column, now));
    });
    network.run(now, &always);
    std::size_t at = 0;
    each([&](RouterTracker& running, std::uint32_t reader, const FieldPair& pair, std::uint32_t column) {
      static_cast<void>(running.send_messages(now));
      const double delayed = running.read(pair.delayed, reader, column, now);
      double expected = running.read(pair.ideal, reader, column, now);
      const std::uint32_t position = column / (pair.ideal == 0 ? 1 : kMostVcsOfLink);
      const Endpoint link = topology.global_port_at(topology.group_of(reader), position);
      if (link.router != reader && topology.is_alive(link.router)) {
        const Tick hops = topology.minimal_hops(link.router, reader);
        const Tick delay = hops * latency + (hops - 1) * plan.timing.routing_delay;
        expected = now < delay ? 0 : before[static_cast<std::size_t>((now - delay) / period * period)][at];
      }
      CHECK_EQ(delayed, expected);
      total += delayed;
      ++at;
    });
  }
  return total;
}

TEST(delayed_occupancies_with_all_their_bits_are_the_ideal_ones_of_the_time_of_sending) {
  for (const DragonflyParams& shape : shapes()) {
    const Dragonfly topology{shape};
    FieldPair links{.ideal = 0, .delayed = 3, .columns = {}};
    FieldPair vcs{.ideal = 1, .delayed = 4, .columns = {}};
    FieldPair queues{.ideal = 2, .delayed = 5, .columns = {}};
    for (std::uint32_t q = 0; q < topology.global_positions(); ++q) {
      const Endpoint link = topology.global_port_at(0, q);
      if (topology.neighbor(link.router, link.port).port == kNoPort) continue;
      links.columns.push_back(q);
      vcs.columns.push_back(q * kMostVcsOfLink);
      queues.columns.push_back(q * kMostVcsOfLink);
    }
    const Parameters exact{{"message_bits", 16.0}, {"message_period_ns", 4.0}};
    CHECK(compare(shape, request_tracker("link-occupancy", exact), 4 * kPsPerNs, {links, vcs, queues},
                  3'000) > 0);
  }
}

TEST(the_delayed_demand_is_that_of_the_messages_and_of_the_routers_own_hosts_now) {
  const auto read = [](RouterTracker& tracker, Offered field, Tick now) {
    static_cast<void>(tracker.send_messages(now));
    return tracker.read(static_cast<std::uint32_t>(field), 1, 2, now);
  };
  const Dragonfly topology{{.p = 2, .a = 4, .h = 2}};
  const auto tracker = counters_with_messages(topology);
  static_cast<void>(tracker->send_messages(0));
  Packet packet;
  packet.destination_group = 2;
  for (int i = 0; i < 6; ++i) tracker->packet_injected(0, packet);
  for (int i = 0; i < 3; ++i) tracker->packet_forwarded(0, 0, packet, 20);
  const double ideal = read(*tracker, Offered::kGroupDemandThere, 20);
  const double per_packet = ideal / 3.3;  // three were sent, three wait: a tenth each
  const auto packets = [&](Tick now) {
    return std::round(read(*tracker, Offered::kGroupDemandThereDelayed, now) / per_packet * 1e5) / 1e5;
  };
  CHECK_EQ(packets(79), 0.0);
  CHECK_EQ(packets(80), 4.0);  // 3.3 packets are seven halves, and four bits send eight
  tracker->packet_injected(1, packet);
  CHECK_EQ(packets(80), 4.1);  // its own packet at once, and exactly
  CHECK_EQ(packets(279), 4.1);
  CHECK_EQ(packets(280), 0.6);  // the window ends at 220: 0.3 packets are one half
}

}  // namespace
