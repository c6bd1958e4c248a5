// The knowledge that a feature or a policy needs, as a real router could have it.
#pragma once

#include <cstdint>

namespace dragonfly {

// Ordered: each includes those before.
enum class Knowledge : std::uint8_t {
  kLocal,    // the router's own queues, credits, hosts and packets, and acknowledgements of its packets
  kDelayed,  // also signals of other routers, with the delay of their way
  kIdeal,    // also the state of other routers without delay: for references only
};
[[nodiscard]] constexpr const char* name_of(Knowledge knowledge) noexcept {
  return knowledge == Knowledge::kLocal ? "local" : knowledge == Knowledge::kDelayed ? "delayed" : "ideal";
}

}  // namespace dragonfly
