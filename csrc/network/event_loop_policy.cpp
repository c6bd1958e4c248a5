#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_policy(Routers routers, bool on_arrival) noexcept {
  return loop_for<DecisionSource::kPolicy>(routers, on_arrival);
}

}  // namespace dragonfly
