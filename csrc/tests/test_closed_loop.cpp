// Programs on hosts: nothing is lost, nothing depends on threads or pieces, and times are those of a hand
// calculation.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "tests/programs.hpp"
#include "tests/small_systems.hpp"
#include "traffic/placement.hpp"

namespace {

using namespace dragonfly;

constexpr TimePs kLong = kNever / 4;
constexpr TimePs kEnd = 200'000 * kNs;

// The shapes of router that the published networks have, and tiny buffers.
std::vector<NetworkParams> networks() {
  NetworkParams queued = usual_network();
  NetworkParams arrival = queued;
  arrival.decide_at = "arrival";
  arrival.routing_delay_ps = 100'000;
  NetworkParams cut_through = usual_network();
  cut_through.link_start = "immediate";
  cut_through.switching = "cut-through";
  cut_through.output_queue = "shared";
  cut_through.vc_scheme = "ladder";
  cut_through.arbitration = "round-robin";
  cut_through.crossbar_latency_ps = 89'000;
  cut_through.injection_packet_ps = 0;
  NetworkParams tiny = cut_through;
  tiny.host_buffer_packets = tiny.local_buffer_packets = tiny.global_buffer_packets =
      tiny.output_buffer_packets = 1;
  return {queued, arrival, cut_through, tiny};
}

TEST(an_all_to_all_delivers_every_message_once_and_the_books_balance_on_the_way) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  for (const NetworkParams& network : networks()) {
    for (const std::int64_t bytes : {1, 300}) {
      for (const std::uint32_t queue : {0U, 1U, 4U}) {
        SimulationSetup all = closed_system(topology, all_to_all(*topology, bytes, bytes), "ugal-n");
        all.network = network;
        all.options.source_queue_packets = queue;
        Simulation simulation{std::move(all)};
        for (int i = 0; i < 40; ++i) {
          simulation.run(i % 3 == 0 ? 200 : 97'400, &always);
          simulation.check_invariants();
          const Statistics s = simulation.statistics();
          CHECK_EQ(s.generated, s.deliveries.delivered + s.in_network + s.in_source_queues);
        }
        CHECK(simulation.progress() > 0);
        CHECK(simulation.run_to_completion(kLong, &always) == RunEnd::kComplete);
        simulation.check_invariants();
        const Statistics s = simulation.statistics();
        CHECK_EQ(s.workload->messages.sent, 72 * 71);
        CHECK_EQ(s.workload->messages.delivered, 72 * 71);
        CHECK_EQ(s.deliveries.delivered, 72 * 71 * (bytes == 1 ? 1 : 3));
        CHECK_EQ(s.generated, s.deliveries.delivered);
        CHECK_EQ(s.workload->makespan_ps, simulation.time_ps());
        CHECK_EQ(simulation.progress(), 1.0);
        CHECK(simulation.empty());
      }
    }
  }
}

TEST(threads_pieces_and_interruptions_change_nothing_of_a_workload) {
  const auto topology = std::make_shared<const Dragonfly>(kWide);
  const std::uint32_t hosts = topology->num_hosts();
  struct End {
    std::uint64_t hash, later_hash, delivered;
    TimePs latency, makespan, time;
    std::vector<Diary> diaries;
    bool operator==(const End&) const = default;
  };
  // Two rings side by side, of hosts of all three partitions, next to hosts that send at random.
  enum class Beside { kNothing, kSources, kEndlessJob };
  const auto play = [&](std::uint32_t threads, TimePs piece, TimePs limit, Beside beside) {
    const auto place = place_tasks(*topology, "random", 1, 0);
    const auto part = [&](std::size_t first, std::size_t count) {
      return std::vector<std::uint32_t>(place.begin() + static_cast<std::ptrdiff_t>(first),
                                        place.begin() + static_cast<std::ptrdiff_t>(first + count));
    };
    auto ring = make_ring(20, 5, 2, 150 * kNs);
    auto other = make_ring(7, 1, 3, 0);
    SimulationSetup all = small_system(kWide, "ugal-n", "uniform", 0.002, InjectionKind::kPoisson);
    if (beside != Beside::kSources) all.source = std::make_shared<const SilentSource>();
    std::vector<Job> jobs{{ring, part(0, 20)}, {other, part(20, 7)}};
    if (beside == Beside::kEndlessJob) {
      auto endless = make_ring(9, 3, 0, 40 * kNs);
      endless->endless = true;
      jobs.push_back({endless, part(30, 9)});
    }
    all.workload = std::make_shared<const Workload>(hosts, std::move(jobs));
    all.options.threads = threads;
    Simulation simulation{std::move(all)};
    CHECK_EQ(simulation.num_partitions(), 3);
    for (TimePs done = 0; piece > 0 && done < 5'000 * kNs; done += piece) simulation.run(piece, &always);
    const auto keep_going = [&] { return piece == 0; };
    while (simulation.run_to_completion(limit, keep_going) != RunEnd::kComplete)
      simulation.check_invariants();
    simulation.check_invariants();
    std::vector<Diary> diaries = ring->diaries;
    diaries.insert(diaries.end(), other->diaries.begin(), other->diaries.end());
    const Statistics s = simulation.statistics();
    End end{.hash = simulation.trace_hash(),
            .later_hash = 0,
            .delivered = s.deliveries.delivered,
            .latency = s.deliveries.latency_ps,
            .makespan = s.workload->makespan_ps,
            .time = simulation.time_ps(),
            .diaries = std::move(diaries)};
    simulation.run(kEnd - end.time, &always);  // it goes on from there
    simulation.check_invariants();
    end.later_hash = simulation.trace_hash();
    return end;
  };
  for (const Beside beside : {Beside::kNothing, Beside::kSources, Beside::kEndlessJob}) {
    const End whole = play(1, 0, kLong, beside);
    CHECK(whole.makespan > 0);
    CHECK(whole.makespan < kEnd);
    CHECK_EQ(whole.time, whole.makespan);
    CHECK((whole.later_hash != whole.hash) == (beside != Beside::kNothing));
    CHECK(play(2, 0, kLong, beside) == whole);
    CHECK(play(1, 0, 1'000 * kNs, beside) == whole);
    CHECK(play(3, 777, kLong, beside) == whole);
    CHECK(play(8, 33'333, 50 * kNs, beside) == whole);
  }
}

TEST(a_message_and_a_compute_gap_take_as_long_as_calculated_by_hand) {
  // Host 0 to host 1 of the same router and back, one packet each, 500 ns of computing before each answer.
  // Injection: an idle port runs its timer for a packet time (32 ns), then link (10) and input latency (10).
  // The head asks at the next clock edge (a multiple of 3.2 ns), the output port's timer runs for 32 ns after
  // its grant, then output latency (10) and link (10).
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  auto ring = make_ring(2, 1, 1, 500 * kNs);
  std::vector<Job> jobs{{ring, {0, 1}}};
  SimulationSetup all = closed_system(topology, std::make_shared<const Workload>(72, std::move(jobs)));
  Simulation simulation{std::move(all)};
  CHECK(simulation.run_to_completion(kLong, &always) == RunEnd::kComplete);
  const auto delivery = [](TimePs sent) {
    const TimePs arrived = sent + 52 * kNs;
    const TimePs granted = (arrived / 3'200 + 1) * 3'200;
    return granted + 52 * kNs;
  };
  const TimePs first = delivery(0);
  const TimePs second = delivery(first + 500 * kNs);
  const Diary at_0{{'s', 0}, {'l', 32 * kNs, 1, 0, 0}, {'r', second, 1, 0, 1}, {'w', second + 500 * kNs}};
  const Diary at_1{
      {'s', 0}, {'r', first, 0, 0, 0}, {'w', first + 500 * kNs}, {'l', first + 532 * kNs, 0, 0, 1}};
  CHECK(ring->diaries[0] == at_0);
  CHECK(ring->diaries[1] == at_1);
  CHECK_EQ(simulation.time_ps(), second + 500 * kNs);
  CHECK_EQ(simulation.statistics().workload->makespan_ps, second + 500 * kNs);
}

TEST(an_alarm_that_is_set_anew_goes_off_once_and_silence_before_it_passes_at_once) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  constexpr TimePs kFar = 1'000'000'000'000'000;  // 1000 s
  auto program = std::make_shared<Scripted>(
      2, 0, [](std::uint32_t task, const Asked& asked, const Diary&, TaskPort& port) {
        if (asked.what == 's' && task == 0) {
          port.wake_at(100 * kNs);
          port.wake_at(kFar);
          port.wake_at(kFar);
        }
        if (asked.what == 'w' && asked.time_ps == kFar) port.wake_at(0);  // not before the next instant
        return task == 1 || asked.time_ps > kFar;
      });
  std::vector<Job> jobs{{program, {3, 60}}};
  Simulation simulation{closed_system(topology, std::make_shared<const Workload>(72, std::move(jobs)))};
  CHECK(simulation.run_to_completion(kLong, &always) == RunEnd::kComplete);
  REQUIRE(program->diaries[0].size() == 3);
  CHECK((program->diaries[0][1] == Asked{'w', kFar}));
  CHECK(program->diaries[0][2].time_ps > kFar);
  CHECK(program->diaries[0][2].time_ps <= kFar + kNs);
  CHECK_EQ(program->diaries[1].size(), 1U);
}

TEST(a_host_hears_of_a_message_before_its_alarm_of_the_same_instant) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  TimePs arrival = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto program = std::make_shared<Scripted>(
        2, 1, [&](std::uint32_t task, const Asked& asked, const Diary& diary, TaskPort& port) {
          if (asked.what == 's' && task == 0) port.send(1, 1, 0);
          if (asked.what == 's' && task == 1 && arrival > 0) port.wake_at(arrival);
          return task == 0 || diary.size() == (arrival > 0 ? 3U : 2U);
        });
    std::vector<Job> jobs{{program, {0, 71}}};
    Simulation simulation{closed_system(topology, std::make_shared<const Workload>(72, std::move(jobs)))};
    CHECK(simulation.run_to_completion(kLong, &always) == RunEnd::kComplete);
    const Diary& diary = program->diaries[1];
    CHECK_EQ(diary[1].what, 'r');
    if (arrival > 0) {
      CHECK((diary[2] == Asked{'w', arrival}));
      CHECK_EQ(diary[1].time_ps, arrival);
    }
    arrival = diary[1].time_ps;
  }
}

TEST(messages_of_a_host_leave_one_after_the_other_and_at_most_in_flight_wait) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  for (const std::int64_t in_flight : {1, 2, 5, 1000}) {
    Simulation simulation{closed_system(topology, all_to_all(*topology, 384, in_flight))};
    std::uint64_t most = 0;
    for (int i = 0; i < 300; ++i) {
      simulation.run(50 * kNs, &always);
      most = std::max(most, simulation.statistics().in_source_queues);
    }
    const std::uint64_t allowed = std::uint64_t{72} * 3 * std::min<std::uint64_t>(71, in_flight);
    CHECK(most <= allowed);
    CHECK(2 * most > allowed);
  }
}

TEST(a_workload_that_can_never_complete_is_named) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  auto program = std::make_shared<Scripted>(
      3, 1, [](std::uint32_t task, const Asked& asked, const Diary&, TaskPort& port) {
        if (asked.what == 's' && task == 1) port.send(2, 1, 0);
        return task == 0;
      });
  std::vector<Job> jobs{{program, {7, 9, 60}}};
  Simulation simulation{closed_system(topology, std::make_shared<const Workload>(72, std::move(jobs)))};
  for (int again = 0; again < 2; ++again) {
    try {
      simulation.run_to_completion(kLong, &always);
      CHECK(false);
    } catch (const StateError& error) {
      const std::string said{error.what()};
      CHECK(said.find("2 tasks are not finished") != std::string::npos);
      CHECK(said.find("task 1 of job 0 on host 9 waits for its cue") != std::string::npos);
    }
  }
  CHECK_EQ(simulation.statistics().workload->makespan_ps, -1);
  CHECK(simulation.run(1'000 * kNs, &always));  // time goes on all the same
  simulation.check_invariants();
}

TEST(a_limit_ends_a_run_and_a_drain_stops_programs) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  Simulation simulation{closed_system(topology, all_to_all(*topology, 500, 3))};
  CHECK(simulation.run_to_completion(3'000 * kNs, &always) == RunEnd::kFinished);
  CHECK_EQ(simulation.time_ps(), 3'000 * kNs);
  CHECK(simulation.progress() > 0);
  CHECK(simulation.progress() < 1);
  CHECK(simulation.drain(kLong, &always));
  simulation.check_invariants();
  const Statistics s = simulation.statistics();
  CHECK_EQ(s.generated, s.deliveries.delivered);
  CHECK_EQ(s.workload->messages.sent, s.workload->messages.delivered);
  CHECK(s.workload->messages.delivered < 72 * 71);
  CHECK_THROWS(StateError, simulation.run_to_completion(kLong, &always));
}

TEST(what_is_impossible_is_refused) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  CHECK_THROWS(ConfigError, all_to_all(*topology, 0));
  CHECK_THROWS(ConfigError, all_to_all(*topology, -5));
  CHECK_THROWS(ConfigError, all_to_all(*topology, kMostMessageBytes + 1));
  CHECK_THROWS(ConfigError, all_to_all(*topology, 250, 0));
  CHECK_THROWS(ConfigError, all_to_all(*topology, 250, 1, "next-door"));
  CHECK_THROWS(ConfigError, make_pattern(*topology, 1, {"all-to-all", {}}));
  CHECK_THROWS(ConfigError, make_workload(*topology, 1, {"uniform", {}}, 128));
  const Dragonfly one{{.p = 1, .a = 1, .h = 0, .g = 1}};
  CHECK_THROWS(ConfigError, all_to_all(one, 250));
  SimulationSetup losing = closed_system(topology, all_to_all(*topology, 250));
  losing.options.source_queue_packets = 4;
  losing.options.lose_when_full = true;
  CHECK_THROWS(ConfigError, Simulation{std::move(losing)});
  Simulation open{small_system(kSmall, "min", "uniform", 0.5)};
  CHECK_THROWS(StateError, open.run_to_completion(kLong, &always));
  CHECK_THROWS(StateError, open.progress());
}

TEST(every_placement_takes_every_host_once_and_blocks_stay_together) {
  const Dragonfly topology{kSmall};
  std::set<std::vector<std::uint32_t>> seen;
  for (const std::string_view name : kPlacements) {
    const auto hosts = place_tasks(topology, std::string{name}, 5, 0);
    CHECK(place_tasks(topology, std::string{name}, 5, 0) == hosts);
    CHECK_EQ(place_tasks(topology, std::string{name}, 6, 0) == hosts, name == "consecutive");
    CHECK_EQ(std::set<std::uint32_t>(hosts.begin(), hosts.end()).size(), 72U);
    seen.insert(hosts);
    const std::uint32_t block = name == "random-routers" ? 2 : name == "random-groups" ? 8 : 1;
    for (std::uint32_t i = 0; i < 72; ++i) {
      CHECK_EQ(hosts[i] % block, i % block);
      CHECK_EQ(hosts[i] / block, hosts[i - i % block] / block);
    }
  }
  CHECK_EQ(seen.size(), 4U);
}

}  // namespace
