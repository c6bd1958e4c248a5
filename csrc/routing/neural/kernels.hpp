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

// Inputs [begin, end).
struct InputRange {
  std::uint32_t begin;
  std::uint32_t end;
};

inline constexpr std::uint32_t kRangeLanes = 8;  // outputs with one range

// out[row][j] = start[row][j] + in[row][b] * weights[b][j] + in[row][b + 1] * weights[b + 1][j] + ..., where
// b is inputs.begin, up to inputs.end.
struct RowSums {
  RowsOf in;                    // rows, read from input b on; by `places`: rows, read from their beginning
  std::size_t input_step;       // floats from one input of a row to the next
  const std::uint32_t* places;  // [input]: place of the input in its row; null: inputs follow each other
  InputRange inputs;
  const InputRange* used;  // [output / kRangeLanes]: all other inputs may be left out
  const float* weights;    // weights of input 0
  RowsOf start;
  float* out;
  std::uint32_t stride;  // floats from one row of weights, and of `out`, to the next: whole vectors
  std::size_t rows;
  bool rectified;  // negative results become 0
};

using AddRows = void (*)(const RowSums& sums) noexcept;

void add_rows_of_fours(const RowSums& sums) noexcept;

// Null where the compiler or the processor has no vectors of that length.
[[nodiscard]] AddRows rows_of_eights() noexcept;
[[nodiscard]] AddRows rows_of_sixteens() noexcept;

[[nodiscard]] inline AddRows fastest_kernel() noexcept {
  if (const AddRows widest = rows_of_sixteens()) return widest;
  const AddRows wide = rows_of_eights();
  return wide != nullptr ? wide : add_rows_of_fours;
}

}  // namespace dragonfly::neural
