#include "network/hop_feedback.hpp"

#include <algorithm>

namespace dragonfly {

// No more credits are under way than there are places in the buffer, nor than clock edges bring in the time
// that a credit takes, and between partitions in the window by which the writer may be ahead.
std::vector<std::uint64_t> HopFeedback::most_under_way(const Blueprint& plan) {
  std::vector<std::uint64_t> most(plan.topology.radix(), 0);
  if (plan.learner == nullptr) return most;
  for (Port port = plan.topology.first_local_port(); port < plan.topology.radix(); ++port) {
    const std::size_t i = index_of(plan.topology.port_class(port));
    const Tick ahead = plan.topology.is_global(port) ? plan.window : 0;
    const Tick edges = (plan.timing.credit_delay[i] + ahead) / plan.timing.clock + 2;
    most[port] = static_cast<std::uint64_t>(std::min<Tick>(plan.vcs[i] * plan.input_buffer[i] + 1, edges));
  }
  return most;
}

std::uint64_t HopFeedback::bytes_per_router(const Blueprint& plan) {
  return FeedbackSignals::bytes_per_router(most_under_way(plan)) +
         std::uint64_t{plan.topology.radix()} * 2 * sizeof(Line);
}

HopFeedback::Line HopFeedback::line_of(FeedbackSignals& signals, const Dragonfly& topology,
                                       std::uint32_t router, Port port) {
  return {.end = signals.end(router, port),
          .router = router,
          .port = port,
          .group = static_cast<std::uint16_t>(topology.group_of(router))};
}

void HopFeedback::connect(FeedbackSignals& signals, std::uint32_t id, std::uint32_t router, Port port,
                          const Endpoint& far) {
  if (learner_ == nullptr) return;
  in_[id] = line_of(signals, plan_.topology, router, port);
  out_[id] = line_of(signals, plan_.topology, far.router, far.port);
}

}  // namespace dragonfly
