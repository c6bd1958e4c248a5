#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_desk(Routers routers, bool on_arrival) noexcept {
  return loop_for<Deciders::kDesk, false>(routers, on_arrival);
}

}  // namespace dragonfly
