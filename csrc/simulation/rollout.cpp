#include "simulation/rollout.hpp"

#include <cassert>
#include <span>

#include "core/error.hpp"
#include "routing/neural/choice.hpp"

namespace dragonfly {

namespace {

const neural::ScoringNetwork& fitting(const neural::ScoringNetwork& network, const DecisionPlan& plan) {
  if (network.spec.action == plan.spec.action) return network;
  const bool paths = network.spec.action == ActionMode::kPath;
  throw ConfigError{"policy", paths ? "chooses paths" : "chooses ports",
                    paths ? "must choose ports, as this environment has them for actions"
                          : "must choose paths, as this environment has them for actions"};
}

}  // namespace

Rollout::Rollout(RoutingEnvironment& environment, const neural::ScoringNetwork& network)
    : environment_{environment},
      network_{fitting(network, environment.plan())},
      scorer_{network, environment.plan().layout, environment.plan().num_actions},
      scratch_(environment.num_networks()) {
  for (Scratch& scratch : scratch_) {
    scratch.floats.resize(scorer_.scratch_floats());
    scratch.first_stage.resize(environment.plan().num_actions);
  }
}

bool Rollout::run(std::size_t transitions, const std::function<bool()>& keep_going) {
  for (;;) {
    if (!keep_going() || !environment_.advance(keep_going)) return false;
    if (environment_.done() || enough(transitions)) return true;
    const std::size_t rows = environment_.batch().size;
    environment_.each_network_of_batch([this](std::uint32_t number) { decide(number); });
    environment_.commit_actions();
    decisions_ += rows;
  }
}

bool Rollout::enough(std::size_t transitions) {
  std::size_t completed = 0;
  for (std::uint32_t i = 0; i < environment_.num_networks(); ++i) {
    Outcomes& outcomes = environment_.network(i).outcomes();
    if (outcomes.overflowed()) return true;
    completed += outcomes.transitions();
  }
  return completed >= transitions;
}

void Rollout::decide(std::uint32_t number) {
  const std::uint32_t num_actions = environment_.plan().num_actions;
  const std::uint32_t features = environment_.plan().layout.num_features();
  const std::size_t end = environment_.first_row(number + 1);
  DecisionBatch& batch = environment_.batch();
  LogProbabilities& log_probabilities = environment_.log_probabilities(number);
  Scratch& scratch = scratch_[number];
  const float temperature = network_.temperature;
  std::size_t first = environment_.first_row(number);
  if (temperature > 0) {
    scratch.draws.resize(end - first);
    environment_.network(number).draw({batch.packets.data() + first, end - first}, 1, scratch.draws.data());
  }
  const double* draws = scratch.draws.data();
  while (first < end) {
    const float* const rows = batch.observations.data() + first * features;
    const std::uint8_t* const masks = batch.mask.data() + first * num_actions;
    const auto row_of = [&](std::size_t i) {
      return neural::DecisionRow{rows + i * features, masks + i * num_actions};
    };
    const auto choose = [&](std::size_t i, const float* scores) {
      const std::uint8_t* const mask = masks + i * num_actions;
      std::uint32_t action = 0;
      float log_probability = 0;
      if (temperature > 0) {
        action = neural::drawn_legal(scores, mask, num_actions, temperature, draws[i]);
        log_probability = neural::log_probability(scores, mask, num_actions, temperature, action);
      } else {
        action = best(scores, mask, scratch);
      }
      [[maybe_unused]] const bool legal = environment_.take_action(first + i, action);
      assert(legal);
      log_probabilities.add(batch.ids.data()[first + i], log_probability);
    };
    const std::size_t scored = scorer_.score_some(end - first, scratch.floats.data(), row_of, choose);
    first += scored;
    draws += scored;
  }
}

// The best path of the first stage; if it is non-minimal and there is a second stage, the best of all paths.
// The first stage has the first non-minimal path of each kind.
std::uint32_t Rollout::best(const float* scores, const std::uint8_t* mask, Scratch& scratch) const {
  const DecisionSpec& spec = network_.spec;
  const std::uint32_t num_actions = environment_.plan().num_actions;
  if (spec.second_stage) {
    for (std::uint32_t k = 0; k < num_actions; ++k) {
      const bool shown =
          k < spec.minimal_candidates || (k - spec.minimal_candidates) % spec.nonminimal_candidates == 0;
      scratch.first_stage[k] = shown ? mask[k] : std::uint8_t{0};
    }
    const std::uint32_t action = neural::best_legal(scores, scratch.first_stage.data(), num_actions);
    if (action < spec.minimal_candidates) return action;
  }
  return neural::best_legal(scores, mask, num_actions);
}

}  // namespace dragonfly
