#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_policy(bool on_arrival, bool shared_output) noexcept {
  constexpr auto who = Deciders::kPolicy;
  if (!shared_output) {
    return on_arrival ? &EventLoop<Mode{who, true, false}>::go_on
                      : &EventLoop<Mode{who, false, false}>::go_on;
  }
  return on_arrival ? &EventLoop<Mode{who, true, true}>::go_on : &EventLoop<Mode{who, false, true}>::go_on;
}

}  // namespace dragonfly
