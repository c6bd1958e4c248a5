#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_external(Routers routers, bool on_arrival) noexcept {
  return loop_for<DecisionSource::kExternal, false>(routers, on_arrival);
}

}  // namespace dragonfly
