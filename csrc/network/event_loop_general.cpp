// The loop for everything.
#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_general() noexcept { return &EventLoop<Mode{}>::go_on; }
void apply_actions(PartitionState& s, const std::int32_t* actions) {
  EventLoop<Mode{}>::apply_actions(s, actions);
}

}  // namespace dragonfly
