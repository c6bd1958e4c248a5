// Compiled for AVX-512 if the compiler supports it (CMakeLists.txt), and used if the processor has it: half
// the instructions of vectors of eight. AVX-512 includes fused multiply-add, which -ffp-contract=off keeps
// the compiler from using.
#include "routing/neural/kernel_tiles.hpp"
#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

#if defined(__AVX512F__) && defined(__AVX512VL__)
namespace {

void add_rows_of_sixteens(const RowSums& sums) noexcept {
  if (sums.stride % 16 == 0) {
    Kernel<16>::add_rows(sums);
  } else {
    Kernel<8>::add_rows(sums);
  }
}

}  // namespace

AddRows rows_of_sixteens() noexcept {
  const bool has_them = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return has_them ? add_rows_of_sixteens : nullptr;
}
#else
AddRows rows_of_sixteens() noexcept { return nullptr; }
#endif

}  // namespace dragonfly::neural
