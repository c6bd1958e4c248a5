// The sums of a layer, by the instructions that the processor has. Every output is a sum of its own, added up
// in the order of the inputs and never fused, so all kernels give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragonfly::neural {

// Rows of numbers, `step` floats from one to the next; 0: one row for all.
struct RowsOf {
  const float* first;
  std::size_t step;
};

// out[row][j] = start[row][j] + in[row][0] * weights[0][j] + in[row][1] * weights[1][j] + ...
struct RowSums {
  RowsOf in;
  std::size_t input_step;  // floats from one input of a row to the next
  std::uint32_t inputs;
  const float* weights;
  RowsOf start;
  float* out;
  std::uint32_t stride;  // floats from one row of weights, and of `out`, to the next: whole vectors
  std::size_t rows;
  bool rectified;  // negative results become 0
};

using AddRows = void (*)(const RowSums& sums) noexcept;

void add_rows_of_fours(const RowSums& sums) noexcept;

// Null where the compiler or the processor has no vectors of eight.
[[nodiscard]] AddRows rows_of_eights() noexcept;

[[nodiscard]] inline AddRows fastest_kernel() noexcept {
  const AddRows wide = rows_of_eights();
  return wide != nullptr ? wide : add_rows_of_fours;
}

}  // namespace dragonfly::neural
