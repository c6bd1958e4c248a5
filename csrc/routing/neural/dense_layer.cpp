#include "routing/neural/dense_layer.hpp"

#include <algorithm>
#include <cmath>

#include "routing/neural/arithmetic.hpp"
#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

DenseLayer::DenseLayer(std::uint32_t inputs, std::uint32_t outputs, std::span<const float> weights,
                       std::span<const float> bias)
    : inputs_{inputs},
      outputs_{outputs},
      stride_{(outputs + kRowLanes - 1) / kRowLanes * kRowLanes},
      weights_(std::size_t{inputs} * stride_, 0.0F),
      bias_(stride_, 0.0F),
      used_(stride_ / kRangeLanes, {0, inputs}) {
  for (std::uint32_t i = 0; i < inputs; ++i) {
    std::copy_n(weights.data() + std::size_t{i} * outputs, outputs,
                weights_.data() + std::size_t{i} * stride_);
  }
  std::ranges::copy(bias, bias_.begin());
}

void DenseLayer::leave_out_zeros() {
  const auto is_minus_zero = [](float bias) { return bias == 0 && std::signbit(bias); };
  if (std::ranges::any_of(bias_, is_minus_zero)) return;
  for (std::uint32_t i = 0; i < used_.size(); ++i) {
    const auto is_used = [&](std::uint32_t input) {
      const float* const weights = &weights_[std::size_t{input} * stride_ + i * kRangeLanes];
      return std::any_of(weights, weights + kRangeLanes, [](float weight) { return weight != 0; });
    };
    InputRange& range = used_[i];
    while (range.end > 0 && !is_used(range.end - 1)) --range.end;
    while (range.begin < range.end && !is_used(range.begin)) ++range.begin;
  }
}

bool DenseLayer::take_factor(std::uint32_t input, float factor) {
  int exponent = 0;
  if (std::frexp(factor, &exponent) != 0.5F || std::abs(exponent) > 32) return false;  // a power of two
  const std::span row = std::span{weights_}.subspan(std::size_t{input} * stride_, stride_);
  const auto stays_exact = [factor](float weight) { return weight == 0 || std::isnormal(weight * factor); };
  if (!std::ranges::all_of(row, stays_exact)) return false;
  for (float& weight : row) weight *= factor;
  return true;
}

double DenseLayer::largest_result(double input) const noexcept {
  double largest = 0;
  for (std::uint32_t j = 0; j < outputs_; ++j) {
    double sum = std::abs(double{bias_[j]});
    for (std::uint32_t i = 0; i < inputs_; ++i) {
      sum += input * std::abs(double{weights_[std::size_t{i} * stride_ + j]});
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

void DenseLayer::add(const InputsOf& in, std::uint32_t begin, std::uint32_t end, RowsOf start, float* out,
                     std::size_t rows, Activation then) const noexcept {
  static const AddRows add_rows = fastest_kernel();
  add_rows({.in = in.rows,
            .input_step = in.step,
            .places = in.places,
            .inputs = {begin, end},
            .used = used_.data(),
            .weights = weights_.data(),
            .start = start,
            .out = out,
            .stride = stride_,
            .rows = rows,
            .rectified = then == Activation::kRelu});
  if (then == Activation::kTanh) {
    for (std::size_t i = 0; i < rows * stride_; ++i) out[i] = tanh(out[i]);
  }
}

}  // namespace dragonfly::neural
