// Scripts: how they are checked, and what ranks do in which order.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "tests/programs.hpp"
#include "traffic/script_program.hpp"

namespace {

using namespace dragonfly;
using Kind = Step::Kind;

struct Line {
  Kind kind;
  std::uint32_t partner = 0;
  std::int64_t amount = 0;
  std::uint32_t label = 0;
};
using Rank = std::vector<Line>;

Line send(std::uint32_t to, std::int64_t bytes, std::uint32_t label = 0) {
  return {Kind::kSend, to, bytes, label};
}
Line receive(std::uint32_t from, std::uint32_t label = 0) {
  return {Kind::kReceive, from, ScriptText::kAnyBytes, label};
}
Line wait(std::uint32_t label = 0) { return {Kind::kWait, 0, 0, label}; }
Line wait_all() { return {Kind::kWaitAll}; }
Line compute(std::int64_t ps) { return {Kind::kCompute, 0, ps}; }
Line begin(std::uint32_t operation) { return {Kind::kBegin, 0, 0, operation}; }
Line end(std::uint32_t operation) { return {Kind::kEnd, 0, 0, operation}; }

ScriptText text_of(const std::vector<Rank>& ranks, std::uint32_t packet_bytes = 128) {
  ScriptText text{.name = "test",
                  .packet_bytes = packet_bytes,
                  .first = {0},
                  .kinds = {},
                  .partners = {},
                  .amounts = {},
                  .labels = {},
                  .label_names = {"a", "b"},
                  .operation_names = {"one", "two"}};
  for (const Rank& rank : ranks) {
    for (const Line& line : rank) {
      text.kinds.push_back(static_cast<std::uint8_t>(line.kind));
      text.partners.push_back(line.partner);
      text.amounts.push_back(line.amount);
      text.labels.push_back(line.label);
    }
    text.first.push_back(text.kinds.size());
  }
  return text;
}

std::string error_of(const std::vector<Rank>& ranks) {
  try {
    static_cast<void>(Script{text_of(ranks)});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::vector<Rank>& ranks, const std::string& words) {
  return error_of(ranks).find(words) != std::string::npos;
}

Simulation run_of(const std::vector<Rank>& ranks, ScriptRun run) {
  auto topology = std::make_shared<const Dragonfly>(kSmall);
  const auto count = static_cast<std::uint32_t>(ranks.size());
  std::vector<Job> jobs(1);
  jobs[0].program = make_script_program(std::make_shared<const Script>(text_of(ranks)), run);
  jobs[0].hosts = first_hosts(count);
  auto workload = std::make_shared<const Workload>(topology->num_hosts(), std::move(jobs));
  return Simulation{closed_system(std::move(topology), std::move(workload))};
}

TimePs makespan(Simulation& simulation) { return simulation.statistics().workload->makespan_ps; }

TEST(a_script_names_the_task_that_waits_for_a_message_never_sent) {
  CHECK(says({{receive(1), wait()}, {}},
             "test, operation 0 of rank 0, receive = 'a' from rank 1: must be "
             "sent: rank 0 waits for rank 1, which does not send it 'a'"));
  CHECK(says({{receive(1), receive(1), wait()}, {send(0, 8)}}, "does not send it 'a' as often"));
  CHECK(says({{send(1, 8)}, {}}, "rank 1 never receives 'a' from rank 0"));
  CHECK(says({{send(1, 8), send(1, 8)}, {receive(0)}}, "rank 1 does not receive 'a' from rank 0 as often"));
  CHECK(says({{send(1, 8, 1)}, {receive(0)}}, "rank 1 never receives 'b' from rank 0"));
}

TEST(a_script_names_ranks_that_wait_in_a_circle) {
  const Rank waits_first[] = {{receive(1), wait(), send(1, 8)}, {receive(0), wait(), send(0, 8)}};
  CHECK(
      says({waits_first[0], waits_first[1]},
           "must not wait in a circle: rank 0 waits for rank 1 ('a', operation 1 of rank 0), which waits for "
           "rank 0 ('a', operation 1 of rank 1)"));
  // Two chains, of which only the second is closed; the first rank that is stuck is not in the circle.
  CHECK(says({{receive(1), wait()},
              {receive(2), wait(), send(0, 8)},
              {receive(2), wait_all(), send(2, 8), send(1, 8)}},
             "1 rank: must not wait in a circle: rank 2 waits for rank 2"));
  CHECK(error_of({{receive(1), send(1, 8), wait()}, {receive(0), wait(), send(0, 8), wait_all()}}).empty());
}

TEST(receives_get_the_size_of_their_send) {
  const Script script{text_of({{send(1, 300), send(1, 0)}, {receive(0), receive(0)}})};
  CHECK_EQ(script.steps(1)[0].amount, 3);  // packets of 128 bytes
  CHECK_EQ(script.steps(1)[1].amount, 1);  // no message is without a packet
  CHECK_EQ(script.packets(), 4U);
  std::vector<Rank> ranks{{send(1, 300)}, {receive(0)}};
  ranks[1][0].amount = 200;
  CHECK(says(ranks,
             "operation 0 of rank 1, bytes = 200: must be 300, as rank 0 sends (operation 0 of rank 0)"));
}

TEST(computations_follow_one_another_exactly_without_jitter) {
  Simulation simulation = run_of({{compute(3'200'000), compute(6'400'000)}, {}}, {.repetitions = 5});
  CHECK(simulation.run_to_completion(1'000'000'000, always) == RunEnd::kComplete);
  CHECK_EQ(makespan(simulation), 5 * 9'600'000);
}

TEST(jitter_has_the_deviation_that_was_set) {
  constexpr std::uint32_t kTimes = 10'000;
  constexpr TimePs kEach = 1'000'000;
  Simulation simulation =
      run_of({{begin(0), compute(kEach), end(0)}}, {.repetitions = kTimes, .jitter = 0.01, .seed = 3});
  CHECK(simulation.run_to_completion(100'000'000'000'000, always) == RunEnd::kComplete);
  const OperationRecord one = simulation.statistics().workload->operations[0];
  CHECK_EQ(one.count, kTimes);
  // The mean of so many lies within 4 standard deviations / sqrt(count); rounding to ticks adds one of them.
  const double mean = static_cast<double>(one.total_ps) / kTimes;
  CHECK(mean > 0.9996 * kEach && mean < 1.0004 * kEach + 3200);
  CHECK(one.max_ps > kEach * 102 / 100 && one.max_ps < kEach * 107 / 100);
}

TEST(open_sends_are_sent_in_turn) {
  // Rank 0 sends 8 packets to each of two others, in pieces of 2: both are complete about the same time,
  // while in pieces of 8 the first is complete when the second begins.
  const std::vector<Rank> ranks{{send(1, 1024), send(2, 1024), wait()},
                                {begin(0), receive(0), wait(), end(0)},
                                {begin(1), receive(0), wait(), end(1)}};
  const auto times = [&](std::uint32_t piece) {
    Simulation simulation = run_of(ranks, {.piece_packets = piece});
    CHECK(simulation.run_to_completion(1'000'000'000, always) == RunEnd::kComplete);
    const auto operations = simulation.statistics().workload->operations;
    return std::pair{operations[0].total_ps, operations[1].total_ps};
  };
  const auto [first_whole, second_whole] = times(8);
  const auto [first_turn, second_turn] = times(2);
  // Three pieces of the other's come before its last one; idle links start by a timer of less than a packet
  // time.
  constexpr TimePs kPacket = 32'000;
  CHECK(first_turn - first_whole > 5 * kPacket && first_turn - first_whole < 7 * kPacket);
  CHECK(second_turn < second_whole + kPacket && second_turn > second_whole - kPacket);
}

TEST(a_job_starts_at_its_time_and_an_endless_job_holds_up_no_run) {
  auto topology = std::make_shared<const Dragonfly>(kSmall);
  const auto script = std::make_shared<const Script>(
      text_of({{receive(1), send(1, 1000), wait()}, {receive(0), send(0, 1000), wait()}}));
  std::vector<Job> jobs(2);
  jobs[0] = {.program = make_script_program(script, {.repetitions = 3}),
             .hosts = {0, 9},
             .start_ps = 5'000'000,
             .policies = {}};
  jobs[1] = {.program = make_script_program(script, {.repetitions = ScriptRun::kEndless}),
             .hosts = {30, 50},
             .start_ps = 0,
             .policies = {}};
  auto workload = std::make_shared<const Workload>(topology->num_hosts(), std::move(jobs));
  Simulation simulation{closed_system(std::move(topology), std::move(workload))};
  CHECK(simulation.run_to_completion(1'000'000'000, always) == RunEnd::kComplete);
  const auto s = *simulation.statistics().workload;
  CHECK(s.makespan_ps > 5'000'000 && s.makespan_ps < 10'000'000);
  CHECK_EQ(s.jobs[0].unfinished, 0U);
  CHECK_EQ(s.jobs[0].packets_delivered, 3ULL * 16);
  CHECK(s.jobs[1].packets_delivered > s.jobs[0].packets_delivered);
  CHECK_EQ(s.packets_total, 3ULL * 16);
}

}  // namespace
