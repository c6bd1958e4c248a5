// Policies that learn from what the next router on the way reports back.
#pragma once

#include <cstdint>

#include "core/time.hpp"
#include "routing/policy.hpp"
#include "routing/q_table.hpp"

namespace dragonfly {

// What the network tells a learner before the first packet: delays of one hop without any congestion.
struct HopTimes {
  TimePs local_latency_ps = 0;  // of the link alone
  TimePs global_latency_ps = 0;
  TimePs local_hop_ps = 0;  // from the input buffer of one router to that of the next
  TimePs global_hop_ps = 0;
};

// A packet that stands at router y, having come from router x.
struct Visit {
  bool leaves = false;          // y is outside the destination group
  bool came_by_global = false;  // the link from x was a global one
  double travel_ns = 0;         // from the input buffer of x to that of y
  TimePs now_ps = 0;
};

// What y decides, and what it reports to x.
struct VisitOutcome {
  Port port = kNoPort;   // kNoPort: minimally on
  bool reports = false;  // x hears about this hop
  float target_ns = 0;   // the time that x would have had to expect: travel, and y's estimate of the rest
};

// Reports travel back with the credit for the packet's place in the buffer of y: they leave when the packet
// leaves that buffer, and take no bandwidth. (FACTS of the HPDC 2021 simulator.)
class LearningPolicy : public RoutingPolicy {
 public:
  [[nodiscard]] DecisionScope scope() const noexcept final { return DecisionScope::kEvery; }
  [[nodiscard]] std::vector<DetourKind> detour_kinds() const final { return {}; }
  [[nodiscard]] Decision route(RouteContext& /*context*/) const final { return {}; }
  [[nodiscard]] LearningPolicy* learner() noexcept final { return this; }

  // Once, before the first packet. The topology must outlive the policy.
  virtual void prepare(const Dragonfly& topology, const HopTimes& times) = 0;
  // Called from several threads, for routers of different groups; reads rows of this router only.
  [[nodiscard]] virtual VisitOutcome visit(const RouteContext& context, const Visit& visit) const = 0;
  // What a report is about; learn() gets it back.
  [[nodiscard]] virtual std::uint32_t key(const Packet& packet) const noexcept = 0;
  // Prefetches the row that visit() or learn() is going to use.
  virtual void touch(std::uint32_t router, std::uint32_t key) const noexcept = 0;
  // A report on a packet that left `router` through `port`. Changes rows of this router only.
  virtual void learn(std::uint32_t router, Port port, std::uint32_t key, float target_ns, TimePs now_ps) = 0;
  [[nodiscard]] virtual QTable& table() noexcept = 0;
};

}  // namespace dragonfly
