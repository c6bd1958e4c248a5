// Compiled for AVX2 where the compiler knows it (CMakeLists.txt), and used where the processor has it. AVX2
// does not include fused multiply-add.
#include "routing/neural/kernel_tiles.hpp"
#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

#ifdef __AVX2__
namespace {

void add_rows_of_eights(const float* in, std::size_t in_stride, std::uint32_t inputs, const float* weights,
                        std::uint32_t stride, float* out, std::size_t rows) noexcept {
  Kernel<8>::add_rows(in, in_stride, inputs, weights, stride, out, rows);
}

}  // namespace

AddRows rows_of_eights() noexcept { return __builtin_cpu_supports("avx2") ? add_rows_of_eights : nullptr; }
#else
AddRows rows_of_eights() noexcept { return nullptr; }
#endif

}  // namespace dragonfly::neural
