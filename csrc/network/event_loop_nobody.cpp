#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_nobody(Routers routers, bool on_arrival) noexcept {
  return loop_for<Deciders::kNobody>(routers, on_arrival);
}

}  // namespace dragonfly
