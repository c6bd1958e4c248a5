// Graphs of operations: how they are checked, and what ranks do in which order.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "tests/programs.hpp"
#include "traffic/graph_program.hpp"

namespace {

using namespace dragonfly;
using Kind = Node::Kind;

struct Line {
  Kind kind;
  std::uint32_t partner = 0;
  std::int64_t amount = 0;
  std::uint32_t label = 0;
  std::uint16_t stream = 0;
  bool in_list = true;
  std::vector<std::uint32_t> after{};
  std::vector<std::uint32_t> after_start{};
};
using Rank = std::vector<Line>;

Line send(std::uint32_t to, std::int64_t bytes, std::uint32_t label = 0) {
  return {Kind::kSend, to, bytes, label};
}
Line receive(std::uint32_t from, std::uint32_t label = 0) {
  return {Kind::kReceive, from, Node::kAnyBytes, label};
}
Line wait(std::uint32_t label = 0) { return {Kind::kWait, 0, 0, label}; }
Line wait_all() { return {Kind::kWaitAll}; }
Line compute(std::int64_t ps) { return {Kind::kCompute, 0, ps}; }
Line begin(std::uint32_t operation) { return {Kind::kBegin, 0, 0, operation}; }
Line end(std::uint32_t operation) { return {Kind::kEnd, 0, 0, operation}; }
Line after(Line line, std::vector<std::uint32_t> ended, std::vector<std::uint32_t> started = {}) {
  line.in_list = false;
  line.after = std::move(ended);
  line.after_start = std::move(started);
  return line;
}
Line on_stream(std::uint16_t stream, Line line) {
  line.stream = stream;
  return line;
}

Graph graph_of(const std::vector<Rank>& ranks) {
  GraphBuilder builder{"test", static_cast<std::uint32_t>(ranks.size()), "iteration"};
  static_cast<void>(builder.number_of("a"));
  static_cast<void>(builder.number_of("b"));
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    builder.begin_rank(rank);
    for (const Line& line : ranks[rank]) {
      const std::uint32_t operation =
          builder.add({.kind = static_cast<std::int64_t>(line.kind),
                       .partner = line.partner,
                       .amount = line.amount,
                       .label = line.label,
                       .stream = line.stream},
                      line.in_list ? GraphBuilder::Order::kInList : GraphBuilder::Order::kFree);
      for (const std::uint32_t other : line.after) builder.comes_after(operation, other, false);
      for (const std::uint32_t other : line.after_start) builder.comes_after(operation, other, true);
    }
    builder.end_rank();
  }
  return std::move(builder).build();
}

std::string error_of(const std::vector<Rank>& ranks) {
  try {
    static_cast<void>(graph_of(ranks));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::vector<Rank>& ranks, const std::string& words) {
  return error_of(ranks).find(words) != std::string::npos;
}

Simulation run_of(const std::vector<Rank>& ranks, GraphRun run) {
  run.packet_bytes = 128;
  auto topology = std::make_shared<const Dragonfly>(kSmall);
  const auto count = static_cast<std::uint32_t>(ranks.size());
  std::vector<Job> jobs(1);
  jobs[0].program = make_graph_program(std::make_shared<const Graph>(graph_of(ranks)), run);
  jobs[0].hosts = first_hosts(count);
  auto workload = std::make_shared<const Workload>(topology->num_hosts(), std::move(jobs));
  return Simulation{closed_system(std::move(topology), std::move(workload))};
}

TimePs makespan(Simulation& simulation) { return simulation.statistics().workload->makespan_ps; }

TEST(a_graph_names_the_task_that_waits_for_a_message_never_sent) {
  CHECK(says({{receive(1), wait()}, {}},
             "test, operation 0 of rank 0, receive = 'a' from rank 1: must be "
             "sent: rank 0 waits for rank 1, which does not send it 'a'"));
  CHECK(says({{receive(1), receive(1), wait()}, {send(0, 8)}}, "does not send it 'a' as often"));
  CHECK(says({{send(1, 8)}, {}}, "rank 1 never receives 'a' from rank 0"));
  CHECK(says({{send(1, 8), send(1, 8)}, {receive(0)}}, "rank 1 does not receive 'a' from rank 0 as often"));
  CHECK(says({{send(1, 8, 1)}, {receive(0)}}, "rank 1 waits for rank 0, which does not send it 'a'"));
  CHECK(says({{send(1, 8, 1), send(1, 8)}, {receive(0)}}, "rank 1 never receives 'b' from rank 0"));
}

TEST(a_graph_names_ranks_that_wait_in_a_circle) {
  const Rank waits_first[] = {{receive(1), wait(), send(1, 8)}, {receive(0), wait(), send(0, 8)}};
  CHECK(
      says({waits_first[0], waits_first[1]},
           "must not wait in a circle: rank 0 waits for rank 1 ('a', operation 0 of rank 0), which waits for "
           "rank 0 ('a', operation 0 of rank 1)"));
  // Two chains, of which only the second is closed; the first rank that is stuck is not in the circle.
  CHECK(says({{receive(1), wait()},
              {receive(2), wait(), send(0, 8)},
              {receive(2), wait_all(), send(2, 8), send(1, 8)}},
             "1 rank: must not wait in a circle: rank 2 waits for rank 2"));
  CHECK(error_of({{receive(1), send(1, 8), wait()}, {receive(0), wait(), send(0, 8), wait_all()}}).empty());
}

TEST(messages_are_whole_packets_and_at_least_one) {
  const Graph graph =
      graph_of({{send(1, 300), send(1, 0), wait_all(), send(1, 256)}, {receive(0), receive(0), receive(0)}});
  CHECK_EQ(graph.packets(128).total, 3U + 1U + 2U);
  CHECK_EQ(graph.packets(128).most, 6U);
  std::vector<Rank> ranks{{send(1, 300)}, {receive(0)}};
  ranks[1][0].amount = 200;
  CHECK(says(ranks,
             "operation 0 of rank 1, bytes = 200: must be 300, as rank 0 sends (operation 0 of rank 0)"));
}

TEST(a_graph_names_operations_that_come_after_each_other) {
  CHECK(says({{compute(5), after(compute(5), {2}), after(compute(5), {}, {1})}},
             "2 operations: must not wait in a circle: operation 1 of rank 0, which waits for operation 2 of "
             "rank 0"));
  CHECK(says({{after(compute(5), {0})}}, "1 operation: must not wait in a circle: operation 0 of rank 0"));
  CHECK(says({{after(compute(5), {1})}},
             "operation 0 of rank 0, after = 1: must be an operation of the rank, 0 to 0"));
}

TEST(operations_start_after_the_end_or_the_start_of_others) {
  // 0 and 1 share a stream; 2 starts with 1, on a stream of its own; 3 waits for both.
  Simulation simulation = run_of({{after(compute(3'200'000), {}), after(compute(3'200'000), {}),
                                   on_stream(1, after(compute(6'400'000), {}, {1})),
                                   after(wait_all(), {1, 2}), on_stream(1, after(compute(1'600'000), {3}))}},
                                 {});
  CHECK(simulation.run_to_completion(1'000'000'000, always) == RunEnd::kComplete);
  // An operation has started when it waits for its stream: 2 starts at 0 and lasts as long as 0 and 1
  // together.
  CHECK_EQ(makespan(simulation), 6'400'000 + 1'600'000);
}

TEST(messages_of_a_channel_leave_in_order_and_pieces_of_open_messages_in_turn) {
  // Rank 0 sends 4 messages of 2 packets to rank 1 and one of 8 packets to rank 2, in pieces of 1.
  const std::vector<Rank> ranks{
      {send(1, 256), send(1, 256), send(1, 256), send(1, 256), send(2, 1024)},
      {begin(0), receive(0), wait(), end(0), begin(1), receive(0), receive(0), receive(0), wait(), end(1)},
      {receive(0)}};
  Simulation simulation = run_of(ranks, {});
  CHECK(simulation.run_to_completion(1'000'000'000, always) == RunEnd::kComplete);
  const auto operations = simulation.statistics().workload->operations;  // the first is the repetition
  // Packets go to 1, 2, 1, 1, 2, 1, ...: the first message ends with the 3rd packet, the last one with the
  // 12th.
  constexpr TimePs kPacket = 32'000;
  CHECK(operations[2].total_ps > 8 * kPacket && operations[2].total_ps < 10 * kPacket);
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
  const OperationRecord one = simulation.statistics().workload->operations[1];
  CHECK_EQ(one.count, kTimes);
  // The mean of kTimes draws lies within 4 standard deviations / sqrt(kTimes); rounding adds one tick.
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
    return std::pair{operations[1].total_ps, operations[2].total_ps};
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
  const auto graph = std::make_shared<const Graph>(
      graph_of({{receive(1), send(1, 1000), wait()}, {receive(0), send(0, 1000), wait()}}));
  std::vector<Job> jobs(2);
  jobs[0] = {.program = make_graph_program(graph, {.repetitions = 3, .packet_bytes = 128}),
             .hosts = {0, 9},
             .start_ps = 5'000'000,
             .policies = {}};
  jobs[1] = {.program = make_graph_program(graph, {.repetitions = GraphRun::kEndless, .packet_bytes = 128}),
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
