// Trackers and signals between routers: events against counts by hand, flags against the ports themselves.
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "routing/group_signals.hpp"
#include "simulation/routing_environment.hpp"
#include "tests/check.hpp"
#include "tests/messages.hpp"

namespace {

using namespace dragonfly;

constexpr Tick kDelay = 30;

TEST(a_signal_is_seen_at_home_at_once_and_by_the_others_exactly_one_delay_later) {
  GroupSignals signals{4, 2, kDelay};
  signals.set(1, 0, true, 100);
  CHECK(signals.get(1, 1, 0, 100));
  for (const Tick now : {Tick{100}, Tick{101}, Tick{100 + kDelay - 1}}) CHECK(!signals.get(2, 1, 0, now));
  CHECK(signals.get(2, 1, 0, 100 + kDelay));
  CHECK(signals.get(0, 1, 0, 1'000));
  CHECK(!signals.get(2, 1, 1, 1'000));
  CHECK(!signals.get(2, 0, 0, 1'000));
}

TEST(changes_within_the_delay_arrive_one_after_the_other) {
  GroupSignals signals{2, 1, kDelay};
  signals.set(0, 0, true, 10);
  signals.set(0, 0, true, 12);  // no change
  signals.set(0, 0, false, 15);
  signals.set(0, 0, true, 16);
  signals.set(0, 0, false, 16);  // within one time: nothing
  CHECK(!signals.get(0, 0, 0, 16));
  for (Tick now = 16; now < 60; ++now) {
    CHECK_EQ(signals.get(1, 0, 0, now), now >= 10 + kDelay && now < 15 + kDelay);
  }
}

TEST(without_a_delay_a_signal_is_everywhere_at_once) {
  GroupSignals signals{2, 1, 0};
  signals.set(0, 0, true, 5);
  CHECK(signals.get(1, 0, 0, 5));
}

TEST(signals_by_the_thousand_are_those_of_a_list_of_all_changes) {
  constexpr std::uint32_t kRouters = 5;
  constexpr std::uint32_t kBits = 3;
  GroupSignals signals{kRouters, kBits, kDelay};
  std::deque<std::vector<bool>> history(kDelay + 1, std::vector<bool>(kRouters * kBits, false));
  RandomStream random{1, Purpose::kRouting, 0, 0};
  for (Tick now = 0; now < 5'000; ++now) {
    std::vector<bool> present = history.back();
    for (std::uint32_t changes = random.below(4); changes > 0; --changes) {
      const std::uint32_t at = random.below(kRouters * kBits);
      present[at] = random.below(2) == 1;
      signals.set(at / kBits, at % kBits, present[at], now);
    }
    history.push_back(present);
    history.pop_front();
    if (random.below(3) == 0) continue;  // no read
    for (std::uint32_t at = 0; at < kRouters * kBits; ++at) {
      const std::uint32_t router = at / kBits;
      CHECK_EQ(signals.get(router, router, at % kBits, now), history.back()[at]);
      CHECK_EQ(signals.get((router + 1) % kRouters, router, at % kBits, now), history.front()[at]);
    }
  }
}

// Counts its notifications, by router; its parameters choose the events.
class Counting final : public RouterTracker {
 public:
  Counting(const Parameters& given, const TrackerSite& site)
      : wanted_{.global_occupancy = given.contains("global_occupancy"),
                .injections = given.contains("injections")},
        occupancies(site.topology.num_routers(), 0),
        injections(site.topology.num_routers(), 0) {}

  [[nodiscard]] TrackedEvents events() const noexcept override { return wanted_; }
  void archive(Archive& archive) override {
    archive.fixed(occupancies);
    archive.fixed(injections);
  }
  void occupancy_changed(std::uint32_t router, const RouterPorts& /*ports*/, Tick /*now*/) override {
    ++occupancies[router];
  }
  void packet_injected(std::uint32_t router, const Packet& /*packet*/) override { ++injections[router]; }
  [[nodiscard]] double read(std::uint32_t /*field*/, std::uint32_t reader, std::uint32_t /*column*/,
                            Tick /*now*/) override {
    return occupancies[reader];
  }

 private:
  TrackedEvents wanted_;

 public:
  std::vector<std::uint32_t> occupancies;
  std::vector<std::uint32_t> injections;
};

const TrackerInfo kCounting{.name = "counting",
                            .summary = "counts events",
                            .fields = {},
                            .parameters = {},
                            .make = [](const TrackerInfo&, const Parameters& given,
                                       const TrackerSite& site) -> std::unique_ptr<RouterTracker> {
                              return std::make_unique<Counting>(given, site);
                            }};

// Minimal routing with events counted.
class Listening final : public PerDecision<Listening> {
 public:
  explicit Listening(const std::vector<std::string>& events) {
    for (const std::string& event : events) wanted_.emplace(event, true);
  }
  [[nodiscard]] DecisionScope scope() const noexcept override { return DecisionScope::kNowhere; }
  [[nodiscard]] PathBudget budget() const noexcept override { return {}; }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {}; }
  [[nodiscard]] std::vector<TrackerRequest> trackers() const override { return {{&kCounting, wanted_}}; }
  [[nodiscard]] RouteChoice route(const DecisionContext& /*decision*/) const { return {}; }

 private:
  Parameters wanted_;
};

// A run with counted events; kSmall is one partition.
struct Counted {
  Counted(const std::vector<std::string>& events, SimulationSetup setup_in)
      : policy{events},
        setup{std::move(setup_in)},
        network{std::make_unique<Blueprint>(*setup.topology, setup.network, policy, *setup.source,
                                            setup.options)} {}
  void run_to(TimePs until) { network.run(network.blueprint().to_tick(until), &always); }
  [[nodiscard]] const Counting& counts() {
    return static_cast<const Counting&>(*network.partitions()[0].trackers().numbers().trackers[0]);
  }

  Listening policy;
  SimulationSetup setup;
  Network network;
};

std::uint32_t sum(const std::vector<std::uint32_t>& counts) {
  std::uint32_t total = 0;
  for (const std::uint32_t count : counts) total += count;
  return total;
}

TEST(one_packet_changes_the_occupancy_of_every_global_port_on_its_path_twice) {
  // Through the crossbar, and when the credit is back.
  for (const std::uint32_t destination : {3U, 9U, 40U, 71U}) {
    Counted run{{"global_occupancy"}, messages({{0, 0, destination}})};
    run.run_to(5'000 * kNs);
    const Dragonfly& topology = *run.setup.topology;
    std::vector<std::uint32_t> expected(topology.num_routers(), 0);
    for (std::uint32_t router = 0; router != topology.router_of_host(destination);) {
      const Port port = topology.minimal_port(router, topology.router_of_host(destination));
      if (topology.is_global(port)) expected[router] += 2;
      router = topology.neighbor(router, port).router;
    }
    CHECK(run.counts().occupancies == expected);
    CHECK_EQ(sum(run.counts().injections), 0U);
  }
}

TEST(injections_are_counted_at_the_router_of_the_host) {
  Counted run{{"injections"}, messages({{0, 0, 9}, {0, 3, 70, 5}, {10 * kNs, 2, 1, 2}})};
  run.run_to(5'000 * kNs);
  CHECK_EQ(run.counts().injections[0], 1U);
  CHECK_EQ(run.counts().injections[1], 7U);
  CHECK_EQ(sum(run.counts().injections), 8U);
  CHECK_EQ(sum(run.counts().occupancies), 0U);
}

TEST(unused_trackers_do_not_run) {
  Simulation simulation{small_system(kSmall, "par", "adv+1", 0.5)};
  CHECK(!simulation.network().partitions()[0].trackers().any());
  Simulation tracked{small_system(kSmall, "pb", "adv+1", 0.5)};
  CHECK(tracked.network().partitions()[0].trackers().any());
}

// Checks at every time that the routers' own flags agree with their ports, and that the others see them
// exactly one latency of a local link later. Returns how often a flag was up.
std::uint64_t compare_flags(Simulation& simulation, std::uint32_t times, double factor, double offset) {
  const Dragonfly& topology = simulation.topology();
  const Blueprint& plan = simulation.network().blueprint();
  const std::uint32_t h = topology.h();
  const Tick delay = plan.signal_delay;
  std::deque<std::vector<bool>> history(static_cast<std::size_t>(delay) + 1,
                                        std::vector<bool>(topology.num_routers() * h, false));
  std::uint64_t up = 0;
  for (std::uint32_t step = 0; step < times; ++step) {
    simulation.run(plan.timing.quantum_ps, &always);
    const Tick now = simulation.network().now();
    std::vector<bool> present(topology.num_routers() * h, false);
    for (Partition& partition : simulation.network().partitions()) {
      for (std::uint32_t i = 0; i < partition.num_routers(); ++i) {
        const RouterPorts ports = partition.state().ports.of_router(i).from(topology.first_global_port());
        const std::uint32_t router = partition.first_router() + i;
        double total = 0;
        double connected = 0;
        for (std::uint32_t j = 0; j < h; ++j) {
          const auto port = static_cast<Port>(topology.first_global_port() + j);
          if (topology.neighbor(router, port).port == kNoPort) continue;
          total += ports[j].occupancy;
          ++connected;
        }
        for (std::uint32_t j = 0; j < h; ++j) {
          present[router * h + j] = ports[j].occupancy > factor * (total / connected) + offset;
          up += present[router * h + j] ? 1 : 0;
        }
      }
    }
    history.push_back(present);
    history.pop_front();
    for (Partition& partition : simulation.network().partitions()) {
      RouterTracker& tracker = *partition.trackers().numbers().trackers[0];
      for (std::uint32_t i = 0; i < partition.num_routers(); ++i) {
        const std::uint32_t reader = partition.first_router() + i;
        const std::uint32_t first = topology.group_of(reader) * topology.a();
        for (std::uint32_t q = 0; q < topology.a() * h; ++q) {
          const auto& seen = first + q / h == reader ? history.back() : history.front();
          if ((tracker.read(0, reader, q, now) > 0) != seen[first * h + q]) return 0;
        }
      }
    }
  }
  return up;
}

TEST(flags_are_those_of_the_ports_and_of_the_group_at_every_time) {
  const DragonflyParams kPartial{.p = 2, .a = 4, .h = 2, .g = 4};
  const DragonflyParams kTrunked{.p = 2, .a = 4, .h = 2, .g = 5, .trunking = 2};
  for (const DragonflyParams& shape : {kSmall, kPartial, kTrunked}) {
    for (const char* queue : {"per-vc", "shared"}) {
      SimulationSetup all = small_system(shape, "pb", "adv+1", 0.9);
      all.network.output_queue = queue;
      all.policy_parameters = {{"congestion_factor", 1.1}, {"congestion_offset_packets", 1.0}};
      Simulation simulation{std::move(all)};
      CHECK(compare_flags(simulation, 6'000, 1.1, 1.0) > 0);
    }
  }
}

TEST(flags_outlast_a_policy_that_does_not_read_them) {
  Simulation simulation{small_system(kSmall, "pb", "adv+1", 0.9)};
  simulation.set_policy("ugal-n", {});
  const bool same = compare_flags(simulation, 6'000, 1.2, 5.0) > 0;
  CHECK(same);
  simulation.set_policy("pb", {{"bias_packets", 3.0}, {"congestion_factor", 1.2}});
  CHECK_THROWS(ConfigError, simulation.set_policy("pb", {{"congestion_factor", 1.3}}));
  CHECK(simulation.run(1'000 * kNs, &always));
  simulation.check_invariants();
}

TEST(a_policy_cannot_take_over_without_its_tracker) {
  Simulation simulation{small_system(kSmall, "ugal-n", "adv+1", 0.5)};
  CHECK_THROWS(ConfigError, simulation.set_policy("pb", {}));
  simulation.set_policy("ugal-n", {{"bias_packets", 2.0}});
}

TEST(trackers_are_found_by_name_and_their_parameters_are_checked) {
  CHECK_THROWS(ConfigError, find_tracker("congested-link"));
  CHECK_THROWS(ConfigError, request_tracker("congested-links", Parameters{{"factor", 1.0}}));
  CHECK_THROWS(ConfigError, find_tracked_feature("congested"));
  CHECK(request_tracker("congested-links", Parameters{})
            .includes(request_tracker("congested-links", Parameters{{"congestion_factor", 1.2}})));
  for (const double factor : {-0.1, 2e6}) {
    SimulationSetup all = small_system(kSmall, "pb", "uniform", 0.1);
    all.policy_parameters = {{"congestion_factor", factor}};
    CHECK_THROWS(ConfigError, Simulation{std::move(all)});
  }
}

TEST(a_feature_runs_its_tracker_with_the_parameters_given_else_those_of_the_policy) {
  const auto environment = [](const std::string& policy, const std::map<std::string, Parameters>& given,
                              bool warms_up) {
    SimulationSetup all = small_system(kSmall, policy, "adv+1", 0.5);
    if (policy == "pb") all.policy_parameters = {{"congestion_factor", 2.0}};
    EnvironmentSpec spec = usual_decisions();
    spec.scope = DecisionScope::kSource;
    spec.action = ActionMode::kPath;
    spec.nonminimal_kinds = {NonMinimalKind::kLgl};
    spec.tracked = {"congested_links"};
    spec.trackers = given;
    all.options.decisions = spec;
    all.options.warms_up = warms_up;
    RoutingEnvironment made{std::move(all), warms_up ? 1'000 * kNs : 0, 1'000 * kNs};
    const std::vector<TrackerRequest>& running = made.simulation().network().blueprint().deciders.trackers;
    CHECK_EQ(running.size(), 1U);
    return std::get<double>(running[0].parameters.at("congestion_factor"));
  };
  const std::map<std::string, Parameters> three{{"congested-links", {{"congestion_factor", 3.0}}}};
  CHECK_EQ(environment("min", {}, false), 1.2);
  CHECK_EQ(environment("min", three, true), 3.0);
  CHECK_EQ(environment("pb", {}, false), 2.0);
  CHECK_EQ(environment("pb", {}, true), 2.0);
  CHECK_EQ(environment("pb", three, false), 3.0);
  CHECK_THROWS(ConfigError, environment("pb", three, true));
}

}  // namespace
