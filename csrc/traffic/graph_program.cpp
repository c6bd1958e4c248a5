// The state of a rank is a counter per operation, of the operations that it still comes after, and whether
// the message of a receive has come. Operations that can start at one time do so in the order of their
// numbers. So what a rank does depends on the graph and on the times at which its messages come and leave.
#include "traffic/graph_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace dragonfly {

namespace {

// Pieces of a host that are in its source queue at once: one that is being sent and the next.
constexpr std::uint32_t kAhead = 2;
constexpr std::uint32_t kNone = 0xffff'ffffU;
constexpr std::uint32_t kIteration = 0;  // measured

struct Plan {
  std::shared_ptr<const Graph> graph;
  GraphRun run;
  std::vector<std::uint32_t> sends;  // [rank]: messages that it sends in a repetition

  [[nodiscard]] std::uint32_t packets(const Node& message) const noexcept {
    return packets_of(message.amount, run.packet_bytes);
  }

  // Normal, as a sum of twelve uniform draws: exact arithmetic, the same on every machine, and never farther
  // from the mean than six standard deviations.
  [[nodiscard]] TimePs jittered(TimePs time, std::uint32_t rank, std::uint64_t number) const {
    if (run.jitter <= 0) return time;
    RandomStream random{run.seed, Purpose::kCompute, rank, number, run.job & 0xffffU};
    std::uint64_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.next_u32();
    const double normal = static_cast<double>(sum) * 0x1.0p-32 - 6.0;
    return static_cast<TimePs>(std::floor(static_cast<double>(time) * (1.0 + run.jitter * normal) + 0.5));
  }
};

class GraphTask final : public Task {
 public:
  GraphTask(const Plan& plan, std::uint32_t rank)
      : plan_{plan},
        graph_{*plan.graph},
        rank_{rank},
        nodes_{graph_.nodes(rank)},
        left_(nodes_.size()),
        arrived_(nodes_.size()),
        streams_(graph_.num_streams(rank)),
        began_(graph_.operations().size()),
        finished_{graph_.is_idle(rank)} {}

  void start(TaskPort& port) override {
    if (finished_) return;
    begin_repetition(port.now_ps());
    proceed(port);
  }
  void received(TaskPort& port, const TaskMessage& message) override {
    // A rank begins a repetition after all its messages of the one before have left.
    const std::uint32_t repetition = message.number / plan_.sends[message.task];
    if (repetition != repetition_) {
      const Early early{repetition, message.tag};
      early_.insert(std::ranges::upper_bound(early_, repetition, {}, &Early::repetition), early);
      return;
    }
    arrived_[message.tag] = 1;
    if (left_[message.tag] > 0) return;
    end(message.tag);
    proceed(port);
  }
  void sent(TaskPort& port, const TaskMessage& /*message*/) override {
    const std::uint32_t operation = queued_[0];
    queued_[0] = queued_[1];
    --num_queued_;
    fill_queue(port);
    if (operation == kNone) return;
    end(operation);
    proceed(port);
  }
  void wake(TaskPort& port) override {
    const TimePs now = port.now_ps();
    alarm_ = kNever;
    for (Stream& stream : streams_) {
      if (stream.operation == kNone || stream.ends > now) continue;
      end(stream.operation);
      stream.operation = kNone;
      std::size_t next = 0;
      while (next < stream.waiting.size() && stream.operation == kNone)
        compute(stream, stream.waiting[next++], now);
      stream.waiting.erase(stream.waiting.begin(),
                           stream.waiting.begin() + static_cast<std::ptrdiff_t>(next));
    }
    proceed(port);
  }

  void archive(Archive& archive) override {
    archive.fixed(left_);
    archive.fixed(arrived_);
    archive.fixed(streams_);
    archive.fixed(began_);
    archive(early_, open_, turn_, queued_, num_queued_, num_open_, repetition_, repetition_began_, any_began_,
            depth_, alarm_, finished_);
  }
  [[nodiscard]] bool finished() const override { return finished_; }
  [[nodiscard]] std::string waits_for() const override {
    const std::string repetition = " (repetition " + std::to_string(repetition_) + ", operation ";
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].kind != Node::Kind::kReceive || left_[i] > 0 || arrived_[i] != 0) continue;
      return graph_.label_of(nodes_[i]) + " from rank " + std::to_string(nodes_[i].partner) + repetition +
             std::to_string(i) + ")";
    }
    for (const Stream& stream : streams_) {
      if (stream.operation == kNone) continue;
      return "the end of its computation" + repetition + std::to_string(stream.operation) + ")";
    }
    return "its messages to leave";
  }

 private:
  struct OpenSend {
    std::uint32_t operation = 0;
    TimePs began = 0;
    bool is_behind = false;     // another one of its channel
    std::uint32_t packets = 0;  // packets that are in the source queue or have left it
    std::uint32_t number = MessagePiece::kNew;
    void archive(Archive& archive) { archive(operation, began, is_behind, packets, number); }
  };
  struct Early {  // a message of a repetition that the rank has not begun
    std::uint32_t repetition = 0;
    std::uint32_t operation = 0;
    void archive(Archive& archive) { archive(repetition, operation); }
  };
  struct Stream {
    std::uint32_t operation = kNone;  // the computation that it executes
    TimePs ends = 0;
    std::vector<std::uint32_t> waiting{};
    void archive(Archive& archive) { archive(operation, ends, waiting); }
  };

  void begin_repetition(TimePs now) {
    repetition_began_ = now;
    num_open_ = static_cast<std::uint32_t>(nodes_.size());
    for (std::uint32_t i = 0; i < num_open_; ++i) {
      const Node& node = nodes_[i];
      left_[i] = node.needs;
      arrived_[i] = 0;
      if (node.needs == 0) ready_.push_back(i);  // ascending, which is a heap
    }
    const auto due = std::ranges::upper_bound(early_, repetition_, {}, &Early::repetition);
    std::for_each(early_.begin(), due, [this](const Early& early) { arrived_[early.operation] = 1; });
    early_.erase(early_.begin(), due);
  }

  // Starts all that can start.
  void proceed(TaskPort& port) {
    const TimePs now = port.now_ps();
    for (;;) {
      while (!ready_.empty()) {
        std::ranges::pop_heap(ready_, std::greater{});
        const std::uint32_t operation = ready_.back();
        ready_.pop_back();
        start_operation(port, operation, now);
      }
      if (num_open_ > 0) break;
      port.record(kIteration, now - repetition_began_);
      ++repetition_;
      finished_ = repetition_ == plan_.run.repetitions;
      if (finished_) return;
      begin_repetition(now);
    }
    fill_queue(port);
    TimePs ends = kNever;
    for (const Stream& stream : streams_) {
      if (stream.operation != kNone) ends = std::min(ends, stream.ends);
    }
    if (ends == alarm_) return;
    alarm_ = ends;
    port.wake_at(ends);
  }

  void start_operation(TaskPort& port, std::uint32_t operation, TimePs now) {
    const Node& node = nodes_[operation];
    follow(node, Graph::kOnStart);
    switch (node.kind) {
      case Node::Kind::kSend:
      case Node::Kind::kSendAllToAll:
        open_.push_back({operation, now, std::ranges::any_of(open_, [&](const OpenSend& open) {
                           return is_of_channel(open, node);
                         })});
        return;
      case Node::Kind::kReceive:
        if (arrived_[operation] != 0) end(operation);
        return;
      case Node::Kind::kCompute: {
        Stream& stream = streams_[node.stream];
        if (stream.operation == kNone) {
          compute(stream, operation, now);
        } else {
          stream.waiting.push_back(operation);
        }
        return;
      }
      case Node::Kind::kBegin:
        began_[node.match] = now;
        if (depth_++ == 0) any_began_ = now;
        break;
      case Node::Kind::kEnd:
        port.record(1 + node.match, now - began_[node.match]);
        if (--depth_ == 0 && graph_.nests()) {
          port.record(1 + static_cast<std::uint32_t>(began_.size()), now - any_began_);
        }
        break;
      default:
        break;
    }
    end(operation);
  }

  // Precondition: the stream executes nothing.
  void compute(Stream& stream, std::uint32_t operation, TimePs now) {
    const Node& node = nodes_[operation];
    if (node.amount == 0) return end(operation);
    const std::uint64_t number = std::uint64_t{repetition_} * graph_.num_computations(rank_) + node.match;
    stream.operation = operation;
    stream.ends = now + plan_.jittered(node.amount, rank_, number);
  }

  void end(std::uint32_t operation) {
    --num_open_;
    follow(nodes_[operation], 0);
  }
  void follow(const Node& node, std::uint32_t when) {
    for (const std::uint32_t next : graph_.after(node)) {
      const std::uint32_t operation = next & ~Graph::kOnStart;
      if ((next & Graph::kOnStart) != when || --left_[operation] > 0) continue;
      ready_.push_back(operation);
      std::ranges::push_heap(ready_, std::greater{});
    }
  }

  [[nodiscard]] bool is_of_channel(const OpenSend& open, const Node& send) const {
    return nodes_[open.operation].partner == send.partner && nodes_[open.operation].label == send.label;
  }

  // All sends get their turn, a piece each, but for those that are behind another one of their channel.
  void fill_queue(TaskPort& port) {
    while (num_queued_ < kAhead && !open_.empty()) {
      if (turn_ >= open_.size()) turn_ = 0;
      OpenSend& send = open_[turn_];
      if (send.is_behind) {
        ++turn_;
        continue;
      }
      const Node& node = nodes_[send.operation];
      const std::uint32_t all = plan_.packets(node);
      const std::uint32_t packets = std::min(all - send.packets, plan_.run.piece_packets);
      send.number =
          port.send({.task = node.partner,
                     .packets = packets,
                     .tag = node.match,
                     .lane = node.kind == Node::Kind::kSendAllToAll ? Lane::kAllToAll : Lane::kUsual,
                     .number = send.number,
                     .before = send.packets,
                     .of = all,
                     .begun_ps = send.began});
      send.packets += packets;
      queued_[num_queued_++] = send.packets < all ? kNone : send.operation;
      if (send.packets < all) {
        ++turn_;
        continue;
      }
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn_));
      const auto next =
          std::ranges::find_if(open_, [&](const OpenSend& open) { return is_of_channel(open, node); });
      if (next != open_.end()) next->is_behind = false;
    }
  }

  const Plan& plan_;
  const Graph& graph_;
  const std::uint32_t rank_;
  std::span<const Node> nodes_;
  std::vector<std::uint32_t> left_;    // [operation], operations that it still comes after
  std::vector<std::uint8_t> arrived_;  // [operation], whether the message of a receive has come
  std::vector<std::uint32_t> ready_;   // a heap of operations; empty between calls
  std::vector<Early> early_;           // early messages by repetition
  std::vector<Stream> streams_;
  std::vector<OpenSend> open_;
  std::uint64_t turn_ = 0;  // turn of the open sends
  std::array<std::uint32_t, kAhead>
      queued_{};  // [piece in the source queue]: its send, if it is the last piece
  std::uint32_t num_queued_ = 0;
  std::uint32_t num_open_ = 0;  // operations that have not ended
  std::uint32_t repetition_ = 0;
  TimePs repetition_began_ = 0;
  std::vector<TimePs> began_;  // [measured operation]
  TimePs any_began_ = 0;
  std::uint32_t depth_ = 0;  // measured operations that have begun
  TimePs alarm_ = kNever;
  bool finished_;
};

class GraphProgram final : public Program {
 public:
  explicit GraphProgram(Plan plan) : plan_{std::move(plan)} {}

  [[nodiscard]] std::unique_ptr<Task> make_task(std::uint32_t task) const override {
    return std::make_unique<GraphTask>(plan_, task);
  }
  [[nodiscard]] std::uint64_t total_packets() const override {
    return plan_.graph->packets(plan_.run.packet_bytes).total * plan_.run.repetitions;
  }
  [[nodiscard]] std::uint64_t task_bytes() const override {
    const Graph& graph = *plan_.graph;
    constexpr std::uint64_t kPerOperation = sizeof(std::uint32_t) + sizeof(std::uint8_t);
    return sizeof(GraphTask) + (graph.num_nodes() * kPerOperation + graph.bytes()) / graph.num_ranks();
  }
  [[nodiscard]] std::uint32_t num_operations() const override {
    return static_cast<std::uint32_t>(1 + plan_.graph->operations().size() + (plan_.graph->nests() ? 1 : 0));
  }
  [[nodiscard]] bool is_endless() const override { return plan_.run.repetitions == GraphRun::kEndless; }

 private:
  Plan plan_;
};

}  // namespace

ProgramPtr make_graph_program(std::shared_ptr<const Graph> graph, const GraphRun& run) {
  Plan plan{.graph = std::move(graph), .run = run, .sends = {}};
  for (std::uint32_t rank = 0; rank < plan.graph->num_ranks(); ++rank) {
    plan.sends.push_back(
        static_cast<std::uint32_t>(std::ranges::count_if(plan.graph->nodes(rank), &Node::is_send)));
  }
  return std::make_shared<GraphProgram>(std::move(plan));
}

}  // namespace dragonfly
