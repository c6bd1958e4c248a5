// One layer of a neural network: sums in a fixed order, for many rows at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dragonfly::neural {

// Rows of results are whole vectors of the widest kernel, so that one layout serves all of them.
inline constexpr std::uint32_t kRowLanes = 8;

// `stride`: a multiple of them.
inline void copy_row(const float* from, std::uint32_t stride, float* to) noexcept {
  for (std::uint32_t i = 0; i < stride; i += kRowLanes) std::copy_n(from + i, kRowLanes, to + i);
}

enum class Activation : std::uint8_t { kNone, kRelu, kTanh };

// out[j] = activation(start[j] + in[0] * w[0][j] + in[1] * w[1][j] + ...), added up from the left.
class DenseLayer {
 public:
  // `weights`: [input * outputs + output].
  DenseLayer(std::uint32_t inputs, std::uint32_t outputs, std::span<const float> weights,
             std::span<const float> bias);

  [[nodiscard]] std::uint32_t inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::uint32_t outputs() const noexcept { return outputs_; }
  // Floats from one row of results to the next: whole vectors; what is behind the outputs means nothing.
  [[nodiscard]] std::uint32_t stride() const noexcept { return stride_; }

  // Writes the bias into the results of `rows` rows.
  void start(float* out, std::size_t rows) const noexcept;
  // Adds to the results of `rows` rows what inputs [first, last) bring. `in`: input `first` of the first row.
  void add(const float* in, std::size_t in_stride, std::uint32_t first, std::uint32_t last, float* out,
           std::size_t rows) const noexcept;

 private:
  std::uint32_t inputs_;
  std::uint32_t outputs_;
  std::uint32_t stride_;
  std::vector<float> weights_;  // [input * stride + output]
  std::vector<float> bias_;     // [stride]
};

void activate(Activation activation, float* values, std::size_t count) noexcept;

}  // namespace dragonfly::neural
