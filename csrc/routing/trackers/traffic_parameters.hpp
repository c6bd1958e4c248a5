// Parameters that the counters of traffic share.
#pragma once

#include <vector>

#include "core/parameters.hpp"
#include "core/time.hpp"

namespace dragonfly {

// The rows of `window_ns` and `stored_weight`, and the window's length.
[[nodiscard]] std::vector<ParameterInfo> window_parameters();
[[nodiscard]] TimePs window_parameter(const ParameterOwner& owner, const Parameters& given);

}  // namespace dragonfly
