// The check that one repetition of a graph comes to its end: it executes the repetition in no time at all.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "traffic/graph.hpp"

namespace dragonfly {

namespace {

struct Place {
  std::uint32_t rank;
  std::uint32_t operation;
  bool operator==(const Place&) const = default;
};

class Rehearsal {
 public:
  explicit Rehearsal(const Graph& graph) : graph_{graph} {
    left_.reserve(graph.num_nodes());
    for (std::uint32_t rank = 0; rank < graph.num_ranks(); ++rank) {
      first_.push_back(left_.size());
      for (const Node& node : graph.nodes(rank)) left_.push_back(node.needs);
    }
    for (std::uint32_t rank = 0; rank < graph.num_ranks(); ++rank) {
      for (std::uint32_t i = 0; i < graph.nodes(rank).size(); ++i) {
        if (graph.nodes(rank)[i].needs == 0) starting_.push_back({rank, i});
        while (!starting_.empty()) {
          const Place place = starting_.back();
          starting_.pop_back();
          start(place);
        }
      }
    }
  }

  // The first operation that never ends.
  [[nodiscard]] std::optional<Place> stuck() const {
    for (std::uint32_t rank = 0; rank < graph_.num_ranks(); ++rank) {
      for (std::uint32_t i = 0; i < graph_.nodes(rank).size(); ++i) {
        if (left({rank, i}) != kEnded) return Place{rank, i};
      }
    }
    return std::nullopt;
  }

  // An operation for which a stuck operation waits.
  [[nodiscard]] Place awaited(const Place& place) const {
    const Node& node = at(place);
    if (left(place) == kStarted) return {node.partner, node.match};  // a receive
    const auto nodes = graph_.nodes(place.rank);
    for (std::uint32_t i = 0;; ++i) {  // ends: such an operation is in the rank
      const std::uint32_t state = left({place.rank, i});
      if (state == kEnded) continue;
      for (const std::uint32_t next : graph_.after(nodes[i])) {
        const bool on_start = (next & Graph::kOnStart) != 0;
        if ((next & ~Graph::kOnStart) == place.operation && !(on_start && state == kStarted)) {
          return {place.rank, i};
        }
      }
    }
  }
  [[nodiscard]] const Node& at(const Place& place) const { return graph_.nodes(place.rank)[place.operation]; }

 private:
  // Marks in place of the number of operations that an operation still comes after.
  static constexpr std::uint32_t kStarted = 0xffff'fffeU;
  static constexpr std::uint32_t kEnded = 0xffff'ffffU;

  [[nodiscard]] std::uint32_t left(const Place& place) const {
    return left_[first_[place.rank] + place.operation];
  }
  [[nodiscard]] std::uint32_t& left(const Place& place) {
    return left_[first_[place.rank] + place.operation];
  }

  void start(const Place& place) {
    const Node& node = at(place);
    left(place) = kStarted;
    follow(place, Graph::kOnStart);
    const Place other{node.partner, node.match};
    if (node.kind != Node::Kind::kReceive) end(place);
    if (node.is_send() && left(other) == kStarted) end(other);
    if (node.kind == Node::Kind::kReceive && left(other) == kEnded) end(place);
  }
  void end(const Place& place) {
    left(place) = kEnded;
    follow(place, 0);
  }
  void follow(const Place& place, std::uint32_t when) {
    for (const std::uint32_t next : graph_.after(at(place))) {
      const Place after{place.rank, next & ~Graph::kOnStart};
      if ((next & Graph::kOnStart) == when && --left(after) == 0) starting_.push_back(after);
    }
  }

  const Graph& graph_;
  std::vector<std::size_t> first_;   // [rank]
  std::vector<std::uint32_t> left_;  // [operation of all]
  std::vector<Place> starting_;
};

}  // namespace

void GraphBuilder::require_no_circle() const {
  const Rehearsal rehearsal{graph_};
  std::optional<Place> stuck = rehearsal.stuck();
  if (!stuck) return;
  // An operation for which a stuck operation waits is stuck, too: the chain ends in a circle.
  std::vector<Place> chain;
  while (std::ranges::find(chain, *stuck) == chain.end()) {
    chain.push_back(*stuck);
    stuck = rehearsal.awaited(*stuck);
  }
  const std::vector<Place> circle{std::ranges::find(chain, *stuck), chain.end()};
  std::vector<Place> receives;
  std::ranges::copy_if(circle, std::back_inserter(receives), [&](const Place& one) {
    return rehearsal.at(one).kind == Node::Kind::kReceive &&
           rehearsal.awaited(one).rank == rehearsal.at(one).partner &&
           rehearsal.awaited(one).operation == rehearsal.at(one).match;
  });
  constexpr std::size_t kMostNamed = 8;
  std::string who;
  const bool in_rank = receives.empty();
  const std::vector<Place>& named = in_rank ? circle : receives;
  for (std::size_t i = 0; i < named.size() && i < kMostNamed; ++i) {
    const auto& [rank, operation] = named[i];
    const Node& node = rehearsal.at(named[i]);
    if (in_rank) {
      who += (i == 0 ? "" : ", which waits for ") + place(rank, operation);
    } else {
      who += i == 0 ? "rank " + std::to_string(rank) + " waits for rank " : ", which waits for rank ";
      who +=
          std::to_string(node.partner) + " (" + graph_.label_of(node) + ", " + place(rank, operation) + ")";
    }
  }
  if (named.size() > kMostNamed) who += ", and so on";
  const std::string what = in_rank ? " operation" : " rank";
  throw ConfigError{graph_.name_, std::to_string(named.size()) + what + (named.size() == 1 ? "" : "s"),
                    "must not wait in a circle: " + who};
}

}  // namespace dragonfly
