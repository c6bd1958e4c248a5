// Programs as graphs of operations: each rank of a job executes its graph, again and again.
//
// An operation is a send, a receive, a computation, a wait, or a mark of measured time. The operation starts
// when all operations that it comes after have ended, or, for some of them, have started:
//   send     starts and is given to the source queue; ends when its last packet has left the queue
//   receive  starts; ends when the last packet of its message has come
//   compute  starts; its stream executes one computation at a time, in the order in which they started
//   wait, begin, end   take no time
// Sends never wait for a receiver, and receives start without a cost.
//
// Most programs are lists (GraphBuilder::kInList): sends and receives come after the last wait or computation
// before them, and a wait comes after the sends and receives that it is for.
//
// The k-th receive of a channel (receiver, sender, label) is for the k-th send; both have the numbers of each
// other, so packets are counted by message. Sends leave in turn, piece by piece, but none before the sends of
// its channel that started before it have left. A repetition of a rank is over when all its operations have
// ended.
//
// Whether a program comes to its end does not depend on time: the set of operations that can start grows with
// each one that ends, whichever order they end in. If one repetition comes to its end, from empty channels to
// empty channels, so do all. So the check in graph_check.cpp is made once, at construction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dragonfly {

struct Node {
  enum class Kind : std::uint8_t {
    kSend,
    kSendAllToAll,  // a send of an all-to-all exchange, which may be routed by a policy of its own
    kReceive,
    kWait,     // waits for all sends and receives with a label
    kWaitAll,  // waits for all sends and receives
    kCompute,
    kBegin,  // an operation of which the time is measured
    kEnd,
  };
  static constexpr std::int64_t kAnyBytes = -1;  // a receive of any size

  [[nodiscard]] bool is_send() const noexcept { return kind == Kind::kSend || kind == Kind::kSendAllToAll; }
  [[nodiscard]] bool is_message() const noexcept { return is_send() || kind == Kind::kReceive; }
  [[nodiscard]] bool is_mark() const noexcept { return kind == Kind::kBegin || kind == Kind::kEnd; }
  bool operator==(const Node&) const = default;

  std::int64_t amount = 0;    // bytes of a message, ps of a computation
  std::uint32_t partner = 0;  // the other rank
  // Sends and receives: the operation of the partner at the other end. Computations: their number within the
  // rank. Marks: the measured operation.
  std::uint32_t match = 0;
  std::uint32_t label = 0;
  std::uint32_t needs = 0;        // operations that it comes after
  std::uint32_t first_after = 0;  // operations that come after it, in Graph::after_
  std::uint16_t stream = 0;       // stream of a computation
  Kind kind = Kind::kWaitAll;
  bool in_list = true;  // GraphBuilder::Order
};
static_assert(sizeof(Node) == 32);

// Const after construction.
class Graph {
 public:
  static constexpr std::uint32_t kMostRanks = 1U << 20;
  // The highest bit of an operation that comes after the start of another; without it, after the end.
  static constexpr std::uint32_t kOnStart = 1U << 31;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint32_t num_ranks() const noexcept { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] std::span<const Node> nodes(std::uint32_t rank) const noexcept {
    return std::span{nodes_}.subspan(ranks_[rank].first, ranks_[rank].count);
  }
  // The operations that come after one, by their number in the rank, some with kOnStart.
  [[nodiscard]] std::span<const std::uint32_t> after(const Node& node) const noexcept {
    return std::span{after_}.subspan(node.first_after, (&node)[1].first_after - node.first_after);
  }
  [[nodiscard]] std::uint32_t num_streams(std::uint32_t rank) const noexcept { return ranks_[rank].streams; }
  // Computations that take time in a repetition of the rank.
  [[nodiscard]] std::uint32_t num_computations(std::uint32_t rank) const noexcept {
    return ranks_[rank].computations;
  }
  [[nodiscard]] std::string text(std::uint32_t label) const {
    return texts_.empty() ? std::to_string(label) : texts_[label];
  }
  [[nodiscard]] std::string label_of(const Node& node) const;
  [[nodiscard]] const std::vector<std::string>& operations() const noexcept { return operations_; }
  // Whether operations are measured inside others.
  [[nodiscard]] bool nests() const noexcept { return nests_; }
  // Whether a rank has nothing to do that takes time.
  [[nodiscard]] bool is_idle(std::uint32_t rank) const noexcept { return ranks_[rank].idle; }
  [[nodiscard]] std::uint64_t num_nodes() const noexcept { return nodes_.size() - 1; }
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  // Packets that all ranks send in a repetition, and packets of the rank that sends most.
  struct Packets {
    std::uint64_t total = 0;
    std::uint64_t most = 0;
  };
  [[nodiscard]] Packets packets(std::uint32_t packet_bytes) const noexcept;
  [[nodiscard]] bool operator==(const Graph& other) const noexcept {
    return nodes_ == other.nodes_ && after_ == other.after_ && texts_ == other.texts_ &&
           ranks_ == other.ranks_;
  }

 private:
  friend class GraphBuilder;
  struct Rank {
    std::uint64_t first = 0;  // first operation of the rank
    std::uint32_t count = 0;
    std::uint32_t computations = 0;
    std::uint32_t streams = 1;
    bool idle = true;
    bool operator==(const Rank&) const = default;
  };
  Graph() = default;

  std::string name_;
  std::vector<Rank> ranks_;
  std::vector<Node> nodes_;           // one node more than operations, for first_after
  std::vector<std::uint32_t> after_;  // operations of the same rank
  std::vector<std::string> texts_;    // [label]; none: labels are tags, which are numbers
  std::vector<std::string> operations_;
  bool nests_ = false;
};

// The packets of a message: whole packets, at least one.
[[nodiscard]] constexpr std::uint32_t packets_of(std::int64_t bytes, std::uint32_t packet_bytes) noexcept {
  return bytes <= 0 ? 1U : static_cast<std::uint32_t>((bytes + packet_bytes - 1) / packet_bytes);
}

// Reads the operations of the ranks, one rank after the other, in any order of ranks.
// All functions throw ConfigError, naming the operation.
class GraphBuilder {
 public:
  enum class Order : std::uint8_t {
    kInList,  // comes after the last wait or computation before it in the list
    kFree,    // comes after the operations that comes_after() names
  };
  // Fields as they were written, in any range.
  struct Operation {
    std::int64_t kind = 0;
    std::int64_t partner = 0;
    std::int64_t amount = 0;
    std::uint32_t label = 0;
    std::int64_t stream = 0;
  };
  static constexpr std::int64_t kMostComputePs = 1'000'000'000'000'000;
  static constexpr std::int64_t kMostStreams = 1 << 16;

  // `iteration`: a name that is reserved for whole repetitions.
  GraphBuilder(std::string name, std::uint32_t num_ranks, std::string iteration);

  // Returns the number of a label. Without texts, labels are tags, which are numbers.
  std::uint32_t number_of(const std::string& text);
  // Lines of operations, for messages: "line 12" instead of "operation 5 of rank 3".
  void name_lines() noexcept { has_lines_ = true; }

  void begin_rank(std::uint32_t rank);
  // Returns the number of the operation in the rank.
  std::uint32_t add(const Operation& given, Order order, std::uint32_t line = 0);
  // The operation starts after another of the rank, which may follow.
  void comes_after(std::uint32_t operation, std::int64_t other, bool on_start);
  void end_rank();

  [[nodiscard]] std::uint64_t num_operations() const noexcept { return graph_.nodes_.size(); }
  [[nodiscard]] Graph build() &&;

 private:
  struct End {  // send or receive of a message
    std::uint32_t rank;
    std::uint32_t operation;
  };
  // Receiver, sender and label.
  using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Edge {
    std::int64_t from;
    std::uint32_t to;  // operation, and kOnStart if its start is meant
  };

  [[noreturn]] void refuse(std::uint32_t rank, std::uint32_t operation, const std::string& field,
                           const std::string& value, const std::string& allowed) const;
  [[nodiscard]] std::string place(std::uint32_t rank, std::uint32_t operation) const;
  [[nodiscard]] Node& node(std::uint32_t rank, std::uint32_t operation) noexcept {
    return graph_.nodes_[graph_.ranks_[rank].first + operation];
  }
  [[nodiscard]] Channel channel_of(const End& end) const noexcept;
  [[nodiscard]] Node checked(const Operation& given, std::uint32_t operation) const;
  void order_in_list(const Node& node, std::uint32_t operation);
  void measure_marks();
  void match_messages();
  void require_no_circle() const;

  Graph graph_;
  const std::string iteration_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // [text]
  bool has_lines_ = false;
  std::vector<std::uint32_t> lines_;  // [operation of all]
  std::vector<End> sends_;
  std::vector<End> receives_;

  // The rank that is read.
  std::uint32_t rank_ = 0;
  std::vector<Edge> edges_;
  static constexpr std::uint32_t kNone = 0xffff'ffffU;
  std::uint32_t last_ = kNone;                                          // wait or computation of the list
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> open_;  // [label]: open sends and receives
  std::unordered_map<std::uint32_t, std::uint32_t> measured_;  // [label]: number of the measured operation
};

}  // namespace dragonfly
