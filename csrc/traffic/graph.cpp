#include "traffic/graph.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "traffic/program.hpp"

namespace dragonfly {

std::string Graph::label_of(const Node& node) const {
  return texts_.empty() ? "tag " + std::to_string(node.label) : "'" + texts_[node.label] + "'";
}

std::uint64_t Graph::bytes() const noexcept {
  return nodes_.size() * sizeof(Node) + after_.size() * sizeof(std::uint32_t);
}

Graph::Packets Graph::packets(std::uint32_t packet_bytes) const noexcept {
  Packets packets;
  for (std::uint32_t rank = 0; rank < num_ranks(); ++rank) {
    std::uint64_t sent = 0;
    for (const Node& node : nodes(rank)) {
      if (node.is_send()) sent += packets_of(node.amount, packet_bytes);
    }
    packets.total += sent;
    packets.most = std::max(packets.most, sent);
  }
  return packets;
}

GraphBuilder::GraphBuilder(std::string name, std::uint32_t num_ranks, std::string iteration)
    : iteration_{std::move(iteration)} {
  graph_.name_ = std::move(name);
  graph_.ranks_.resize(num_ranks);
}

std::uint32_t GraphBuilder::number_of(const std::string& text) {
  const auto [place, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(graph_.texts_.size()));
  if (is_new) graph_.texts_.push_back(text);
  return place->second;
}

std::string GraphBuilder::place(std::uint32_t rank, std::uint32_t operation) const {
  if (has_lines_) return "line " + std::to_string(lines_[graph_.ranks_[rank].first + operation]);
  return "operation " + std::to_string(operation) + " of rank " + std::to_string(rank);
}

void GraphBuilder::refuse(std::uint32_t rank, std::uint32_t operation, const std::string& field,
                          const std::string& value, const std::string& allowed) const {
  throw ConfigError{graph_.name_ + ", " + place(rank, operation) + ", " + field, value, allowed};
}

void GraphBuilder::begin_rank(std::uint32_t rank) {
  rank_ = rank;
  graph_.ranks_[rank].first = graph_.nodes_.size();
  edges_.clear();
  open_.clear();
  last_ = kNone;
}

std::uint32_t GraphBuilder::add(const Operation& given, Order order, std::uint32_t line) {
  Graph::Rank& rank = graph_.ranks_[rank_];
  const std::uint32_t operation = rank.count++;
  if (has_lines_) lines_.push_back(line);
  Node node = checked(given, operation);
  if (node.is_message()) rank.idle = false;
  if (node.is_message()) (node.is_send() ? sends_ : receives_).push_back({rank_, operation});
  if (node.kind == Node::Kind::kCompute) rank.streams = std::max(rank.streams, node.stream + 1U);
  if (node.kind == Node::Kind::kCompute && node.amount > 0) {
    rank.idle = false;
    node.match = rank.computations++;
  }
  node.in_list = order == Order::kInList;
  graph_.nodes_.push_back(node);
  if (order == Order::kInList) order_in_list(node, operation);
  return operation;
}

Node GraphBuilder::checked(const Operation& given, std::uint32_t operation) const {
  const auto require = [&](const char* field, std::int64_t value, std::int64_t least, std::int64_t most,
                           const std::string& what) {
    if (value >= least && value <= most) return;
    refuse(
        rank_, operation, field, std::to_string(value),
        "must be " + what + std::to_string(std::max<std::int64_t>(least, 0)) + " to " + std::to_string(most));
  };
  require("kind", given.kind, 0, static_cast<std::int64_t>(Node::Kind::kEnd), "");
  Node node;
  node.kind = static_cast<Node::Kind>(given.kind);
  if (node.is_message()) {
    require("partner", given.partner, 0, graph_.num_ranks() - 1, "a rank, ");
    require("bytes", given.amount, node.is_send() ? 0 : Node::kAnyBytes, kMostMessageBytes, "");
  }
  if (node.kind == Node::Kind::kCompute) {
    require("picoseconds", given.amount, 0, kMostComputePs, "");
    require("stream", given.stream, 0, kMostStreams - 1, "");
  }
  node.partner = static_cast<std::uint32_t>(given.partner);
  node.amount = given.amount;
  node.label = given.label;
  node.stream = static_cast<std::uint16_t>(given.stream);
  if (graph_.texts_.empty()) return node;
  const std::string& text = graph_.texts_[node.label];
  if (node.kind == Node::Kind::kWait && text.empty()) {
    refuse(rank_, operation, "label", "''", "must not be empty; without a label, the wait is for everything");
  }
  if (node.is_mark() && (text.empty() || text == iteration_)) {
    refuse(rank_, operation, "name", "'" + text + "'",
           "must not be empty or '" + iteration_ + "', which stands for a whole iteration");
  }
  return node;
}

void GraphBuilder::order_in_list(const Node& node, std::uint32_t operation) {
  if (last_ != kNone) comes_after(operation, last_, false);
  switch (node.kind) {
    case Node::Kind::kWait:
      for (const std::uint32_t open : open_[node.label]) comes_after(operation, open, false);
      open_.erase(node.label);
      last_ = operation;
      break;
    case Node::Kind::kWaitAll:
      for (const auto& [label, all] : open_) {
        for (const std::uint32_t open : all) comes_after(operation, open, false);
      }
      open_.clear();
      last_ = operation;
      break;
    case Node::Kind::kCompute:
      last_ = operation;
      break;
    case Node::Kind::kBegin:
    case Node::Kind::kEnd:
      break;
    default:
      open_[node.label].push_back(operation);
      break;
  }
}

void GraphBuilder::comes_after(std::uint32_t operation, std::int64_t other, bool on_start) {
  edges_.push_back({other, operation | (on_start ? Graph::kOnStart : 0U)});
}

// Sorts the edges of the rank by the operation that they start at.
void GraphBuilder::end_rank() {
  const std::uint32_t count = graph_.ranks_[rank_].count;
  std::vector<std::uint32_t> first(count + 1);
  for (const Edge& edge : edges_) {
    const std::uint32_t to = edge.to & ~Graph::kOnStart;
    if (edge.from < 0 || edge.from >= count) {
      refuse(rank_, to, "after", std::to_string(edge.from),
             "must be an operation of the rank, 0 to " + std::to_string(count - 1));
    }
    ++first[static_cast<std::size_t>(edge.from) + 1];
    ++node(rank_, to).needs;
  }
  const std::size_t base = graph_.after_.size();
  for (std::uint32_t i = 0; i < count; ++i) {
    node(rank_, i).first_after = static_cast<std::uint32_t>(base + first[i]);
    first[i + 1] += first[i];
  }
  graph_.after_.resize(base + edges_.size());
  for (const Edge& edge : edges_)
    graph_.after_[base + first[static_cast<std::size_t>(edge.from)]++] = edge.to;
  measure_marks();
}

// Numbers the operations that are measured, and refuses a rank in which begin and end of a name do not take
// turns.
void GraphBuilder::measure_marks() {
  std::unordered_map<std::uint32_t, std::uint32_t> begun;  // [label] operation
  std::uint32_t depth = 0;
  const auto not_ended = [&](std::uint32_t begin) {
    refuse(rank_, begin, "name", graph_.label_of(node(rank_, begin)),
           "must be ended, and before it begins again: no 'end' of this name follows this 'begin'");
  };
  for (std::uint32_t i = 0; i < graph_.ranks_[rank_].count; ++i) {
    Node& mark = node(rank_, i);
    if (!mark.is_mark()) continue;
    const auto [place, is_new] =
        measured_.emplace(mark.label, static_cast<std::uint32_t>(graph_.operations_.size()));
    if (is_new) graph_.operations_.push_back(graph_.texts_[mark.label]);
    mark.match = place->second;
    if (mark.kind == Node::Kind::kEnd) {
      if (begun.erase(mark.label) == 0) {
        refuse(rank_, i, "name", graph_.label_of(mark),
               "must have begun: no 'begin' of this name is before this 'end'");
      }
      --depth;
    } else if (begun.emplace(mark.label, i).second) {
      graph_.nests_ |= ++depth > 1;
    } else {
      not_ended(i);
    }
  }
  if (begun.empty()) return;
  not_ended(std::ranges::min_element(begun, {}, [](const auto& one) { return one.second; })->second);
}

GraphBuilder::Channel GraphBuilder::channel_of(const End& end) const noexcept {
  const Node& node = graph_.nodes(end.rank)[end.operation];
  return node.is_send() ? Channel{node.partner, end.rank, node.label}
                        : Channel{end.rank, node.partner, node.label};
}

// The k-th receive of a channel is for its k-th send.
void GraphBuilder::match_messages() {
  const auto channel = [&](const End& end) { return channel_of(end); };
  const auto order = [&](const End& end) { return std::pair{channel_of(end), end.operation}; };
  std::ranges::sort(sends_, {}, order);
  std::ranges::sort(receives_, {}, order);
  const auto not_received = [&](const End& send) {
    const bool never = !std::ranges::binary_search(receives_, channel_of(send), {}, channel);
    const Node& sending = node(send.rank, send.operation);
    const std::string to = std::to_string(sending.partner);
    const std::string label = graph_.label_of(sending);
    refuse(send.rank, send.operation, "send", label + " to rank " + to,
           "must be received: rank " + to + (never ? " never receives " : " does not receive ") + label +
               " from rank " + std::to_string(send.rank) + (never ? "" : " as often"));
  };
  std::size_t k = 0;
  for (const End& receive : receives_) {
    const Channel wanted = channel_of(receive);
    if (k < sends_.size() && channel_of(sends_[k]) < wanted) not_received(sends_[k]);
    Node& receiving = node(receive.rank, receive.operation);
    if (k == sends_.size() || channel_of(sends_[k]) != wanted) {
      const bool ever = std::ranges::binary_search(sends_, wanted, {}, channel);
      const std::string from = std::to_string(receiving.partner);
      const std::string label = graph_.label_of(receiving);
      refuse(receive.rank, receive.operation, "receive", label + " from rank " + from,
             "must be sent: rank " + std::to_string(receive.rank) + " waits for rank " + from +
                 ", which does not send it " + label + (ever ? " as often" : ""));
    }
    const End& send = sends_[k++];
    Node& sending = node(send.rank, send.operation);
    if (receiving.amount != Node::kAnyBytes && receiving.amount != sending.amount) {
      refuse(receive.rank, receive.operation, "bytes", std::to_string(receiving.amount),
             "must be " + std::to_string(sending.amount) + ", as rank " + std::to_string(send.rank) +
                 " sends (" + place(send.rank, send.operation) + "), or left out");
    }
    receiving.match = send.operation;
    sending.match = receive.operation;
  }
  if (k < sends_.size()) not_received(sends_[k]);
  sends_ = {};
  receives_ = {};
}

Graph GraphBuilder::build() && {
  graph_.nodes_.emplace_back().first_after = static_cast<std::uint32_t>(graph_.after_.size());
  match_messages();
  require_no_circle();
  return std::move(graph_);
}

}  // namespace dragonfly
