// Whole simulations: nothing is lost, histories do not depend on how they are computed.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "network/memory_need.hpp"
#include "simulation/simulation.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"
#include "traffic/trace_source.hpp"

namespace {

using namespace dragonfly;

// The shapes of router that the two published networks have, and what lies between.
std::vector<NetworkParams> networks() {
  NetworkParams queued = usual_network();
  NetworkParams arrival = queued;
  arrival.decide_at = "arrival";
  arrival.routing_delay_ps = 100'000;
  NetworkParams immediate = queued;
  immediate.link_start = "immediate";
  immediate.arbitration = "age";
  NetworkParams cut_through = immediate;
  cut_through.switching = "cut-through";
  cut_through.output_queue = "shared";
  cut_through.vc_scheme = "ladder";
  cut_through.arbitration = "round-robin";
  cut_through.crossbar_latency_ps = 89'000;
  cut_through.injection_packet_ps = 0;
  std::vector<NetworkParams> all{queued, arrival, immediate, cut_through};
  for (NetworkParams tiny : std::vector<NetworkParams>{queued, cut_through}) {
    tiny.host_buffer_packets = tiny.local_buffer_packets = tiny.global_buffer_packets =
        tiny.output_buffer_packets = 1;
    all.push_back(tiny);
  }
  return all;
}

TEST(the_invariants_hold_at_every_time_and_everything_comes_home) {
  for (const NetworkParams& network : networks()) {
    for (const PolicyInfo& policy : policy_registry()) {
      SimulationSetup all = small_system(kSmall, policy.name, "adv+1", 1.0);
      all.network = network;
      Simulation simulation{std::move(all)};
      for (int i = 0; i < 40; ++i) {
        simulation.run(i % 3 == 0 ? 200 : 97'400, &always);
        simulation.check_invariants();
      }
      CHECK(simulation.drain(kNever / 4, &always));
      CHECK(simulation.empty());
      simulation.check_invariants();
      const Statistics s = simulation.statistics();
      CHECK_EQ(s.generated, s.deliveries.delivered);
      CHECK(s.deliveries.delivered > 0);
    }
  }
}

TEST(pieces_interruptions_and_threads_change_nothing) {
  for (const PolicyInfo& policy : policy_registry()) {
    const auto make = [&policy](std::uint32_t threads) {
      SimulationSetup all = small_system(kWide, policy.name, "uniform", 0.05, InjectionKind::kPoisson);
      all.options.threads = threads;
      return Simulation{std::move(all)};
    };
    constexpr TimePs kWhole = 1'500 * kNs;
    Simulation whole = make(1);
    CHECK_EQ(whole.num_partitions(), 3);
    CHECK(whole.run(kWhole, &always));
    CHECK(whole.trace_hash() != 0);

    Simulation pieces = make(3);
    for (TimePs done = 0, step = 100; done < kWhole; done += step, step = step * 7 % 90'001 + 100) {
      pieces.run(std::min(step, kWhole - done), &always);
    }
    CHECK_EQ(pieces.time_ps(), kWhole);
    CHECK_EQ(pieces.trace_hash(), whole.trace_hash());

    Simulation interrupted = make(2);
    while (interrupted.time_ps() < kWhole) {
      const TimePs before = interrupted.time_ps();
      CHECK(!interrupted.run(kWhole - before, [] { return false; }));
      CHECK(interrupted.time_ps() > before);
      interrupted.check_invariants();
    }
    CHECK_EQ(interrupted.trace_hash(), whole.trace_hash());
  }
}

// A log needs the loop for everything; without one the loop is compiled for what the run has.
TEST(the_loops_compiled_for_less_do_what_the_loop_for_everything_does) {
  std::vector<NetworkParams> all_networks = networks();
  for (const char* decide_at : {"arrival", "by-policy", "attempt"}) {
    all_networks.push_back(all_networks[3]);
    all_networks.back().decide_at = decide_at;
    all_networks.back().arbitration = "transit-first-round-robin";
  }
  for (const NetworkParams& network : all_networks) {
    for (const PolicyInfo& policy : policy_registry()) {
      const auto hash = [&](bool with_log) {
        SimulationSetup all = small_system(kSmall, policy.name, "adv+1", 0.9);
        all.network = network;
        all.options.record.packet_log = with_log;
        Simulation simulation{std::move(all)};
        CHECK(simulation.run(3'000 * kNs, &always));
        return simulation.trace_hash();
      };
      CHECK(hash(false) != 0);
      CHECK_EQ(hash(false), hash(true));
    }
  }
}

TEST(silence_passes_at_once_and_shifts_what_follows) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  std::vector<std::int64_t> latencies;
  for (const TimePs start : {TimePs{0}, TimePs{1'000'000'000'000'000}}) {
    const std::vector<std::int64_t> time{0, start + 16 * kNs};
    const std::vector<std::uint32_t> source{0, 3};
    const std::vector<std::uint32_t> destination{9, 70};
    const std::vector<std::uint32_t> packets{1, 5};
    SimulationSetup all;
    all.network = usual_network();
    all.topology = topology;
    all.source = make_trace_source(*topology, {time, source, destination, packets});
    Simulation simulation{std::move(all)};
    CHECK(simulation.run(start + 10'000 * kNs, &always));
    const Statistics s = simulation.statistics();
    CHECK_EQ(s.deliveries.delivered, 6U);
    latencies.push_back(s.deliveries.latency_ps);
  }
  CHECK_EQ(latencies[0], latencies[1]);
}

TEST(the_memory_of_a_network_includes_what_its_routers_remember) {
  const auto need = [](SimulationSetup setup) {
    return memory_need(Simulation{std::move(setup)}.network().blueprint());
  };
  const DragonflyParams& size = kSmall;
  const std::uint64_t groups = size.a * size.h + 1;
  const std::uint64_t routers = groups * size.a;
  CHECK_EQ(need(small_system(kSmall, "min", "uniform", 0.5)).trackers, 0U);
  // A flag per global link: as it is, as the others see it, and whether there is a link.
  CHECK_EQ(need(small_system(kSmall, "pb", "uniform", 0.5)).trackers, routers * size.h * 3);
  // Two counters per router and group, and its own links.
  CHECK_EQ(need(small_system(kSmall, "tpr", "uniform", 0.5)).trackers,
           routers * (groups * 8 + (size.h + 1) * 4));
  // Trackers that only a feature of observations shows count as well; so does the traffic that is counted for
  // them.
  SimulationSetup shown = small_system(kSmall, "min", "uniform", 0.5);
  shown.options.decisions = usual_decisions();
  const MemoryNeed counted = need(shown);
  CHECK(counted.decisions >= routers * groups * 8);
  shown.options.decisions->tracked = {"congested_links"};
  shown.options.decisions->features = 0;
  CHECK_EQ(need(shown).trackers, routers * size.h * 3);
  CHECK(need(shown).decisions < counted.decisions);
  // A counter per group, and type of link or other group; all of a group's packets, and what they are a share
  // of.
  shown.options.decisions->tracked = {"destination_group_minimal_demand"};
  CHECK_EQ(need(shown).trackers, groups * ((size.a + groups + 1) * 4 + 8));
  // Half a cache line per router and destination router.
  shown.options.decisions->tracked = {"candidate_waited_age"};
  CHECK_EQ(need(shown).trackers, routers * routers * 32);
}

TEST(a_network_too_large_for_the_machine_is_refused) {
  SimulationSetup all = small_system(kSmall, "min", "uniform", 0.5);
  all.options.source_queue_packets = 0x7fffffff;
  CHECK_THROWS(ConfigError, Simulation{std::move(all)});
}

}  // namespace
