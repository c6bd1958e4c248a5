#include "routing/neural/dense_layer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "routing/neural/arithmetic.hpp"

namespace dragonfly::neural {

namespace {

using Lanes = float __attribute__((vector_size(16)));
constexpr std::uint32_t kLanes = 4;

Lanes load(const float* from) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}
void store(float* to, const Lanes& lanes) noexcept { std::memcpy(to, &lanes, sizeof(lanes)); }

// The results stay in registers while the inputs pass.
template <std::uint32_t kRows, std::uint32_t kVectors>
void add_tile(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
              std::size_t stride, float* out) noexcept {
  std::array<std::array<Lanes, kVectors>, kRows> sums;
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t v = 0; v < kVectors; ++v) sums[r][v] = load(out + r * stride + v * kLanes);
  }
  for (std::uint32_t i = 0; i < inputs; ++i, weights += stride) {
    for (std::uint32_t v = 0; v < kVectors; ++v) {
      const Lanes w = load(weights + v * kLanes);
      for (std::uint32_t r = 0; r < kRows; ++r) sums[r][v] += in[r * in_stride + i] * w;
    }
  }
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t v = 0; v < kVectors; ++v) store(out + r * stride + v * kLanes, sums[r][v]);
  }
}

// Eight vectors of results stay in registers: of four rows where there are few outputs, of two, or of one.
template <std::uint32_t kRows, std::uint32_t kVectors>
void add_rows(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
              std::uint32_t stride, float* out) noexcept {
  std::uint32_t at = 0;
  for (; at + kVectors * kLanes <= stride; at += kVectors * kLanes) {
    add_tile<kRows, kVectors>(in, in_stride, inputs, weights + at, stride, out + at);
  }
  for (; at < stride; at += kLanes) add_tile<kRows, 1>(in, in_stride, inputs, weights + at, stride, out + at);
}

}  // namespace

DenseLayer::DenseLayer(std::uint32_t inputs, std::uint32_t outputs, std::span<const float> weights,
                       std::span<const float> bias)
    : inputs_{inputs},
      outputs_{outputs},
      stride_{(outputs + kLanes - 1) / kLanes * kLanes},
      weights_(std::size_t{inputs} * stride_, 0.0F),
      bias_(stride_, 0.0F) {
  for (std::uint32_t i = 0; i < inputs; ++i) {
    std::copy_n(weights.data() + std::size_t{i} * outputs, outputs,
                weights_.data() + std::size_t{i} * stride_);
  }
  std::ranges::copy(bias, bias_.begin());
}

void DenseLayer::start(float* out, std::size_t rows) const noexcept {
  for (std::size_t row = 0; row < rows; ++row) std::copy_n(bias_.data(), stride_, out + row * stride_);
}

void DenseLayer::add(const float* in, std::size_t in_stride, std::uint32_t first, std::uint32_t last,
                     float* out, std::size_t rows) const noexcept {
  const float* const weights = weights_.data() + std::size_t{first} * stride_;
  const std::uint32_t inputs = last - first;
  const bool narrow = stride_ <= 2 * kLanes;
  std::size_t row = 0;
  for (; narrow && row + 4 <= rows; row += 4) {
    add_rows<4, 2>(in + row * in_stride, in_stride, inputs, weights, stride_, out + row * stride_);
  }
  for (; row + 2 <= rows; row += 2) {
    add_rows<2, 4>(in + row * in_stride, in_stride, inputs, weights, stride_, out + row * stride_);
  }
  for (; row < rows; ++row) {
    add_rows<1, 8>(in + row * in_stride, in_stride, inputs, weights, stride_, out + row * stride_);
  }
}

void activate(Activation activation, float* values, std::size_t count) noexcept {
  if (activation == Activation::kRelu) {
    for (std::size_t i = 0; i < count; ++i) values[i] = relu(values[i]);
  } else if (activation == Activation::kTanh) {
    for (std::size_t i = 0; i < count; ++i) values[i] = tanh(values[i]);
  }
}

}  // namespace dragonfly::neural
