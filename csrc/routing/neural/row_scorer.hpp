// Scores of the legal actions of decisions, for many decisions at a time.
//
// Every score is a sum of its own, added up in one order which no other row changes. So the policy `mlp`
// and a rollout, which score the same rows in different batches, get the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/neural/choice.hpp"
#include "routing/neural/scoring_network.hpp"

namespace dragonfly::neural {

// The observation of one decision, and its legal actions: at least one.
struct DecisionRow {
  const float* features;
  const std::uint8_t* mask;
};

class RowScorer {
 public:
  static constexpr std::size_t kRows = 64;  // rows at a time, up to the actions of one decision more

  // The network must outlive it. Throws ConfigError if rows of this layout do not fit the network.
  RowScorer(const ScoringNetwork& network, const ObservationLayout& layout, std::uint32_t num_actions);

  // Room that score_some() needs.
  [[nodiscard]] std::size_t scratch_floats() const noexcept {
    return most_rows() * (columns_.size() + 2 * std::size_t{widest_}) + num_actions_;
  }

  // Scores the first of `count` decisions, and returns how many: at most kRows. row_of(i) is the DecisionRow
  // of decision i; use(i, scores) is called once per decision, in order. Scores are finite and by action;
  // those of illegal actions mean nothing if the network scores actions one by one. Precondition: `count` >
  // 0.
  template <class RowOf, class Use>
  std::size_t score_some(std::size_t count, float* scratch, RowOf row_of, Use use) const {
    const std::size_t wide = most_rows() * widest_;
    float* const one = scratch + most_rows() * columns_.size();
    const Buffers buffers{.in = scratch, .one = one, .other = one + wide, .scores = one + 2 * wide};
    std::size_t scored = 0;
    if (network_.per_action) {
      std::size_t rows = 0;
      for (; scored < count && rows < kRows; ++scored) rows += first_layer(row_of(scored), rows, buffers);
      const float* results = rest(rows, buffers);
      for (std::size_t i = 0; i < scored; ++i) {
        results = take_scores(row_of(i).mask, results, buffers);
        use(i, static_cast<const float*>(buffers.scores));
      }
    } else {
      scored = std::min(kRows, count);
      for (std::size_t i = 0; i < scored; ++i) gather(row_of(i), buffers.in + i * columns_.size());
      const float* results = whole_pass(scored, buffers);
      for (std::size_t i = 0; i < scored; ++i, results += network_.layers.back().stride()) {
        for (std::uint32_t k = 0; k < num_actions_; ++k) buffers.scores[k] = tamed(results[k]);
        use(i, static_cast<const float*>(buffers.scores));
      }
    }
    return scored;
  }

 private:
  struct Buffers {
    float* in;   // [row * inputs]
    float* one;  // results of layers, in turn
    float* other;
    float* scores;  // [action], of one decision
  };

  [[nodiscard]] std::size_t most_rows() const noexcept {
    return kRows + (network_.per_action ? num_actions_ : 0U);
  }
  // All inputs of a decision.
  void gather(const DecisionRow& row, float* in) const noexcept;
  // All layers, for decisions with gathered inputs; returns the results of the last one.
  [[nodiscard]] const float* whole_pass(std::size_t rows, const Buffers& buffers) const noexcept;
  // The results of the first layer, a row per legal action, behind `before` others. The sum over the columns
  // of the decision is computed once. Returns how many rows.
  std::size_t first_layer(const DecisionRow& row, std::size_t before, const Buffers& buffers) const noexcept;
  // The columns of the legal actions, column by column.
  void inputs_of_actions(const DecisionRow& row, std::uint32_t legal, float* in) const noexcept;
  // The layers behind the first one, whose results are in `one`; returns the results of the last one.
  [[nodiscard]] const float* rest(std::size_t rows, const Buffers& buffers) const noexcept;
  // The scores of one decision by action; returns the results of the next decision.
  const float* take_scores(const std::uint8_t* mask, const float* results,
                           const Buffers& buffers) const noexcept;
  // Hidden layers are activated.
  [[nodiscard]] Activation behind(std::size_t layer) const noexcept {
    return layer + 1 < network_.layers.size() ? network_.activation : Activation::kNone;
  }

  const ScoringNetwork& network_;
  std::uint32_t num_actions_;
  std::uint32_t widest_ = 0;
  std::vector<InputColumn> columns_;
  std::uint32_t of_decision_ = 0;  // columns of the decision, which come first; the others are of an action
  DenseLayer first_;  // the first layer; factors of columns are in its weights, where they can be
  std::vector<std::uint32_t> places_;  // [column]: InputColumn::at
  bool read_in_place_ = false;         // no column has a factor left: the layer reads rows where they are
};

}  // namespace dragonfly::neural
