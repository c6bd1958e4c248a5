// Compiled for AVX2 if the compiler supports it (CMakeLists.txt), and used if the processor has it. AVX2 does
// not include fused multiply-add.
#include "routing/neural/kernel_tiles.hpp"
#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

#ifdef __AVX2__
namespace {

void add_rows_of_eights(const RowSums& sums) noexcept { Kernel<8>::add_rows(sums); }

}  // namespace

AddRows rows_of_eights() noexcept { return __builtin_cpu_supports("avx2") ? add_rows_of_eights : nullptr; }
#else
AddRows rows_of_eights() noexcept { return nullptr; }
#endif

}  // namespace dragonfly::neural
