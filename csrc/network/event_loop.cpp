#include "network/event_loop.hpp"

namespace dragonfly {

namespace {

// Whether only trackers are notified of events, and either one policy at most or an outside policy decides.
bool is_plain(const PartitionState& s) noexcept {
  const Blueprint& plan = s.plan;
  const bool one = s.asking ? s.desk->wants_all() && !plan.background && plan.learner == nullptr &&
                                  !s.desk->reports().keeps()
                            : plan.one_decides(false) && plan.deciders.front().seen == nullptr;
  return one && s.programs == nullptr && !s.store.with_paths && plan.source.longest_route() == 0;
}

}  // namespace

GoOn loop_of(const PartitionState& s) noexcept {
  if (!is_plain(s)) return go_on_any();
  const Routers queued = s.plan.ready_words == 1 ? Routers::kQueued : Routers::kWide;
  const Routers routers = s.plan.shared_output ? Routers::kShared : queued;
  if (routers == queued && (!s.plan.quick_crossbar || s.store.with_through)) return go_on_any();
  const bool arrival = s.plan.decide_on_arrival;
  if (s.trackers.any()) {
    return s.asking || s.plan.learner != nullptr ? go_on_any() : go_on_tracking(routers, arrival);
  }
  if (s.asking) return go_on_desk(routers, arrival);
  if (s.plan.learner != nullptr) return go_on_learner(routers, arrival);
  return s.plan.scope == DecisionScope::kNowhere ? go_on_nobody(routers, arrival)
                                                 : go_on_policy(routers, arrival);
}

}  // namespace dragonfly
