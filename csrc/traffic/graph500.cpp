// The breadth-first search of the Graph500 benchmark, by the staged model that LIA is evaluated with.
//
// Per level of the tree every task queries the owners of the vertices that it has found: point-to-point
// messages to uniformly random tasks, up to `coalescing` queries for one task in each. An all-reduce ends the
// level: a binomial tree to the task that has the root vertex, and back. Level 0 is the root vertex alone.
//   Queries of a level: the mean of the model, a fit to measured searches, and never more than are left of
//   the 2^(scale + 1) * edge_factor that there are in all. Each task has its even share of them.
//   Messages of a task with q queries: the expected number n of different tasks among q random ones, times as
//   many full messages as each of them needs.
//   A task works on the queries that it receives between two messages that it sends: `query_ns` each, by
//   default the time that a full message takes on the link divided by its queries.
// The rules are FOGSim's (public source, commit dcdd75f), whose variants are options: `signals`, with which a
// task notifies every other that it has sent all messages of the level, instead of a number to expect that
// every task is given; `reduce=star`, an all-reduce by messages to the root task and back. LIA's text names
// neither, but messages between random tasks and an all-reduce.
// Deviations: the numbers are the means, without its normal deviates; a task begins the next level when the
// all-reduce reaches it; in FOGSim all begin when it has reached the last. Source: Fuentes et al., A scalable
// synthetic traffic model of Graph500 for computer networks analysis, CCPE 2017; with scale 20, edge factor
// 16, coalescing 256, root degree 3 and 5 levels in LIA (TACO 2025), section 5.3.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "traffic/program.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {

namespace {

constexpr std::uint64_t kMostMessages = std::uint64_t{1} << 28;  // all are drawn once beforehand

enum Kind : std::uint32_t { kQueries, kReduce, kBroadcast, kSignal, kKinds };

// A message: its kind, its level and its number of queries.
constexpr std::uint32_t kMostLevels = 64;
constexpr std::uint32_t kMostCoalescing = 0xff'ffff;
constexpr std::uint32_t tag_of(std::uint32_t level, Kind kind, std::uint32_t queries = 0) noexcept {
  return (queries << 8U) | (level * kKinds + kind);
}
constexpr std::uint32_t level_of(std::uint32_t tag) noexcept { return (tag & 0xffU) / kKinds; }
constexpr Kind kind_of(std::uint32_t tag) noexcept { return static_cast<Kind>((tag & 0xffU) % kKinds); }
static_assert(kMostLevels * kKinds <= 256);

struct Search {
  std::uint32_t tasks = 2;
  std::uint32_t packets = 1;  // packets of a message with queries
  std::uint32_t in_flight = 1;
  std::uint64_t coalescing = 256;
  std::uint64_t seed = 0;
  SendInterval interval{};
  std::int64_t query_fs = -1;  // time per query; negative: a packet time per full message
  bool signals = false;
  bool star = false;
  std::uint32_t root = 0;                 // the task that has the root vertex
  std::vector<std::uint64_t> queries{};   // [level], of all tasks
  std::vector<std::uint32_t> expected{};  // [level * tasks + task]: messages with queries that come

  [[nodiscard]] std::uint32_t levels() const noexcept { return static_cast<std::uint32_t>(queries.size()); }

  // A task's share of the queries of a level.
  [[nodiscard]] std::uint64_t share(std::uint32_t level, std::uint32_t task) const noexcept {
    if (level == 0) return task == root ? queries[0] : 0;
    const std::uint64_t rank = (std::uint64_t{task} + tasks - root + level) % tasks;
    return queries[level] / tasks + (rank < queries[level] % tasks ? 1 : 0);
  }
  // Number of messages with queries that a task sends at a level.
  [[nodiscard]] std::uint64_t messages(std::uint32_t level, std::uint32_t task) const noexcept {
    const std::uint64_t own = share(level, task);
    if (own == 0) return 0;
    const double others = tasks - 1.0;
    const double met = others * -std::expm1(static_cast<double>(own) * std::log1p(-1.0 / others));
    const auto different = static_cast<std::uint64_t>(others > 1 ? std::max(met, 1.0) : 1.0);
    return different * ((own + different * coalescing - 1) / (different * coalescing));
  }

  // Number of tasks that signal to a task that they have sent all messages of a level.
  [[nodiscard]] std::uint32_t signals_to(std::uint32_t level, std::uint32_t task) const noexcept {
    if (!signals) return 0;
    if (level == 0) return task == root ? 0 : 1;  // only the root sends at level 0
    return tasks - 1;
  }
  // Time of the work on so many queries: whole flit times, a cycle of FOGSim; exact where a packet is one
  // flit.
  [[nodiscard]] TimePs work_ps(std::uint32_t number, TimePs packet_ps) const noexcept {
    if (query_fs == 0) return 0;
    const double each_ps = query_fs < 0 ? static_cast<double>(packet_ps) / static_cast<double>(coalescing)
                                        : static_cast<double>(query_fs) / 1000.0;
    const TimePs cycle_ps = this->cycle_ps(packet_ps);
    const double cycles = std::ceil(each_ps * number / static_cast<double>(cycle_ps));
    return static_cast<TimePs>(cycles) * cycle_ps;
  }
  [[nodiscard]] TimePs cycle_ps(TimePs packet_ps) const noexcept {
    return interval.packet_flits() > 1 ? std::max<TimePs>(interval.flit_ps(packet_ps, 1), 1) : 1;
  }

  // Calls with(task) for the target of each of a task's messages at a level, in order.
  [[nodiscard]] RandomStream targets(std::uint32_t level, std::uint32_t task) const noexcept {
    return {seed, Purpose::kPattern, task, level};
  }
  [[nodiscard]] std::uint32_t next_target(RandomStream& draws, std::uint32_t task) const noexcept {
    const std::uint32_t other = draws.below(tasks - 1);
    return other + (other >= task ? 1U : 0U);
  }
};

// The mean number of queries at a level of a search from a root of so many edges.
double mean_queries(double scale, double edge_factor, double root_degree, double level) {
  const double a = -0.133 + 0.0046 * scale +
                   std::exp(0.01257 * edge_factor - 0.1829 * scale - std::exp(1.75 - 0.7 * level));
  const double b = 2 - level * (0.91 + 0.002 * edge_factor - 0.012 * scale);
  const double bell = std::exp(-(level - 3.2) * (level - 3.2) / 8);
  const double c = std::exp(1 + (1 + 0.004 * edge_factor) * (-1.105 + 1.01 * std::log(scale)) * bell);
  const double degree = std::log(root_degree);
  return std::exp(a * degree * degree + b * degree + c);
}

class SearchTask final : public Task {
 public:
  SearchTask(const Search& search, std::uint32_t task)
      : search_{search},
        task_{task},
        rank_{(task + search.tasks - search.root) % search.tasks},
        received_(search.levels(), 0),
        reduced_(search.levels(), 0),
        signalled_(search.signals ? search.levels() : 0, 0),
        draws_{search.targets(0, task)} {
    if (search.star) {
      children_ = rank_ == 0 ? search.tasks - 1 : 0;
      return;
    }
    for (std::uint32_t bit = 1; bit < search.tasks - rank_ && (rank_ & bit) == 0; bit <<= 1U) ++children_;
  }

  void start(TaskPort& port) override { begin_level(port); }
  void wake(TaskPort& port) override {
    if (owed_ == 0) return;
    if (busy_until_ps_ > port.now_ps()) {
      port.wake_at(busy_until_ps_);
      return;
    }
    for (; owed_ > 0; --owed_) send_queries(port);
  }
  void sent(TaskPort& port, const TaskMessage& message) override {
    switch (kind_of(message.tag)) {
      case kQueries:
        --leaving_;
        if (to_send_ > owed_) after_queries(port);
        if (to_send_ == 0 && leaving_ == 0) send_signal(port);
        break;
      case kSignal:
        send_signal(port);
        break;
      case kBroadcast:
        if (search_.star) return broadcast(port);
        return;
      default:
        return;
    }
    end_level(port);
  }
  void received(TaskPort& port, const TaskMessage& message) override {
    const std::uint32_t level = level_of(message.tag);
    if (finished() || level >= search_.levels()) return;  // possible only in a state that was written by hand
    switch (kind_of(message.tag)) {
      case kQueries:  // perhaps of the next level, which its sender has begun
        ++received_[level];
        work_on(message.tag >> 8U, port);
        break;
      case kReduce:
        ++reduced_[level];
        break;
      case kSignal:
        ++signalled_[level];
        break;
      default:
        leave_level(port);
        return;
    }
    end_level(port);
  }

  void archive(Archive& archive) override {
    archive(level_, to_send_, left_, leaving_, owed_, busy_until_ps_, pending_ps_, next_signal_,
            next_broadcast_, reported_, draws_);
    archive.fixed(received_);
    archive.fixed(reduced_);
    archive.fixed(signalled_);
  }
  [[nodiscard]] bool finished() const override { return level_ == search_.levels(); }
  [[nodiscard]] std::string waits_for() const override {
    const std::string where = " of level " + std::to_string(level_);
    if (reported_) return "the end" + where;
    const std::uint32_t expected = search_.expected[std::size_t{level_} * search_.tasks + task_];
    return std::to_string(expected - std::min(expected, received_[level_])) + " of " +
           std::to_string(expected) + " messages" + where;
  }

 private:
  void begin_level(TaskPort& port) {
    if (finished()) return;
    to_send_ = search_.messages(level_, task_);
    left_ = search_.share(level_, task_);
    draws_ = search_.targets(level_, task_);
    reported_ = false;
    next_signal_ = search_.signals && (level_ > 0 || rank_ == 0) ? 0 : search_.tasks;
    pending_ps_ = 0;
    busy_until_ps_ = port.now_ps();
    if (to_send_ == 0) {
      send_signal(port);
      end_level(port);
      return;
    }
    for (std::uint32_t i = 0; i < search_.in_flight && to_send_ > 0; ++i) send_queries(port);
  }
  void send_queries(TaskPort& port) {
    // Full messages as long as one query is left for each that follows.
    const bool full = left_ >= search_.coalescing + to_send_ - 1;
    const std::uint64_t queries = full ? search_.coalescing : (left_ + to_send_ - 1) / to_send_;
    left_ -= queries;
    --to_send_;
    ++leaving_;
    const std::uint32_t tag = tag_of(level_, kQueries, static_cast<std::uint32_t>(queries));
    port.send(search_.next_target(draws_, task_), search_.packets, tag);
  }
  // A message has left: the task works on the queries that have come, then it may send the next.
  void after_queries(TaskPort& port) {
    if (search_.query_fs == 0) {
      send_queries(port);
      return;
    }
    ++owed_;
    const TimePs now = port.now_ps();
    // A cycle in which the task finds no more work, as in FOGSim.
    busy_until_ps_ = std::max(busy_until_ps_, now) + pending_ps_ + 2 * search_.cycle_ps(port.packet_ps());
    pending_ps_ = 0;
    const TimePs spacing_ps = search_.interval.paces() ? search_.interval.spacing_ps(port.packet_ps()) : 0;
    port.wake_at(std::max(busy_until_ps_, now + spacing_ps));
  }
  void work_on(std::uint32_t queries, TaskPort& port) {
    if (to_send_ == 0) return;  // the end of a level does not wait for the work
    const TimePs work_ps = search_.work_ps(queries, port.packet_ps());
    (busy_until_ps_ > port.now_ps() ? busy_until_ps_ : pending_ps_) += work_ps;
  }
  void send_signal(TaskPort& port) {
    if (next_signal_ == task_) ++next_signal_;
    if (next_signal_ >= search_.tasks) return;
    port.send(next_signal_++, 1, tag_of(level_, kSignal), Lane::kUsual, Pace::kAtOnce);
  }
  // Once the own messages have left, all that are expected are there, and the subtree has said the same.
  void end_level(TaskPort& port) {
    if (finished() || reported_ || to_send_ > 0 || leaving_ > 0 || reduced_[level_] < children_ ||
        received_[level_] < search_.expected[std::size_t{level_} * search_.tasks + task_] ||
        !signals_done()) {
      return;
    }
    reported_ = true;
    if (rank_ == 0) {
      leave_level(port);
    } else {
      const std::uint32_t parent = search_.star ? 0 : rank_ & (rank_ - 1);
      port.send(task_of(parent), 1, tag_of(level_, kReduce), Lane::kUsual, Pace::kAtOnce);
    }
  }
  [[nodiscard]] bool signals_done() const noexcept {
    if (!search_.signals) return true;
    const std::uint32_t end = next_signal_ == task_ ? next_signal_ + 1 : next_signal_;
    return end >= search_.tasks && signalled_[level_] >= search_.signals_to(level_, task_);
  }
  void leave_level(TaskPort& port) {
    if (finished()) return;
    if (search_.star) {
      next_broadcast_ = 0;
      broadcast(port);
      return;
    }
    for (std::uint32_t i = children_; i-- > 0;) {
      port.send(task_of(rank_ + (1U << i)), 1, tag_of(level_, kBroadcast), Lane::kUsual, Pace::kAtOnce);
    }
    ++level_;
    begin_level(port);
  }
  // The root sends to the tasks one after the other; the others have no receivers.
  void broadcast(TaskPort& port) {
    if (next_broadcast_ == task_) ++next_broadcast_;
    if (rank_ == 0 && next_broadcast_ < search_.tasks) {
      port.send(next_broadcast_++, 1, tag_of(level_, kBroadcast), Lane::kUsual, Pace::kAtOnce);
      return;
    }
    ++level_;
    begin_level(port);
  }
  [[nodiscard]] std::uint32_t task_of(std::uint32_t rank) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{rank} + search_.root) % search_.tasks);
  }

  const Search& search_;
  std::uint32_t task_;
  std::uint32_t rank_;  // rank in the binomial tree; its parent lacks the lowest bit
  std::uint32_t children_ = 0;
  std::uint32_t level_ = 0;
  std::uint64_t to_send_ = 0;  // messages with queries
  std::uint64_t left_ = 0;     // queries
  std::uint32_t leaving_ = 0;
  std::uint32_t owed_ = 0;            // messages that follow once the work is done
  TimePs busy_until_ps_ = 0;          // working on queries
  TimePs pending_ps_ = 0;             // work that begins when the next message has left
  std::uint32_t next_signal_ = 0;     // task
  std::uint32_t next_broadcast_ = 0;  // task
  bool reported_ = false;
  std::vector<std::uint32_t> received_;   // [level]
  std::vector<std::uint32_t> reduced_;    // [level]: children that have reported
  std::vector<std::uint32_t> signalled_;  // [level]
  RandomStream draws_;
};

class Graph500 final : public Program {
 public:
  Graph500(Search search, std::uint64_t messages) : search_{std::move(search)}, messages_{messages} {}

  [[nodiscard]] std::unique_ptr<Task> make_task(std::uint32_t task) const override {
    return std::make_unique<SearchTask>(search_, task);
  }
  [[nodiscard]] std::uint64_t total_packets() const override {
    const std::uint64_t others = search_.tasks - 1;
    const std::uint64_t signals = search_.signals ? others * (1 + search_.tasks * (search_.levels() - 1)) : 0;
    return messages_ * search_.packets + signals + 2 * std::uint64_t{search_.levels()} * others;
  }
  [[nodiscard]] std::uint64_t task_bytes() const override {
    return sizeof(SearchTask) + 4 * sizeof(std::uint32_t) * search_.levels() + 64;
  }
  [[nodiscard]] SendInterval interval() const override { return search_.interval; }

 private:
  Search search_;
  std::uint64_t messages_;  // messages with queries
};

constexpr const char* kGraph500Interval = "spaced";

std::int64_t read_query_fs(const PatternArguments& arguments) {
  constexpr double kFsPerNs = 1e6;
  if (!arguments.has("query_ns")) return -1;
  return static_cast<std::int64_t>(std::round(arguments.number("query_ns", 0, 0, 1e6) * kFsPerNs));
}

bool read_star(const PatternArguments& arguments) {
  const std::string name = arguments.text("reduce", "tree");
  if (name != "tree" && name != "star") throw ConfigError{"reduce", "'" + name + "'", "must be tree or star"};
  return name == "star";
}

ProgramPtr make_graph500(const ProgramContext& context, const PatternArguments& arguments) {
  if (context.num_tasks < 2) throw ConfigError{"traffic", "'graph500'", "needs at least 2 hosts"};
  const std::int64_t scale = arguments.integer("scale", 20, 1, 40);
  const std::int64_t edge_factor = arguments.integer("edge_factor", 16, 1, 1024);
  const std::int64_t root_degree = arguments.integer("root_degree", 3, 1, 1'000'000);
  const std::int64_t levels = arguments.integer("levels", 5, 1, kMostLevels);
  Search search{
      .tasks = context.num_tasks,
      .packets = context.packets_of(arguments.integer("message_bytes", 250, 1, kMostMessageBytes)),
      .in_flight = static_cast<std::uint32_t>(arguments.integer("in_flight", 1, 1, 65'535)),
      .coalescing = static_cast<std::uint64_t>(arguments.integer("coalescing", 256, 1, kMostCoalescing)),
      .seed = static_cast<std::uint64_t>(arguments.integer("graph_seed", 0, 0, 0x7fff'ffff)),
      .interval = read_send_interval(context, arguments, kGraph500Interval),
      .query_fs = read_query_fs(arguments),
      .signals = arguments.flag("signals", false),
      .star = read_star(arguments)};
  search.root = RandomStream{search.seed, Purpose::kPattern, context.num_tasks, 0}.below(context.num_tasks);

  auto left = static_cast<double>((std::uint64_t{2} << scale) * static_cast<std::uint64_t>(edge_factor));
  for (std::int64_t level = 0; level < levels && left >= 1; ++level) {
    const double mean = level == 0
                            ? static_cast<double>(root_degree)
                            : mean_queries(static_cast<double>(scale), static_cast<double>(edge_factor),
                                           static_cast<double>(root_degree), static_cast<double>(level));
    search.queries.push_back(static_cast<std::uint64_t>(std::min(std::round(mean), left)));
    left -= static_cast<double>(search.queries.back());
  }

  std::uint64_t messages = 0;
  for (std::uint32_t level = 0; level < search.levels(); ++level) {
    for (std::uint32_t task = 0; task < search.tasks; ++task) messages += search.messages(level, task);
  }
  if (messages > kMostMessages || messages * search.packets > kMostPacketsOfHost) {
    throw ConfigError{"scale", std::to_string(scale),
                      "smaller, or with fewer or smaller messages: these would be " +
                          std::to_string(messages) + " messages of " + std::to_string(search.packets) +
                          " packets, at most 2^28 messages and 2^32 packets can be"};
  }
  search.expected.assign(std::size_t{search.levels()} * search.tasks, 0);
  for (std::uint32_t level = 0; level < search.levels(); ++level) {
    for (std::uint32_t task = 0; task < search.tasks; ++task) {
      RandomStream draws = search.targets(level, task);
      for (std::uint64_t i = search.messages(level, task); i > 0; --i) {
        ++search.expected[std::size_t{level} * search.tasks + search.next_target(draws, task)];
      }
    }
  }
  return std::make_shared<Graph500>(std::move(search), messages);
}

}  // namespace

PatternInfo graph500_pattern() {
  return {.name = "graph500",
          .summary = "levels of a breadth-first search: random messages, then an all-reduce; closed loop",
          .source = "Fuentes et al., CCPE 2017, with the values of LIA, TACO 2025, section 5.3",
          .example = "graph500:scale=10",
          .parameters = {{"scale", "20", "binary logarithm of the number of vertices"},
                         {"edge_factor", "16", "edges of the graph per vertex"},
                         {"coalescing", "256", "queries for one task that share a message"},
                         {"root_degree", "3", "edges of the vertex at which the search starts"},
                         {"levels", "5", "largest number of levels of the search tree"},
                         {"message_bytes", "250", "size of a message with queries"},
                         {"in_flight", "1", "messages of a host that may be in its source queue"},
                         {"graph_seed", "0", "seed of the graph, which says which tasks query each other"},
                         interval_parameter(kGraph500Interval),
                         injection_load_parameter(),
                         {"query_ns", "packet time / coalescing",
                          "computing time per query between two messages of a task; 0: none"},
                         {"signals", "false",
                          "whether every task signals to every other task that it has sent all queries"},
                         {"reduce", "tree",
                          "shape of the all-reduce: a binomial tree, or a star around the root task"}},
          .program = make_graph500};
}

}  // namespace dragonfly
