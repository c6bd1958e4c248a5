// Neural networks: the arithmetic, layers against a naive loop, and the choice among scores.
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "routing/neural/arithmetic.hpp"
#include "routing/neural/choice.hpp"
#include "routing/neural/dense_layer.hpp"
#include "routing/neural/kernels.hpp"
#include "routing/neural/scoring_network.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;
using namespace dragonfly::neural;

constexpr float kInfinite = std::numeric_limits<float>::infinity();
const float kNotANumber = std::numeric_limits<float>::quiet_NaN();

RandomStream draws(std::uint32_t which) { return {1, Purpose::kLearning, which, 0}; }
float number(RandomStream& random) { return static_cast<float>(random.uniform() * 2 - 1); }

TEST(the_hyperbolic_tangent_is_near_the_true_one) {
  double worst = 0;
  for (int i = -200'000; i <= 200'000; ++i) {
    const float x = static_cast<float>(i) * 5e-5F;
    worst =
        std::max(worst, std::abs(static_cast<double>(neural::tanh(x)) - std::tanh(static_cast<double>(x))));
    CHECK(std::abs(neural::tanh(x)) <= 1.0F);
  }
  CHECK(worst < 4e-7);
  CHECK_EQ(neural::tanh(kInfinite), neural::tanh(100.0F));
  CHECK_EQ(neural::tanh(-kInfinite), -neural::tanh(100.0F));
  CHECK_EQ(neural::tanh(kNotANumber), neural::tanh(-100.0F));
}

TEST(the_exponential_is_near_the_true_one) {
  double worst = 0;
  for (int i = 0; i <= 870'000; ++i) {
    const float x = static_cast<float>(i) * -1e-4F;
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(exp_of_negative(x)) - exact) / exact);
  }
  CHECK(worst < 1e-7);
  CHECK_EQ(exp_of_negative(0.0F), 1.0F);
  CHECK_EQ(exp_of_negative(-kInfinite), exp_of_negative(-87.0F));
  CHECK(exp_of_negative(-kInfinite) > 0.0F);
}

TEST(the_logarithm_is_near_the_true_one) {
  double worst = 0;
  for (float x = 1.0F; x < 1e9F; x = x * 1.0001F + 1e-5F) {
    const double exact = std::log(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(neural::log(x)) - exact) / std::max(exact, 1.0));
  }
  CHECK(worst < 1e-7);
  CHECK_EQ(neural::log(1.0F), 0.0F);
}

TEST(a_layer_adds_up_as_a_naive_loop_does_to_the_last_bit) {
  for (const std::uint32_t outputs : {1U, 2U, 3U, 4U, 7U, 8U, 13U, 16U, 32U, 33U, 70U}) {
    for (const std::uint32_t inputs : {1U, 2U, 5U, 32U}) {
      RandomStream random = draws(outputs * 100 + inputs);
      std::vector<float> weights(std::size_t{inputs} * outputs);
      std::vector<float> bias(outputs);
      for (float& w : weights) w = number(random);
      for (float& b : bias) b = number(random);
      const DenseLayer layer{inputs, outputs, weights, bias};
      for (const std::size_t rows : {1U, 2U, 3U, 4U, 5U, 9U, 19U}) {
        std::vector<float> in(rows * inputs);
        for (float& x : in) x = number(random);
        std::vector<float> part(rows * layer.stride());
        std::vector<float> out(rows * layer.stride());
        const std::uint32_t half = inputs / 2;  // two halves, as candidates share a part of the sums
        layer.add({{in.data(), inputs}}, 0, half, layer.bias(), part.data(), rows, Activation::kNone);
        for (const Activation then : {Activation::kNone, Activation::kRelu, Activation::kTanh}) {
          layer.add({{in.data() + half, inputs}}, half, inputs, {part.data(), layer.stride()}, out.data(),
                    rows, then);
          for (std::size_t row = 0; row < rows; ++row) {
            for (std::uint32_t j = 0; j < outputs; ++j) {
              float sum = bias[j];
              for (std::uint32_t i = 0; i < inputs; ++i) {
                sum += in[row * inputs + i] * weights[i * outputs + j];
              }
              if (then == Activation::kRelu && !(sum > 0.0F)) sum = 0;
              if (then == Activation::kTanh) sum = neural::tanh(sum);
              CHECK_EQ(out[row * layer.stride() + j], sum);
            }
          }
        }
      }
    }
  }
}

TEST(inputs_may_lie_row_by_row_or_column_by_column) {
  constexpr std::uint32_t kInputs = 11;
  constexpr std::size_t kRows = 5;
  RandomStream random = draws(7);
  std::vector<float> weights(kInputs * std::size_t{16});
  std::vector<float> by_row(kInputs * kRows);
  std::vector<float> by_column(kInputs * kRows);
  for (float& w : weights) w = number(random);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      by_row[row * kInputs + i] = by_column[i * kRows + row] = number(random);
    }
  }
  const DenseLayer layer{kInputs, 16, weights, std::vector<float>(16, 1)};
  std::vector<float> one(kRows * layer.stride());
  std::vector<float> other(kRows * layer.stride());
  layer.add({{by_row.data(), kInputs}}, 0, kInputs, layer.bias(), one.data(), kRows, Activation::kNone);
  layer.add({{by_column.data(), 1}, kRows}, 0, kInputs, layer.bias(), other.data(), kRows, Activation::kNone);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK_EQ(one[i], other[i]);
}

TEST(inputs_may_have_places_in_their_rows) {
  const std::vector<float> weights{1, 2, 3, 4, 5, 6};
  const DenseLayer layer{3, 2, weights, std::vector<float>{0, 0}};
  const std::vector<std::uint32_t> places{4, 2, 0};
  const std::vector<float> in{1, 2, 10, 20, 100};
  std::vector<float> out(2 * layer.stride());
  layer.add({{in.data(), 1}, 1, places.data()}, 1, 3, layer.bias(), out.data(), 2, Activation::kNone);
  CHECK_EQ(out[0], 3.0F * 10 + 5.0F * 1);
  CHECK_EQ(out[1], 4.0F * 10 + 6.0F * 1);
  CHECK_EQ(out[layer.stride()], 3.0F * 20 + 5.0F * 2);
  CHECK_EQ(out[layer.stride() + 1], 4.0F * 20 + 6.0F * 2);
}

TEST(a_factor_in_the_weights_changes_no_sum) {
  RandomStream random = draws(9);
  std::vector<float> weights(16);
  for (float& w : weights) w = number(random);
  const DenseLayer plain{1, 16, weights, std::vector<float>(16, 1)};
  for (const float factor : {4.0F, 1.0F, 0x1p-20F, 0.3F, 0.0F, -2.0F}) {
    DenseLayer changed = plain;
    const bool taken = changed.take_factor(0, factor);
    CHECK_EQ(taken, factor == 4.0F || factor == 1.0F || factor == 0x1p-20F);
    const float in = number(random);
    const float multiplied = in * factor;
    std::vector<float> expected(16);
    std::vector<float> out(16);
    plain.add({{&multiplied, 0}}, 0, 1, plain.bias(), expected.data(), 1, Activation::kNone);
    changed.add({{taken ? &in : &multiplied, 0}}, 0, 1, changed.bias(), out.data(), 1, Activation::kNone);
    for (std::size_t i = 0; i < 16; ++i) CHECK_EQ(out[i], expected[i]);
  }
  DenseLayer tiny{1, 1, std::vector<float>{1e-38F}, std::vector<float>{0}};
  CHECK(!tiny.take_factor(0, 0x1p-20F));
}

TEST(rows_that_start_with_the_same_sums_need_them_once) {
  const std::vector<float> weights{1, 2, 3, 4};
  const DenseLayer layer{2, 2, weights, std::vector<float>{0, 0}};
  std::vector<float> start(layer.stride(), 10);
  const std::vector<float> in{1, 1, 0, 1};
  std::vector<float> out(2 * layer.stride());
  layer.add({{in.data(), 2}}, 0, 2, {start.data(), 0}, out.data(), 2, Activation::kNone);
  CHECK_EQ(out[0], 14.0F);
  CHECK_EQ(out[1], 16.0F);
  CHECK_EQ(out[layer.stride()], 13.0F);
  CHECK_EQ(out[layer.stride() + 1], 14.0F);
}

TEST(leaving_out_zeros_changes_no_sum) {
  constexpr std::uint32_t kInputs = 22;
  constexpr std::uint32_t kOutputs = 19;
  constexpr std::size_t kRows = 9;
  RandomStream random = draws(8);
  std::vector<float> weights(kInputs * std::size_t{kOutputs});
  for (std::uint32_t i = 0; i < kInputs; ++i) {
    for (std::uint32_t j = 0; j < kOutputs; ++j) {
      weights[i * kOutputs + j] = (i < 16) == (j < 16) && i != 3 ? number(random) : 0.0F;
    }
  }
  std::vector<float> in(kRows * kInputs);
  for (float& x : in) x = number(random);
  const DenseLayer all{kInputs, kOutputs, weights, std::vector<float>(kOutputs, 1)};
  DenseLayer few = all;
  few.leave_out_zeros();
  std::vector<float> one(kRows * all.stride());
  std::vector<float> other(one.size());
  for (const std::uint32_t begin : {0U, 5U, 16U, 20U}) {  // 20: the first 16 outputs add nothing
    const InputsOf shown{{in.data() + begin, kInputs}};
    all.add(shown, begin, kInputs, all.bias(), one.data(), kRows, Activation::kRelu);
    few.add(shown, begin, kInputs, few.bias(), other.data(), kRows, Activation::kRelu);
    for (std::size_t i = 0; i < one.size(); ++i) CHECK_EQ(one[i], other[i]);
  }
}

TEST(the_largest_result_bounds_all_results) {
  const DenseLayer layer{2, 2, std::vector<float>{1, -2, 3, 4}, std::vector<float>{-10, 1}};
  CHECK_EQ(layer.largest_result(5), 31.0);
  CHECK_EQ(layer.largest_result(100), 601.0);
}

TEST(kernels_for_all_processors_give_the_same_bits) {
  for (const std::uint32_t stride : {8U, 16U, 24U, 32U, 40U, 72U, 104U}) {
    for (const std::uint32_t inputs : {0U, 1U, 7U, 32U}) {
      for (const std::size_t rows : {0U, 1U, 2U, 5U, 7U, 8U, 9U, 30U}) {
        RandomStream random = draws(stride * 1000 + inputs * 50 + static_cast<std::uint32_t>(rows));
        std::vector<float> in(rows * (inputs + 3) + 1);
        std::vector<float> weights(std::size_t{inputs} * stride);
        const std::vector<InputRange> used(stride / kRangeLanes, {0, inputs});
        std::vector<float> start(rows * stride);
        for (float& x : in) x = number(random);
        for (float& w : weights) w = number(random);
        for (float& x : start) x = number(random);
        std::vector<float> narrow_out(rows * stride);
        RowSums sums{.in = {in.data(), inputs + 3},
                     .input_step = 1,
                     .places = nullptr,
                     .inputs = {0, inputs},
                     .used = used.data(),
                     .weights = weights.data(),
                     .start = {start.data(), stride},
                     .out = narrow_out.data(),
                     .stride = stride,
                     .rows = rows,
                     .rectified = inputs % 2 == 1};
        add_rows_of_fours(sums);
        for (const AddRows wide : {rows_of_eights(), rows_of_sixteens()}) {
          if (wide == nullptr) continue;
          std::vector<float> wide_out(rows * stride);
          sums.out = wide_out.data();
          wide(sums);
          for (std::size_t i = 0; i < rows * stride; ++i) CHECK_EQ(narrow_out[i], wide_out[i]);
        }
      }
    }
  }
}

TEST(the_best_legal_score_wins_and_the_lowest_of_equals) {
  const std::vector<float> scores{3, 5, 5, 9};
  const std::vector<std::uint8_t> all{1, 1, 1, 1};
  const std::vector<std::uint8_t> some{1, 1, 1, 0};
  const std::vector<std::uint8_t> last{0, 0, 1, 0};
  CHECK_EQ(best_legal(scores.data(), all.data(), 4), 3U);
  CHECK_EQ(best_legal(scores.data(), some.data(), 4), 1U);
  CHECK_EQ(best_legal(scores.data(), last.data(), 4), 2U);
  const std::vector<float> bad{kNotANumber, -kInfinite, kInfinite};
  std::vector<float> tame;
  for (const float score : bad) tame.push_back(tamed(score));
  CHECK_EQ(best_legal(tame.data(), all.data(), 3), 2U);
  CHECK_EQ(best_legal(tame.data(), all.data(), 2), 0U);
}

TEST(a_softmax_draws_legal_actions_by_their_weights) {
  const std::vector<float> scores{0, 1, 100, 2};
  const std::vector<std::uint8_t> mask{1, 1, 0, 1};
  RandomStream random = draws(3);
  std::vector<double> share(4, 0);
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i) {
    share[drawn_legal(scores.data(), mask.data(), 4, 2.0F, random.uniform())] += 1.0 / kDraws;
  }
  const double sum = 1 + std::exp(0.5) + std::exp(1.0);
  CHECK(std::abs(share[0] - 1 / sum) < 0.01);
  CHECK(std::abs(share[1] - std::exp(0.5) / sum) < 0.01);
  CHECK_EQ(share[2], 0.0);
  CHECK_EQ(drawn_legal(scores.data(), mask.data(), 4, 2.0F, 0x1.fffffffffffffp-1), 3U);
  CHECK_EQ(drawn_legal(scores.data(), mask.data(), 4, 1e-30F, 0.999), 3U);
}

TEST(log_probabilities_are_those_of_the_draw) {
  const std::vector<float> scores{0, 1, 100, 2, -1e30F};
  const std::vector<std::uint8_t> mask{1, 1, 0, 1, 1};
  const double sum = 1 + std::exp(0.5) + std::exp(1.0);
  for (const std::uint32_t action : {0U, 1U, 3U}) {
    const float found = log_probability(scores.data(), mask.data(), 5, 2.0F, action);
    CHECK(std::abs(static_cast<double>(found) - (static_cast<double>(scores[action]) / 2 - std::log(sum))) <
          2e-7);
  }
  CHECK(log_probability(scores.data(), mask.data(), 5, 2.0F, 4) > -90.0F);
  const std::vector<std::uint8_t> alone{0, 0, 0, 1, 0};
  CHECK_EQ(log_probability(scores.data(), alone.data(), 5, 1e-30F, 3), 0.0F);
}

NetworkDescription description(ActionMode action, std::vector<std::string> features, std::uint32_t rows,
                               std::uint32_t outputs) {
  NetworkDescription given;
  given.per_action = outputs == 1;
  given.spec.action = action;
  given.spec.scope = action == ActionMode::kPath ? DecisionScope::kSourceGroup : DecisionScope::kEvery;
  given.spec.nonminimal_kinds = {NonMinimalKind::kLgl};
  given.scales.assign(features.size(), 0.0F);
  given.features = std::move(features);
  given.weights = {{rows, outputs, std::vector<float>(std::size_t{rows} * outputs, 1.0F)}};
  given.biases = {{1, outputs, std::vector<float>(outputs, 0.0F)}};
  return given;
}

TEST(inputs_of_the_decision_come_before_those_of_actions) {
  const ScoringNetwork made =
      make_scoring_network(description(ActionMode::kPath, {"candidate_hops", "hops"}, 2, 1));
  CHECK_EQ(made.inputs[0].name, std::string{"hops"});  // added up first
  CHECK_EQ(made.inputs[1].name, std::string{"candidate_hops"});
}

SimulationSetup routed_by(NetworkDescription given) {
  SimulationSetup all = small_system(kSmall, "mlp", "adv+1", 0.6);
  all.policy_parameters = {
      {"weights", std::make_shared<const ScoringNetwork>(make_scoring_network(std::move(given)))}};
  return all;
}

TEST(a_network_that_scores_minimal_paths_high_takes_them) {
  for (const ActionMode action : {ActionMode::kPath, ActionMode::kPort}) {
    const bool paths = action == ActionMode::kPath;
    NetworkDescription given = description(action, {paths ? "candidate_kind" : "is_minimal"}, 1, 1);
    given.weights[0].values[0] = paths ? -1.0F : 1.0F;
    Simulation straight{routed_by(given)};
    straight.run(3'000 * kNs, &always);
    straight.check_invariants();
    CHECK_EQ(straight.statistics().deliveries.minimal, straight.statistics().deliveries.delivered);
    given.weights[0].values[0] *= -1.0F;
    Simulation around{routed_by(given)};
    around.run(3'000 * kNs, &always);
    CHECK(around.statistics().deliveries.minimal < around.statistics().deliveries.delivered / 2);
    CHECK(around.drain(1'000'000 * kNs, &always));
    around.check_invariants();
  }
}

TEST(a_network_for_other_sizes_is_refused) {
  Simulation fits{routed_by(description(ActionMode::kPort, {"queue_packets"}, 5, 5))};
  fits.run(1'000 * kNs, &always);
  CHECK(fits.statistics().deliveries.delivered > 0);
  CHECK_THROWS(ConfigError, Simulation{routed_by(description(ActionMode::kPort, {"queue_packets"}, 5, 4))});
  CHECK_THROWS(ConfigError, Simulation{routed_by(description(ActionMode::kPort, {"queue_packets"}, 4, 5))});
  SimulationSetup none = small_system(kSmall, "mlp", "adv+1", 0.6);
  none.policy_parameters.clear();
  CHECK_THROWS(ConfigError, Simulation{std::move(none)});
}

}  // namespace
