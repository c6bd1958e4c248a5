#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_tracking(Routers routers, bool on_arrival) noexcept {
  constexpr auto who = Deciders::kTracking;
  if (routers == Routers::kShared) {
    return on_arrival ? &EventLoop<Mode{who, Routers::kShared, true}>::go_on
                      : &EventLoop<Mode{who, Routers::kShared, false}>::go_on;
  }
  return on_arrival ? &EventLoop<Mode{who, Routers::kQueued, true}>::go_on
                    : &EventLoop<Mode{who, Routers::kQueued, false}>::go_on;
}

}  // namespace dragonfly
