#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_learner(bool on_arrival, bool shared_output) noexcept {
  if (on_arrival || shared_output) return go_on_any();
  return &EventLoop<Mode{Deciders::kLearner, false, false}>::go_on;
}

}  // namespace dragonfly
