#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_tracking(Routers routers, bool on_arrival) noexcept {
  return loop_for<DecisionSource::kTracking>(routers, on_arrival);
}

}  // namespace dragonfly
