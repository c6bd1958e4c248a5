#include "routing/neural/kernel_tiles.hpp"
#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

void add_rows_of_fours(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
                       std::uint32_t stride, float* out, std::size_t rows) noexcept {
  Kernel<4>::add_rows(in, in_stride, inputs, weights, stride, out, rows);
}

}  // namespace dragonfly::neural
