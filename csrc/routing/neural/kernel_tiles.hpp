// The kernel of a layer for vectors of `kLanes` floats. Everything has internal linkage: a file that is
// compiled for a newer processor must not lend its functions to the others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {
namespace {

template <std::uint32_t kLanes>
struct Kernel {
  using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

  static Lanes load(const float* from) noexcept {
    Lanes loaded;
    __builtin_memcpy(&loaded, from, sizeof(Lanes));
    return loaded;
  }
  static void store(const Lanes& from, float* to) noexcept { __builtin_memcpy(to, &from, sizeof(Lanes)); }

  // The inputs that any of `outputs` outputs from `at` on needs.
  static InputRange inputs_of(const RowSums& given, std::uint32_t at, std::uint32_t outputs) noexcept {
    InputRange needed = given.used[at / kRangeLanes];
    for (std::uint32_t i = at / kRangeLanes + 1; i * kRangeLanes < at + outputs; ++i) {
      needed.begin = given.used[i].begin < needed.begin ? given.used[i].begin : needed.begin;
      needed.end = given.used[i].end > needed.end ? given.used[i].end : needed.end;
    }
    const std::uint32_t end = needed.end < given.inputs.end ? needed.end : given.inputs.end;
    const std::uint32_t begin = needed.begin > given.inputs.begin ? needed.begin : given.inputs.begin;
    return begin < end ? InputRange{begin, end} : InputRange{given.inputs.begin, given.inputs.begin};
  }

  // `kRows` rows from `row` on, `kVectors` vectors of outputs from `at` on. They stay in registers while the
  // inputs pass: that is why nothing is left to the compiler to unroll.
  template <std::uint32_t kRows, std::uint32_t kVectors>
  static void add_tile(const RowSums& given, std::size_t row, std::uint32_t at) noexcept {
    const std::size_t stride = given.stride;
    const std::size_t in_step = given.in.step;
    const std::size_t start_step = given.start.step;
    const InputRange inputs = inputs_of(given, at, kVectors * kLanes);
    const std::uint32_t* const places = given.places;
    const float* const first = given.in.first + row * in_step;
    const float* in = first + (inputs.begin - given.inputs.begin) * given.input_step;
    const float* const start = given.start.first + row * start_step + at;
    float* const out = given.out + row * stride + at;
    Lanes sums[kRows][kVectors];
#pragma GCC unroll 8
    for (std::uint32_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (std::uint32_t v = 0; v < kVectors; ++v) sums[r][v] = load(start + r * start_step + v * kLanes);
    }
    const float* weights = given.weights + inputs.begin * stride + at;
    for (std::uint32_t i = inputs.begin; i < inputs.end; ++i, weights += stride, in += given.input_step) {
      if (places != nullptr) in = first + places[i];
#pragma GCC unroll 8
      for (std::uint32_t v = 0; v < kVectors; ++v) {
        const Lanes w = load(weights + v * kLanes);
#pragma GCC unroll 8
        for (std::uint32_t r = 0; r < kRows; ++r) sums[r][v] += in[r * in_step] * w;
      }
    }
    if (given.rectified) {
#pragma GCC unroll 8
      for (std::uint32_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
        for (std::uint32_t v = 0; v < kVectors; ++v) {
          sums[r][v] = sums[r][v] > 0.0F ? sums[r][v] : Lanes{};
        }
      }
    }
#pragma GCC unroll 8
    for (std::uint32_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (std::uint32_t v = 0; v < kVectors; ++v) store(sums[r][v], out + r * stride + v * kLanes);
    }
  }

  template <std::uint32_t kRows, std::uint32_t kVectors>
  static void add_band(const RowSums& given, std::size_t row) noexcept {
    std::uint32_t at = 0;
    for (; at + kVectors * kLanes <= given.stride; at += kVectors * kLanes) {
      add_tile<kRows, kVectors>(given, row, at);
    }
    for (; at < given.stride; at += kLanes) add_tile<kRows, 1>(given, row, at);
  }

  // Eight vectors of results or more stay in registers: of eight rows if there are few outputs, down to one
  // row.
  static void add_rows(const RowSums& given) noexcept {
    const std::size_t rows = given.rows;
    std::size_t row = 0;
    if (given.stride < 2 * kLanes) {
      for (; row + 8 <= rows; row += 8) add_band<8, 1>(given, row);
    }
    if (given.stride < 4 * kLanes) {
      for (; row + 6 <= rows; row += 4) add_band<4, 2>(given, row);
      switch (rows - row) {  // together, as each addition waits for the one before
        case 5:
          return add_band<5, 2>(given, row);
        case 4:
          return add_band<4, 2>(given, row);
        case 3:
          return add_band<3, 2>(given, row);
        case 2:
          return add_band<2, 2>(given, row);
        case 1:
          return add_band<1, 2>(given, row);
        default:
          return;
      }
    }
    for (; row + 2 <= rows; row += 2) add_band<2, 4>(given, row);
    for (; row < rows; ++row) add_band<1, 8>(given, row);
  }
};

}  // namespace
}  // namespace dragonfly::neural
