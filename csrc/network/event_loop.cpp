#include "network/event_loop.hpp"

namespace dragonfly {

namespace {

// Whether only trackers are notified of events, and either one policy at most or an outside policy decides.
bool is_plain(const PartitionState& s) noexcept {
  const Blueprint& plan = s.plan;
  const bool one = s.external ? s.pending->selects_all() && !plan.deciders.background &&
                                    plan.deciders.learner == nullptr && !s.pending->reports().keeps()
                              : plan.deciders.one_decides(false);
  return one && plan.options.changes == nullptr && s.programs == nullptr && !s.store.with_paths &&
         plan.source.route_needs().longest == 0;
}

}  // namespace

GoOn loop_of(const PartitionState& s) noexcept {
  if (!is_plain(s)) return go_on_general();
  const Routers queued = s.plan.ready_words == 1 ? Routers::kQueued : Routers::kWide;
  const Routers routers = s.plan.shared_output ? Routers::kShared : queued;
  if (routers == queued && (!s.plan.single_cycle_crossbar || s.store.with_through)) return go_on_general();
  const bool arrival = s.plan.decide_on_arrival;
  const bool sees = !s.external && s.plan.deciders.policies.front().seen != nullptr;
  if (s.trackers.any() || sees) {
    return s.external || s.plan.deciders.learner != nullptr ? go_on_general()
                                                            : go_on_tracking(routers, arrival);
  }
  if (s.external) return go_on_external(routers, arrival);
  if (s.plan.deciders.learner != nullptr) return go_on_learner(routers, arrival);
  return s.plan.deciders.scope == DecisionScope::kNowhere ? go_on_minimal(routers, arrival)
                                                          : go_on_policy(routers, arrival);
}

}  // namespace dragonfly
