#include "routing/neural/scoring_network.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly::neural {

namespace {

constexpr std::size_t kMostLayers = 9;
constexpr std::uint32_t kMostUnits = 1U << 16;

[[noreturn]] void refuse(const std::string& field, const std::string& value, const std::string& allowed) {
  throw ConfigError{"weights: " + field, value, allowed};
}

// What the columns of a feature stand for; adds it to what is asked.
std::string ask_for(QuestionSpec& asked, const std::string& name) {
  std::string per;
  each_feature([&](const auto& feature, std::size_t bit) {
    if (feature.name != name) return;
    asked.features |= 1U << bit;
    per = name_of(feature.per);
  });
  if (!per.empty()) return per;
  const TrackedFeature& tracked = find_tracked_feature(name);
  asked.tracked.push_back(name);
  return tracked.per();
}

void check_asked(const QuestionSpec& asked) {
  const auto within = [](const char* field, std::uint32_t value, std::uint32_t low, std::uint32_t high) {
    if (value >= low && value <= high) return;
    refuse(field, std::to_string(value), "must be " + std::to_string(low) + " to " + std::to_string(high));
  };
  within("max_hops", asked.max_hops, 3, 15);
  within("minimal_candidates", asked.minimal_candidates, 1, kMostCandidates);
  within("nonminimal_candidates", asked.nonminimal_candidates, 1, kMostCandidates);
  within("nonminimal_kinds", static_cast<std::uint32_t>(asked.detours.size()), 0, kMostDetourKinds);
  if (asked.forced_too) refuse("scope", "'all'", "must be 'source' or 'every'");
}

void check_layers(const NetworkDescription& given) {
  if (given.weights.empty() || given.weights.size() > kMostLayers ||
      given.weights.size() != given.biases.size()) {
    refuse("layers", std::to_string(given.weights.size()), "must be 1 to " + std::to_string(kMostLayers));
  }
  std::uint32_t inputs = given.weights[0].rows;
  for (std::size_t i = 0; i < given.weights.size(); ++i) {
    const Matrix& w = given.weights[i];
    const Matrix& b = given.biases[i];
    const std::string number = std::to_string(i);
    if (w.rows != inputs || w.rows == 0 || w.columns == 0 || w.rows > kMostUnits || w.columns > kMostUnits ||
        w.values.size() != std::size_t{w.rows} * w.columns) {
      refuse("weights_" + number, std::to_string(w.rows) + " x " + std::to_string(w.columns),
             "must have " + std::to_string(inputs) + " rows, one per input");
    }
    if (b.columns != w.columns || b.values.size() != w.columns) {
      refuse("bias_" + number, std::to_string(b.values.size()) + " numbers",
             "must be " + std::to_string(w.columns));
    }
    for (const Matrix* matrix : {&w, &b}) {
      if (!std::ranges::all_of(matrix->values, [](float x) { return std::isfinite(x); })) {
        refuse((matrix == &w ? "weights_" : "bias_") + number, "not finite", "must be finite numbers");
      }
    }
    inputs = w.columns;
  }
}

}  // namespace

ScoringNetwork make_scoring_network(NetworkDescription given) {
  check_asked(given.asked);
  check_layers(given);
  if (given.features.empty() || given.scales.size() != given.features.size()) {
    refuse("features", std::to_string(given.features.size()), "must be at least one, each with a scale");
  }
  if (!(given.temperature >= 0.0F) || !std::isfinite(given.temperature)) {
    refuse("temperature", std::to_string(given.temperature), "must be 0 or more");
  }
  const bool greedy_paths =
      given.asked.action == ActionMode::kPath && given.per_action && given.temperature == 0;
  if (given.asked.second_stage && (!greedy_paths || given.asked.nonminimal_candidates == 1)) {
    refuse("second_stage", "true",
           "must be false unless action is 'path', scoring 'candidate', output 'greedy' and "
           "nonminimal_candidates 2 or more");
  }
  ScoringNetwork made{.asked = std::move(given.asked),
                      .per_action = given.per_action,
                      .activation = given.activation,
                      .temperature = given.temperature,
                      .inputs = {},
                      .layers = {}};
  made.asked.features = 0;
  made.asked.tracked.clear();
  const bool ports = made.asked.action == ActionMode::kPort;
  for (std::size_t i = 0; i < given.features.size(); ++i) {
    const std::string& name = given.features[i];
    if (std::ranges::find(made.inputs, name, &InputFeature::name) != made.inputs.end()) {
      refuse("features", "'" + name + "'", "must be named once");
    }
    if (!(given.scales[i] >= 0.0F) || !std::isfinite(given.scales[i])) {
      refuse("scale", std::to_string(given.scales[i]), "must be 0 or more");
    }
    const std::string per = ask_for(made.asked, name);
    const bool of_action = per == (ports ? "port" : "candidate");
    if ((per == "candidate" && ports) || (made.per_action && per != "decision" && !of_action)) {
      refuse("features", "'" + name + "'",
             "must be of the decision or of a " + std::string{ports ? "port" : "candidate path"} +
                 ", not per " + per);
    }
    made.inputs.push_back({name, of_action, given.scales[i]});
  }
  Matrix& first = given.weights[0];
  if (made.per_action) {
    if (first.rows != made.inputs.size()) {
      refuse("weights_0", std::to_string(first.rows) + " rows",
             "must be " + std::to_string(made.inputs.size()) + ", one per feature");
    }
    if (given.weights.back().columns != 1) {
      refuse("weights_" + std::to_string(given.weights.size() - 1),
             std::to_string(given.weights.back().columns) + " columns", "must be 1: the score");
    }
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
