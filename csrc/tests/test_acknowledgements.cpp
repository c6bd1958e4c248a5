// Acknowledgements at source routers: the order, the mean that is kept, and whole runs.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "routing/acknowledgement.hpp"
#include "tests/check.hpp"
#include "tests/messages.hpp"
#include "tests/tracker_bench.hpp"

namespace {

using namespace dragonfly;

constexpr std::uint32_t kWaited = 0;
constexpr std::uint32_t kAge = 1;

TEST(acknowledgements_come_in_one_order_for_every_partition) {
  RandomStream random{1, Purpose::kRouting, 0, 0};
  std::vector<Acknowledgement> all;
  for (std::uint32_t i = 0; i < 500; ++i) {
    all.push_back({.due = 100 + random.below(40),
                   .source_router = random.below(3),
                   .destination_router = random.below(3),
                   .travelled = 10 + random.below(3),
                   .kind = static_cast<std::uint8_t>(random.below(5)),
                   .local_hops = static_cast<std::uint8_t>(random.below(3)),
                   .global_hops = 1});
  }
  AcknowledgementsInFlight in_flight;
  CHECK(in_flight.next_due() > 1'000);
  std::vector<Acknowledgement> received;
  for (std::size_t i = 0; i < all.size(); ++i) {
    in_flight.add(all[i]);
    if (i % 40 == 0) in_flight.open_window();
  }
  in_flight.open_window();
  CHECK(in_flight.next_due() > 99);
  for (Tick now = 99; now < 150; now += 7) {
    in_flight.open_window();
    while (in_flight.next_due() <= now) received.push_back(in_flight.take());
    for (const Acknowledgement& one : received) CHECK(one.due <= now);
  }
  CHECK(in_flight.next_due() > 1'000);
  CHECK_EQ(received.size(), all.size());
  std::ranges::sort(all);
  CHECK(received == all);
}

TEST(a_kind_is_that_of_a_path_that_a_source_router_may_choose) {
  Packet packet;
  CHECK(acknowledged_kind(packet) == std::uint8_t{0});
  packet.plan = Plan::kRouted;
  CHECK(!acknowledged_kind(packet));
  for (const NonMinimalKind kind :
       {NonMinimalKind::kLgl, NonMinimalKind::kLg, NonMinimalKind::kGl, NonMinimalKind::kG}) {
    PathFollower::set_nonminimal(packet, by(kind, 3, 9));
    packet.plan = Plan::kFromIntermediate;
    CHECK(acknowledged_kind(packet) == static_cast<std::uint8_t>(1 + static_cast<int>(kind)));
    CHECK(*acknowledged_kind(packet) < kAcknowledgedKinds);
  }
  PathFollower::set_nonminimal(packet, by(NonMinimalKind::kL, 3, 9));
  CHECK(!acknowledged_kind(packet));
  PathFollower::forget_nonminimal(packet);
  CHECK(acknowledged_kind(packet) == std::uint8_t{0});
  packet.non_minimal = true;  // a path that ports prescribe
  CHECK(!acknowledged_kind(packet));
}

struct Bench : TrackerBench {
  Bench() : TrackerBench{"acknowledged-waits"} {}
  // A packet that has waited that long, in packets; idle times are those of the bench.
  void on_acknowledgement(Tick due, std::uint32_t router, std::uint32_t to, std::uint8_t kind, Tick waited,
                          std::uint8_t local_hops = 2, std::uint8_t global_hops = 1) const {
    tracker->packet_acknowledged(
        {.due = due,
         .source_router = router,
         .destination_router = to,
         .travelled = static_cast<std::uint32_t>(2 + 3 * local_hops + 5 * global_hops + waited),
         .kind = kind,
         .local_hops = local_hops,
         .global_hops = global_hops});
  }
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t router, std::uint32_t to, std::uint32_t kind,
                            Tick now) const {
    return tracker->read(field, router, to * kAcknowledgedKinds + kind, now);
  }
};

TEST(the_first_wait_counts_whole_and_later_ones_by_the_age_of_what_was_known) {
  const Bench bench;
  bench.on_acknowledgement(1'008, 0, 40, 0, 16);
  CHECK_EQ(bench.read(kWaited, 0, 40, 0, 1'008), 16.0);
  CHECK_EQ(bench.read(kAge, 0, 40, 0, 1'008), 0.0);
  CHECK_EQ(bench.read(kAge, 0, 40, 0, 1'750), 736.0);  // ages have steps of 16 ns
  bench.on_acknowledgement(1'008, 0, 40, 0, 0);        // an acknowledgement at once counts an eighth
  CHECK_EQ(bench.read(kWaited, 0, 40, 0, 1'008), 14.0);
  bench.on_acknowledgement(9'008, 0, 40, 0, 6);  // after 8,000 ns the old value counts 7/16
  CHECK_EQ(bench.read(kWaited, 0, 40, 0, 9'500), 14 * 0.4375 + 6 * 0.5625);
  CHECK_EQ(bench.read(kAge, 0, 40, 0, 9'520), 512.0);
}

TEST(waits_are_kept_in_sixteenths_of_a_packet_up_to_four_thousand) {
  const Bench bench;
  bench.on_acknowledgement(16, 0, 40, 0, 5);
  bench.on_acknowledgement(16, 0, 40, 0, 6);
  CHECK_EQ(bench.read(kWaited, 0, 40, 0, 16), 5.125);
  bench.on_acknowledgement(16, 0, 40, 0, 6);  // the average: 5.234375 packets
  CHECK_EQ(bench.read(kWaited, 0, 40, 0, 16), 5.25);
  bench.on_acknowledgement(16, 0, 41, 0, 100'000);
  CHECK_EQ(bench.read(kWaited, 0, 41, 0, 16), 65'535 / 16.0);
}

TEST(idle_times_of_all_hops_are_no_wait_and_waits_are_not_negative) {
  const Bench bench;
  bench.on_acknowledgement(10, 0, 40, 1, 7, 4, 2);
  bench.on_acknowledgement(10, 0, 41, 0, 7, 0, 0);
  bench.on_acknowledgement(10, 0, 42, 0, -2, 1, 1);
  CHECK_EQ(bench.read(kWaited, 0, 40, 1, 10), 7.0);
  CHECK_EQ(bench.read(kWaited, 0, 41, 0, 10), 7.0);
  CHECK_EQ(bench.read(kWaited, 0, 42, 0, 10), 0.0);
}

TEST(kinds_routers_and_destinations_are_told_apart) {
  const Bench bench;
  for (std::uint8_t kind = 0; kind < kAcknowledgedKinds; ++kind)
    bench.on_acknowledgement(16, 7, 40, kind, 10 + kind);
  bench.on_acknowledgement(16, 7, 41, 0, 30);
  for (std::uint32_t kind = 0; kind < kAcknowledgedKinds; ++kind) {
    CHECK_EQ(bench.read(kWaited, 7, 40, kind, 20), 10.0 + kind);
    CHECK_EQ(bench.read(kAge, 7, 40, kind, 48), 32.0);
    CHECK_EQ(bench.read(kWaited, 6, 40, kind, 20), 0.0);
  }
  CHECK_EQ(bench.read(kWaited, 7, 41, 0, 20), 30.0);
  CHECK_EQ(bench.read(kWaited, 7, 41, 1, 20), 0.0);
  CHECK(bench.read(kAge, 7, 41, 1, 20) > 1e9);  // never
}

// Writes down its notifications.
class Noting final : public RouterTracker {
 public:
  [[nodiscard]] TrackedEvents events() const noexcept override { return {.acknowledgements = true}; }
  void archive(Archive& archive) override { archive(received); }
  void packet_acknowledged(const Acknowledgement& acknowledgement) override {
    received.push_back(acknowledgement);
  }
  [[nodiscard]] double read(std::uint32_t /*field*/, std::uint32_t /*reader*/, std::uint32_t /*column*/,
                            Tick /*now*/) override {
    return static_cast<double>(received.size());
  }
  std::vector<Acknowledgement> received;
};

const TrackerInfo kNoting{
    .name = "noting",
    .summary = "writes down",
    .fields = {},
    .parameters = {},
    .make = [](const TrackerInfo&, const Parameters&, const TrackerSite&) -> std::unique_ptr<RouterTracker> {
      return std::make_unique<Noting>();
    }};

struct Seen {
  Tick now;
  double age_ns;
};

// Random non-minimal paths, and a look at what is known of one destination router.
class Looking final : public PerDecision<Looking> {
 public:
  explicit Looking(bool nonminimal_kinds, std::uint32_t at = 0, std::vector<Seen>* seen = nullptr)
      : nonminimal_paths_{nonminimal_kinds}, at_{at}, seen_{seen} {}
  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kSource; }
  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.nonminimal = true,
            .intermediate_router = true,
            .longest_path = longest_path_hops(NonMinimalKind::kLgl)};
  }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override {
    return {NonMinimalKind::kLgl};
  }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override {
    return {{&kNoting, {}}, request_tracker("acknowledged-waits", {})};
  }
  [[nodiscard]] RouteChoice route(const DecisionContext& decision) const {
    const double age = decision.tracked(1, kAge, at_ * kAcknowledgedKinds);
    if (seen_ != nullptr) seen_->push_back({decision.view().now, age});
    RandomStream draws = decision.nonminimal_stream(NonMinimalKind::kLgl);
    if (!nonminimal_paths_ || draws.uniform() < 0.5) return {};
    return {draw_nonminimal(decision, draws, NonMinimalKind::kLgl, false)};
  }

 private:
  bool nonminimal_paths_;
  std::uint32_t at_;
  std::vector<Seen>* seen_;  // used with one thread only
};

// A run with the acknowledgements that it received.
struct Run {
  Run(Looking& policy, SimulationSetup setup_in)
      : setup{std::move(setup_in)},
        network{std::make_unique<Blueprint>(*setup.topology, setup.network, policy, *setup.source,
                                            setup.options)} {}
  void run_to(TimePs until) { network.run(plan().to_tick(until), &always); }
  [[nodiscard]] const Blueprint& plan() { return network.blueprint(); }
  // The acknowledgements of all partitions, one after the other.
  [[nodiscard]] std::vector<Acknowledgement> received() {
    std::vector<Acknowledgement> all;
    for (Partition& partition : network.partitions()) {
      const auto& noted = static_cast<const Noting&>(*partition.trackers().numbers().trackers[0]).received;
      all.insert(all.end(), noted.begin(), noted.end());
    }
    return all;
  }

  SimulationSetup setup;
  Network network;
};

// In steps of 16 ns.
double age_ns(const Blueprint& plan, Tick received, Tick now) {
  const TimePs step = 16 * kPsPerNs;
  return static_cast<double>((plan.to_ps(now) / step - plan.to_ps(received) / step) * 16);
}

std::vector<NetworkParams> networks() {
  NetworkParams timer = usual_network();
  timer.routing_delay_ps = 100'000;
  timer.decide_at = "arrival";
  NetworkParams immediate = usual_network();
  immediate.link_start = "immediate";
  NetworkParams cut_through = immediate;
  cut_through.switching = "cut-through";
  cut_through.crossbar_latency_ps = 89'000;
  return {timer, immediate, cut_through};
}

TEST(single_packets_on_an_idle_network_wait_for_clock_edges_only) {
  for (const NetworkParams& network : networks()) {
    std::vector<Planned> list;
    for (std::uint32_t i = 1; i < 72; ++i) list.push_back({i * 5'000 * kNs + i * 1'700, 0, i});
    SimulationSetup setup = messages(list);
    setup.network = network;
    Looking policy{true};
    Run run{policy, std::move(setup)};
    run.run_to(73 * 5'000 * kNs);
    const std::vector<Acknowledgement> received = run.received();
    CHECK(received.size() >= 70);  // the last packet's acknowledgement is not received, as nothing follows
    const ZeroLoadTimes idle = run.plan().zero_load_times();
    std::uint32_t around = 0;
    for (const Acknowledgement& one : received) {
      const double idle_packets =
          idle.hosts_packets + one.local_hops * idle.local_packets + one.global_hops * idle.global_packets;
      const auto travelled_ps = static_cast<double>(run.plan().to_ps(one.travelled));
      const double early = idle_packets - travelled_ps / 32'000;
      // Idle times count a whole clock per router.
      CHECK(early > -1e-4);
      CHECK(early <= 0.1001 * (1 + one.local_hops + one.global_hops));
      around += one.global_hops == 2 ? 1U : 0U;
      CHECK(one.kind != 0 || one.global_hops < 2);
    }
    CHECK(around > 10);
  }
}

TEST(a_packet_behind_another_one_waits_for_it) {
  for (const NetworkParams& network : networks()) {
    SimulationSetup setup = messages({{0, 0, 71}, {0, 1, 71}, {40'000 * kNs, 2, 3}});
    setup.network = network;
    Looking policy{false};
    Run run{policy, std::move(setup)};
    run.run_to(41'000 * kNs);
    const std::vector<Acknowledgement> received = run.received();
    REQUIRE(received.size() == 2);
    CHECK_EQ((received[1].travelled - received[0].travelled) * run.plan().timing.quantum_ps, 32'000);
    const Tick now = run.network.now();
    RouterTracker& waits = *run.network.partitions()[0].trackers().numbers().trackers[1];
    const double waited = waits.read(kWaited, 0, 35 * kAcknowledgedKinds, now);
    // The second acknowledgement comes 32 ns later, less a remainder of the clock.
    const double most = 1 - 0.875 * 8'000 / 8'048;
    CHECK(waited > 0.5 * most);
    CHECK(waited <= most + 1.0 / 32);
    CHECK_EQ(waits.read(kAge, 0, 35 * kAcknowledgedKinds, now), age_ns(run.plan(), received[1].due, now));
  }
}

TEST(word_comes_exactly_one_delay_after_the_delivery_from_any_partition) {
  for (const DragonflyParams& shape : {kSmall, kWide}) {
    // The first packet goes far away; another host of its router sends all the time, to another router.
    const std::uint32_t far = shape.p * shape.a * 2 + shape.p;
    const std::uint32_t other = shape.p * shape.a;
    std::vector<Planned> list{{0, 0, far}};
    for (TimePs i = 0; i < 120; ++i) list.push_back({i * 32 * kNs, 1, other});
    list.push_back({1'000'000 * kNs, 1, other});  // a message after a silence
    SimulationSetup setup = messages(list, shape);
    setup.options.record.packet_log = true;
    std::vector<Seen> looks;
    Looking policy{false, far / shape.p, &looks};
    Run run{policy, std::move(setup)};
    run.run_to(1'010'000 * kNs);
    Tick delivered = 0;
    for (Partition& partition : run.network.partitions()) {
      for (const LoggedPacket& packet : partition.take_log()) {
        if (packet.source == 0) delivered = run.plan().to_tick(packet.delivered);
      }
    }
    REQUIRE(delivered > 0);
    const Tick due = delivered + run.plan().acknowledgement_delay;
    CHECK(run.plan().acknowledgement_delay >= run.plan().timing.lookahead);
    std::uint32_t before = 0;
    std::uint32_t after = 0;
    for (const Seen& seen : looks) {
      if (seen.now < due) {
        CHECK(seen.age_ns > 1e9);
        ++before;
      } else {
        CHECK_EQ(seen.age_ns, age_ns(run.plan(), due, seen.now));
        ++after;
      }
    }
    CHECK(before > 10);
    CHECK(after > 10);
    CHECK_EQ(before + after, 122U);
  }
}

TEST(threads_and_slices_change_no_event_of_trackers) {
  const auto setup = [](std::uint32_t threads) {
    SimulationSetup all = small_system(kWide, "min", "uniform", 0.05, InjectionKind::kPoisson);
    all.options.threads = threads;
    return all;
  };
  constexpr TimePs kWhole = 5'000 * kNs;
  Looking policy{true};
  Run whole{policy, setup(1)};
  CHECK_EQ(whole.network.partitions().size(), 3U);
  whole.run_to(kWhole);
  const std::vector<Acknowledgement> received = whole.received();
  CHECK(received.size() > 1'000);
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    Run pieces{policy, setup(threads)};
    for (TimePs now = 0, step = 100; now < kWhole; step = step * 7 % 90'001 + 100) {
      now = std::min(now + step, kWhole);
      pieces.run_to(now);
    }
    CHECK(pieces.received() == received);
  }
}

}  // namespace
