// A layer of a neural network: sums in a fixed order, for many rows at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

// Rows of results are whole vectors of the widest kernel, so that all kernels share one layout.
inline constexpr std::uint32_t kRowLanes = kRangeLanes;

enum class Activation : std::uint8_t { kNone, kRelu, kTanh };

// Inputs of some rows; `step`: floats from one of a row to the next. Inputs may also lie anywhere: input i at
// `places[i]` of its row.
struct InputsOf {
  RowsOf rows;
  std::size_t step = 1;
  const std::uint32_t* places = nullptr;
};

// out[j] = activation(start[j] + in[0] * w[0][j] + in[1] * w[1][j] + ...), added up from the left.
class DenseLayer {
 public:
  // `weights`: [input * outputs + output].
  DenseLayer(std::uint32_t inputs, std::uint32_t outputs, std::span<const float> weights,
             std::span<const float> bias);

  [[nodiscard]] std::uint32_t inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::uint32_t outputs() const noexcept { return outputs_; }
  // Floats from one row of results to the next: whole vectors; floats behind the outputs have no meaning.
  [[nodiscard]] std::uint32_t stride() const noexcept { return stride_; }

  // The start of every row's sums.
  [[nodiscard]] RowsOf bias() const noexcept { return {bias_.data(), 0}; }

  // Leaves out inputs whose weight is 0, where they come before or behind all others of eight outputs. This
  // changes no bit of a result. The product of such a weight and a finite input is 0 or -0. Adding either to
  // a sum changes the sum only if the sum is -0. A sum of two floats is -0 only if both are -0 (IEEE 754,
  // section 6.3), so a sum that starts at another number never is -0; a layer with a bias of -0 keeps all
  // inputs. Preconditions: all inputs are finite; sums start with bias(), or with the sums of earlier inputs.
  void leave_out_zeros();
  // Multiplies the weights of an input by a factor, so that the input need not be multiplied. Returns false,
  // and changes nothing, if that could change a bit of a result: (input * factor) * weight and input *
  // (factor * weight) are equal if the factor is a power of two, because then no product with it is rounded.
  // Precondition: products of the input and the factor are zero or not much smaller than 1e-30.
  [[nodiscard]] bool take_factor(std::uint32_t input, float factor);
  // The largest absolute result, if no input is larger than `input`.
  [[nodiscard]] double largest_result(double input) const noexcept;

  // Writes `start` plus the part of the inputs [begin, end) to the results of `rows` rows. `in`: input
  // `begin` of the first row, or the beginning of this row if the inputs have places. `then` is for whole
  // sums.
  void add(const InputsOf& in, std::uint32_t begin, std::uint32_t end, RowsOf start, float* out,
           std::size_t rows, Activation then) const noexcept;

 private:
  std::uint32_t inputs_;
  std::uint32_t outputs_;
  std::uint32_t stride_;
  std::vector<float> weights_;    // [input * stride + output]
  std::vector<float> bias_;       // [stride]
  std::vector<InputRange> used_;  // [stride / kRangeLanes]
};

}  // namespace dragonfly::neural
