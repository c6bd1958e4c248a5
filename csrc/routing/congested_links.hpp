// Piggyback's flags, for the policies that read them: their tracker comes first in RoutingPolicy::trackers().
#pragma once

#include "routing/route_context.hpp"

namespace dragonfly {

inline constexpr const char* kCongestedLinks = "congested-links";

// Whether the router has been notified that the global link of a minimal path is congested.
[[nodiscard]] inline bool leaves_congested(const RouteContext& context, std::uint32_t minimal_choice) {
  const Endpoint link = context.paths().first_global_link(context.packet(), context.router(), minimal_choice);
  return context.tracked(0, 0, context.topology().global_position(link.router, link.port)) > 0;
}

}  // namespace dragonfly
