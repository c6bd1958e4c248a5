#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_desk(Routers routers, bool on_arrival) noexcept {
  if (routers == Routers::kShared) return go_on_any();
  return on_arrival ? &EventLoop<Mode{Deciders::kDesk, Routers::kQueued, true}>::go_on
                    : &EventLoop<Mode{Deciders::kDesk, Routers::kQueued, false}>::go_on;
}

}  // namespace dragonfly
