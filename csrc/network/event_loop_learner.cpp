#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_learner(Routers routers, bool on_arrival) noexcept {
  return loop_for<DecisionSource::kLearner, false>(routers, on_arrival);
}

}  // namespace dragonfly
