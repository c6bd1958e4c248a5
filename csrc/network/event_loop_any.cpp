// The loop for everything.
#include "network/events_loop.hpp"

namespace dragonfly {

GoOn go_on_any() noexcept { return &EventLoop<Mode{}>::go_on; }
void answer_decisions(PartitionState& s, const std::int32_t* actions) {
  EventLoop<Mode{}>::answer(s, actions);
}

}  // namespace dragonfly
