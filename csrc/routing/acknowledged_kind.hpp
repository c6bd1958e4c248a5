// Kinds of paths that acknowledgements tell apart: what a source router decides between.
#pragma once

#include <cstdint>

namespace dragonfly {

// 0: minimal, then 1 + DetourKind of the four detours through other groups.
inline constexpr std::uint32_t kAcknowledgedKinds = 5;

}  // namespace dragonfly
