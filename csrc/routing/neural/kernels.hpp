// The sums of a layer, for what the processor can do. Every output is a sum of its own, added up in the order
// of the inputs and never fused, so all kernels give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragonfly::neural {

// Adds to `rows` rows of results what `inputs` inputs bring. `stride`: floats from one row of weights, and of
// results, to the next, a multiple of eight.
using AddRows = void (*)(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
                         std::uint32_t stride, float* out, std::size_t rows) noexcept;

void add_rows_of_fours(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
                       std::uint32_t stride, float* out, std::size_t rows) noexcept;

// Null where the compiler or the processor has no vectors of eight.
[[nodiscard]] AddRows rows_of_eights() noexcept;

[[nodiscard]] inline AddRows fastest_kernel() noexcept {
  const AddRows wide = rows_of_eights();
  return wide != nullptr ? wide : add_rows_of_fours;
}

}  // namespace dragonfly::neural
