// A neural network that scores the actions of a decision, as a file of weights describes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "routing/decision_spec.hpp"
#include "routing/neural/dense_layer.hpp"
#include "routing/observation.hpp"

namespace dragonfly::neural {

// A feature that input columns show.
struct InputFeature {
  std::string name;
  bool of_action = false;  // a column per port or candidate; else one per decision
  float scale = 0;  // the unit that the network was trained with; 0: the unit of the network in which it runs
};

struct ScoringNetwork {
  DecisionSpec spec;
  // A pass per action, over the features of the decision and of that action; else one pass per decision, over
  // all columns of all features, with an output per action.
  bool per_action = false;
  Activation activation = Activation::kRelu;  // activation of the hidden layers
  float temperature = 0;                      // temperature of a softmax over the scores; 0: the best action
  // Inputs in the order in which their columns are added up; per action, features of the decision come first.
  std::vector<InputFeature> inputs;
  std::vector<DenseLayer> layers;
};

// The description as plain numbers.
struct Matrix {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<float> values;  // [row * columns + column]
};
struct NetworkDescription {
  DecisionSpec spec;  // decisions of the network; features are not set
  bool per_action = false;
  Activation activation = Activation::kRelu;
  float temperature = 0;
  std::vector<std::string> features;
  std::vector<float> scales;    // [feature]
  std::vector<Matrix> weights;  // [layer]: a row per input; where per_action, one per feature
  std::vector<Matrix> biases;   // [layer]: one row
};

// Throws ConfigError for an unknown feature. Python has checked everything else.
[[nodiscard]] ScoringNetwork make_scoring_network(NetworkDescription description);

// The places of the input columns in the rows of a network, and their factors.
struct InputColumn {
  std::uint32_t at = 0;  // of_action: of action 0
  bool of_action = false;
  float factor = 1;
};

// Throws ConfigError if the row has other features, or the sizes are others.
[[nodiscard]] std::vector<InputColumn> input_columns(const ScoringNetwork& network,
                                                     const ObservationLayout& layout,
                                                     std::uint32_t num_actions);

}  // namespace dragonfly::neural
