#include "routing/neural/dense_layer.hpp"

#include <algorithm>

#include "routing/neural/arithmetic.hpp"
#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

DenseLayer::DenseLayer(std::uint32_t inputs, std::uint32_t outputs, std::span<const float> weights,
                       std::span<const float> bias)
    : inputs_{inputs},
      outputs_{outputs},
      stride_{(outputs + kRowLanes - 1) / kRowLanes * kRowLanes},
      weights_(std::size_t{inputs} * stride_, 0.0F),
      bias_(stride_, 0.0F) {
  for (std::uint32_t i = 0; i < inputs; ++i) {
    std::copy_n(weights.data() + std::size_t{i} * outputs, outputs,
                weights_.data() + std::size_t{i} * stride_);
  }
  std::ranges::copy(bias, bias_.begin());
}

void DenseLayer::start(float* out, std::size_t rows) const noexcept {
  for (std::size_t row = 0; row < rows; ++row) copy_row(bias_.data(), stride_, out + row * stride_);
}

void DenseLayer::add(const float* in, std::size_t in_stride, std::uint32_t first, std::uint32_t last,
                     float* out, std::size_t rows) const noexcept {
  static const AddRows add_rows = fastest_kernel();
  add_rows(in, in_stride, last - first, weights_.data() + std::size_t{first} * stride_, stride_, out, rows);
}

void activate(Activation activation, float* values, std::size_t count) noexcept {
  if (activation == Activation::kRelu) {
    for (std::size_t i = 0; i < count; ++i) values[i] = relu(values[i]);
  } else if (activation == Activation::kTanh) {
    for (std::size_t i = 0; i < count; ++i) values[i] = tanh(values[i]);
  }
}

}  // namespace dragonfly::neural
