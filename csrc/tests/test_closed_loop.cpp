// Programs on hosts: nothing is lost, nothing depends on threads or pieces, and times are those of a hand
// calculation.
#include <memory>
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
  // Host 0 to host 1 of the same router and back, one packet each, 500 ns of computing before each reply.
  // Injection: an idle port runs its timer for a packet time (32 ns), then link (10) and input latency (10).
  // The head requests at the next clock edge (a multiple of 3.2 ns), the output port's timer runs for 32 ns
  // after its grant, then output latency (10) and link (10).
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
      2, 0, [](std::uint32_t task, const TaskCall& call, const Diary&, TaskPort& port) {
        if (call.what == 's' && task == 0) {
          port.wake_at(100 * kNs);
          port.wake_at(kFar);
          port.wake_at(kFar);
        }
        if (call.what == 'w' && call.time_ps == kFar) port.wake_at(0);  // the next time has not come yet
        return task == 1 || call.time_ps > kFar;
      });
  std::vector<Job> jobs{{program, {3, 60}}};
  Simulation simulation{closed_system(topology, std::make_shared<const Workload>(72, std::move(jobs)))};
  CHECK(simulation.run_to_completion(kLong, &always) == RunEnd::kComplete);
  REQUIRE(program->diaries[0].size() == 3);
  CHECK((program->diaries[0][1] == TaskCall{'w', kFar}));
  CHECK(program->diaries[0][2].time_ps > kFar);
  CHECK(program->diaries[0][2].time_ps <= kFar + kNs);
  CHECK_EQ(program->diaries[1].size(), 1U);
}

TEST(a_host_receives_a_message_before_its_alarm_of_the_same_time) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  TimePs arrival = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto program = std::make_shared<Scripted>(
        2, 1, [&](std::uint32_t task, const TaskCall& call, const Diary& diary, TaskPort& port) {
          if (call.what == 's' && task == 0) port.send(1, 1, 0);
          if (call.what == 's' && task == 1 && arrival > 0) port.wake_at(arrival);
          return task == 0 || diary.size() == (arrival > 0 ? 3U : 2U);
        });
    std::vector<Job> jobs{{program, {0, 71}}};
    Simulation simulation{closed_system(topology, std::make_shared<const Workload>(72, std::move(jobs)))};
    CHECK(simulation.run_to_completion(kLong, &always) == RunEnd::kComplete);
    const Diary& diary = program->diaries[1];
    CHECK_EQ(diary[1].what, 'r');
    if (arrival > 0) {
      CHECK((diary[2] == TaskCall{'w', arrival}));
      CHECK_EQ(diary[1].time_ps, arrival);
    }
    arrival = diary[1].time_ps;
  }
}

TEST(a_workload_that_can_never_complete_is_named) {
  const auto topology = std::make_shared<const Dragonfly>(kSmall);
  auto program = std::make_shared<Scripted>(
      3, 1, [](std::uint32_t task, const TaskCall& call, const Diary&, TaskPort& port) {
        if (call.what == 's' && task == 1) port.send(2, 1, 0);
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
  CHECK(simulation.run(1'000 * kNs, &always));  // time goes on without traffic
  simulation.check_invariants();
}

}  // namespace
