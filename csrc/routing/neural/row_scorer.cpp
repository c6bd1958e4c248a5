#include "routing/neural/row_scorer.hpp"

#include <span>
#include <utility>

#include "core/few_floats.hpp"

namespace dragonfly::neural {

RowScorer::RowScorer(const ScoringNetwork& network, const ObservationLayout& layout,
                     std::uint32_t num_actions)
    : network_{network},
      num_actions_{num_actions},
      columns_{input_columns(network, layout, num_actions)},
      first_{network.layers.front()} {
  for (const DenseLayer& layer : network.layers) widest_ = std::max(widest_, layer.stride());
  of_decision_ = static_cast<std::uint32_t>(std::ranges::count(columns_, false, &InputColumn::of_action));
  for (std::uint32_t i = 0; i < columns_.size(); ++i) {
    if (first_.take_factor(i, columns_[i].factor)) columns_[i].factor = 1;
    places_.push_back(columns_[i].at);
  }
  read_in_place_ =
      std::ranges::all_of(columns_, [](const InputColumn& column) { return column.factor == 1; });
}

void RowScorer::gather(const DecisionRow& row, float* in) const noexcept {
  for (const InputColumn& column : columns_) *in++ = row.features[column.at] * column.factor;
}

const float* RowScorer::whole_pass(std::size_t rows, const Buffers& buffers) const noexcept {
  first_.add({{buffers.in, columns_.size()}}, 0, first_.inputs(), first_.bias(), buffers.one, rows,
             behind(0));
  return rest(rows, buffers);
}

std::size_t RowScorer::first_layer(const DecisionRow& row, std::size_t before,
                                   const Buffers& buffers) const noexcept {
  float* const in = buffers.in;
  float* const shared = buffers.other;  // a buffer that is free until the second layer
  float* const out = buffers.one + before * first_.stride();
  if (read_in_place_) {
    first_.add({{row.features, 0}, 1, places_.data()}, 0, of_decision_, first_.bias(), shared, 1,
               Activation::kNone);
  } else {
    for (std::uint32_t c = 0; c < of_decision_; ++c) {
      in[c] = row.features[columns_[c].at] * columns_[c].factor;
    }
    first_.add({{in, 0}}, 0, of_decision_, first_.bias(), shared, 1, Activation::kNone);
  }
  std::uint32_t legal = 0;
  for (std::uint32_t k = 0; k < num_actions_; ++k) legal += row.mask[k];
  InputsOf inputs{{row.features, 1}, 1, places_.data()};
  if (!read_in_place_ || legal < num_actions_) {
    inputs_of_actions(row, legal, in);
    inputs = {{in, 1}, legal};
  }
  first_.add(inputs, of_decision_, first_.inputs(), {shared, 0}, out, legal, behind(0));
  return legal;
}

void RowScorer::inputs_of_actions(const DecisionRow& row, std::uint32_t legal, float* in) const noexcept {
  const std::span of_action = std::span{columns_}.subspan(of_decision_);
  if (legal == num_actions_) {
    for (const InputColumn& column : of_action) {
      for_few_floats(row.features + column.at, legal, in, [&](auto x) { return x * column.factor; });
      in += legal;
    }
    return;
  }
  for (const InputColumn& column : of_action) {
    const float* const shown = row.features + column.at;
    for (std::uint32_t k = 0; k < num_actions_; ++k) {  // the next legal action overwrites an illegal one
      *in = shown[k] * column.factor;
      in += row.mask[k];
    }
  }
}

const float* RowScorer::rest(std::size_t rows, const Buffers& buffers) const noexcept {
  float* from = buffers.one;
  float* to = buffers.other;
  for (std::size_t i = 1; i < network_.layers.size(); ++i) {
    const DenseLayer& layer = network_.layers[i];
    const std::size_t step = network_.layers[i - 1].stride();
    layer.add({{from, step}}, 0, layer.inputs(), layer.bias(), to, rows, behind(i));
    std::swap(from, to);
  }
  return from;
}

const float* RowScorer::take_scores(const std::uint8_t* mask, const float* results,
                                    const Buffers& buffers) const noexcept {
  const std::uint32_t step = network_.layers.back().stride();
  for (std::uint32_t k = 0; k < num_actions_; ++k) {
    if (mask[k] == 0) continue;
    buffers.scores[k] = tamed(*results);
    results += step;
  }
  return results;
}

}  // namespace dragonfly::neural
