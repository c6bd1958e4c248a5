// The kernel of a layer for vectors of `kLanes` floats. Everything has internal linkage: a file that is
// compiled for a newer processor must not lend its functions to the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragonfly::neural {
namespace {

template <std::uint32_t kLanes>
struct Kernel {
  using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

  // The results stay in registers while the inputs pass.
  template <std::uint32_t kRows, std::uint32_t kVectors>
  static void add_tile(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
                       std::size_t stride, float* out) noexcept {
    Lanes sums[kRows][kVectors];
    for (std::uint32_t r = 0; r < kRows; ++r) {
      for (std::uint32_t v = 0; v < kVectors; ++v) {
        __builtin_memcpy(&sums[r][v], out + r * stride + v * kLanes, sizeof(Lanes));
      }
    }
    for (std::uint32_t i = 0; i < inputs; ++i, weights += stride) {
      for (std::uint32_t v = 0; v < kVectors; ++v) {
        Lanes w;
        __builtin_memcpy(&w, weights + v * kLanes, sizeof(Lanes));
        for (std::uint32_t r = 0; r < kRows; ++r) sums[r][v] += in[r * in_stride + i] * w;
      }
    }
    for (std::uint32_t r = 0; r < kRows; ++r) {
      for (std::uint32_t v = 0; v < kVectors; ++v) {
        __builtin_memcpy(out + r * stride + v * kLanes, &sums[r][v], sizeof(Lanes));
      }
    }
  }

  template <std::uint32_t kRows, std::uint32_t kVectors>
  static void add_band(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
                       std::uint32_t stride, float* out) noexcept {
    std::uint32_t at = 0;
    for (; at + kVectors * kLanes <= stride; at += kVectors * kLanes) {
      add_tile<kRows, kVectors>(in, in_stride, inputs, weights + at, stride, out + at);
    }
    for (; at < stride; at += kLanes) {
      add_tile<kRows, 1>(in, in_stride, inputs, weights + at, stride, out + at);
    }
  }

  // Eight vectors of results stay in registers: of eight rows where there are few outputs, down to one.
  static void add_rows(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
                       std::uint32_t stride, float* out, std::size_t rows) noexcept {
    std::size_t row = 0;
    if (stride < 2 * kLanes) {
      for (; row + 8 <= rows; row += 8) {
        add_band<8, 1>(in + row * in_stride, in_stride, inputs, weights, stride, out + row * stride);
      }
    }
    if (stride < 4 * kLanes) {
      for (; row + 4 <= rows; row += 4) {
        add_band<4, 2>(in + row * in_stride, in_stride, inputs, weights, stride, out + row * stride);
      }
      switch (rows - row) {  // together, as each addition waits for the one before
        case 3:
          return add_band<3, 2>(in + row * in_stride, in_stride, inputs, weights, stride, out + row * stride);
        case 2:
          return add_band<2, 2>(in + row * in_stride, in_stride, inputs, weights, stride, out + row * stride);
        case 1:
          return add_band<1, 2>(in + row * in_stride, in_stride, inputs, weights, stride, out + row * stride);
        default:
          return;
      }
    }
    for (; row + 2 <= rows; row += 2) {
      add_band<2, 4>(in + row * in_stride, in_stride, inputs, weights, stride, out + row * stride);
    }
    for (; row < rows; ++row) {
      add_band<1, 8>(in + row * in_stride, in_stride, inputs, weights, stride, out + row * stride);
    }
  }
};

}  // namespace
}  // namespace dragonfly::neural
