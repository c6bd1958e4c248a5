#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_minimal(Routers routers, bool on_arrival) noexcept {
  return loop_for<DecisionSource::kMinimal>(routers, on_arrival);
}

}  // namespace dragonfly
