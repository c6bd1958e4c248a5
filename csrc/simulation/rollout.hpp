// Rollouts: a neural network decides batch after batch in the core, as it does from outside.
//
// The network scores the same rows that the batch shows, with the arithmetic of the policy `mlp`, and draws
// with the random numbers of the decisions. So a rollout is the run that the policy gives in the core, and
// that the same policy gives from Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/parameters.hpp"
#include "routing/neural/row_scorer.hpp"
#include "simulation/routing_environment.hpp"

namespace dragonfly {

class Rollout {
 public:
  // Both must outlive it. Throws ConfigError if the network does not fit the decisions.
  Rollout(RoutingEnvironment& environment, const neural::ScoringNetwork& network);

  // Decides until so many transitions are completed and not taken, until the end of the episode, or until
  // transitions are no longer kept; a batch may then wait. Returns false if `keep_going` said no. Throws
  // DeadlockError.
  bool run(std::size_t transitions, const std::function<bool()>& keep_going);
  [[nodiscard]] std::uint64_t decisions() const noexcept { return decisions_; }

 private:
  // Per network, as threads share them out.
  struct Scratch {
    std::vector<float> floats;
    std::vector<double> draws;
    std::vector<std::uint8_t> first_stage;
  };

  [[nodiscard]] bool enough(std::size_t transitions);
  // Writes the actions for the rows of a network, and stores their log-probabilities.
  void decide(std::uint32_t number);
  [[nodiscard]] std::uint32_t best(const float* scores, const std::uint8_t* mask, Scratch& scratch) const;

  RoutingEnvironment& environment_;
  const neural::ScoringNetwork& network_;
  neural::RowScorer scorer_;
  std::vector<Scratch> scratch_;  // [network]
  std::uint64_t decisions_ = 0;
};

}  // namespace dragonfly
