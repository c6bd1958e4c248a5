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

void DenseLayer::add(const InputsOf& in, std::uint32_t begin, std::uint32_t end, RowsOf start, float* out,
                     std::size_t rows, Activation then) const noexcept {
  static const AddRows add_rows = fastest_kernel();
  add_rows({.in = in.rows,
            .input_step = in.step,
            .inputs = end - begin,
            .weights = weights_.data() + std::size_t{begin} * stride_,
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
