#include "routing/neural/scoring_network.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly::neural {

namespace {

// No feature shows more packets, nanoseconds or hops.
constexpr double kMostQuantity = kMostNs;

[[noreturn]] void refuse(const std::string& field, const std::string& value, const std::string& allowed) {
  throw ConfigError{"weights: " + field, value, allowed};
}

// Adds a feature to the observation; returns the kind of its columns.
std::string require_feature(DecisionSpec& spec, const std::string& name) {
  std::string per;
  each_feature([&](const auto& feature, std::size_t bit) {
    if (feature.name != name) return;
    spec.features |= 1U << bit;
    per = name_of(feature.per);
  });
  if (!per.empty()) return per;
  const TrackedFeature& tracked = find_tracked_feature(name);
  spec.tracked.push_back(name);
  return tracked.per();
}

}  // namespace

ScoringNetwork make_scoring_network(NetworkDescription given) {
  ScoringNetwork made{.spec = std::move(given.spec),
                      .per_action = given.per_action,
                      .activation = given.activation,
                      .temperature = given.temperature,
                      .inputs = {},
                      .layers = {}};
  made.spec.features = 0;
  made.spec.tracked.clear();
  const bool ports = made.spec.action == ActionMode::kPort;
  for (std::size_t i = 0; i < given.features.size(); ++i) {
    const std::string& name = given.features[i];
    const bool of_action = require_feature(made.spec, name) == (ports ? "port" : "candidate");
    made.inputs.push_back({name, of_action, given.scales[i]});
  }
  Matrix& first = given.weights[0];
  if (made.per_action) {
    std::vector<std::size_t> order(made.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_partition(order, [&](std::size_t i) { return !made.inputs[i].of_action; });
    std::vector<InputFeature> inputs;
    std::vector<float> weights;
    for (const std::size_t i : order) {
      inputs.push_back(made.inputs[i]);
      const auto row = first.values.begin() + static_cast<std::ptrdiff_t>(i * first.columns);
      weights.insert(weights.end(), row, row + static_cast<std::ptrdiff_t>(first.columns));
    }
    made.inputs = std::move(inputs);
    first.values = std::move(weights);
  }
  for (std::size_t i = 0; i < given.weights.size(); ++i) {
    const Matrix& w = given.weights[i];
    made.layers.emplace_back(w.rows, w.columns, w.values, given.biases[i].values);
  }
  // No sum reaches infinity, so zeros may be left out.
  double largest = kMostQuantity;
  for (const float scale : given.scales) {
    if (scale > 0) largest = std::max(largest, kMostQuantity / scale);
  }
  for (const DenseLayer& layer : made.layers) largest = std::max(largest, layer.largest_result(largest));
  if (largest < std::numeric_limits<float>::max() / 2) {
    std::ranges::for_each(made.layers, &DenseLayer::leave_out_zeros);
  }
  return made;
}

std::vector<InputColumn> input_columns(const ScoringNetwork& network, const ObservationLayout& layout,
                                       std::uint32_t num_actions) {
  std::vector<InputColumn> columns;
  std::string shown;
  for (const InputFeature& input : network.inputs) {
    const FeatureBlock* const block = layout.find(input.name);
    if (block == nullptr) refuse("features", "'" + input.name + "'", "must be one that this network shows");
    const float factor = input.scale > 0 && block->unit > 0 ? block->unit / input.scale : 1.0F;
    shown += (shown.empty() ? "" : ", ") + input.name + " " + std::to_string(block->width);
    const std::uint32_t width = network.per_action ? 1U : block->width;
    for (std::uint32_t i = 0; i < width; ++i) {
      columns.push_back({block->offset + i, network.per_action && input.of_action, factor});
    }
  }
  if (network.per_action) return columns;
  const DenseLayer& first = network.layers.front();
  const DenseLayer& last = network.layers.back();
  if (first.inputs() != columns.size()) {
    refuse("weights_0", std::to_string(first.inputs()) + " rows",
           "must be " + std::to_string(columns.size()) + " in this network (" + shown + ")");
  }
  if (last.outputs() != num_actions) {
    refuse("weights_" + std::to_string(network.layers.size() - 1),
           std::to_string(last.outputs()) + " columns",
           "must be " + std::to_string(num_actions) + ", the number of actions in this network");
  }
  return columns;
}

}  // namespace dragonfly::neural
