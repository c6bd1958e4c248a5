#include "routing/neural/kernel_tiles.hpp"
#include "routing/neural/kernels.hpp"

namespace dragonfly::neural {

void add_rows_of_fours(const RowSums& sums) noexcept { Kernel<4>::add_rows(sums); }

}  // namespace dragonfly::neural
