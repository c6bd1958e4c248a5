#include "core/parameter_set.hpp"
#include "routing/learning.hpp"

namespace dragonfly {

namespace {

struct QRoutingSettings : ParameterSet {
  using ParameterSet::ParameterSet;
  Real alpha{
      this, {"alpha", 0.2, "", "learning rate of all updates. Source: HPDC 2021, equation 1", between(0, 1)}};
  Real epsilon{this,
               {"epsilon", 0.001, "", "probability of a random port if several are legal", between(0, 1)}};
  Count max_hops{this,
                 {"max_hops", 2.0, "hops",
                  "hops that the tables decide (maxQ); a minimal path follows, so a route has up to max_hops "
                  "+ 3 hops and VCs if groups are all-to-all",
                  whole(1, 12)}};
};

// Q-routing: a row per destination router; the smallest estimate wins, until a packet has passed so many
// routers that it goes minimally on.
// Source: Boyan and Littman, NIPS 1993; hop limit (maxQ): Kang, Wang, Lan, HPDC 2021, section 2.3.
// Deviation: in the destination group packets go minimally, as under every other policy here.
class QRouting final : public TableLearner<QRouting> {
 public:
  explicit QRouting(const QRoutingSettings& settings)
      : TableLearner{TableRows::kRouter,
                     {.alpha = settings.alpha, .beta = settings.alpha, .inside_groups = true}},
        settings_{settings} {}

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.any_port = true, .longest_path = static_cast<std::uint8_t>(settings_.max_hops + 3)};
  }

  [[nodiscard]] bool draws(const DecisionContext& decision, const Visit& /*visit*/) const {
    return decision.leaves() && decision.packet().hops < settings_.max_hops;
  }
  [[nodiscard]] RouteChoice visit(const DecisionContext& decision, const Visit& visit,
                                  RandomStream* draws) const {
    const Packet& packet = decision.packet();
    RouteChoice choice;
    choice.reports = packet.hops > 0;
    const bool arrived = decision.router() == packet.destination_router;
    const float* const row = table().row(decision.router(), packet.destination_router);
    const std::uint32_t best = table().best(row);
    choice.target_ns = static_cast<float>(visit.travel_ns + (arrived ? 0.0 : static_cast<double>(row[best])));
    if (draws == nullptr) return choice;
    std::uint32_t taken = open(row, best) ? best : visit.minimal_port - first_port();
    if (draws->uniform() < settings_.epsilon) {
      const auto port = static_cast<std::uint32_t>(draws->uniform() * table().shape().ports);
      if (open(row, port)) taken = port;
    }
    choice.port = static_cast<Port>(first_port() + taken);
    choice.shortest = choice.port == visit.minimal_port;
    return choice;
  }

 private:
  // Link latencies of the shortest path through each port.
  void fill(std::uint32_t router, std::uint32_t target, float* values) const override {
    if (!topology().is_alive(target)) return;
    for (std::uint32_t i = 0; i < table().shape().ports; ++i) {
      const auto port = static_cast<Port>(first_port() + i);
      const Endpoint next = topology().neighbor(router, port);
      if (next.port == kNoPort) continue;
      TimePs ps = time_of(port).latency_ps;
      for (std::uint32_t at = next.router; at != target;) {
        const Port on = topology().minimal_port(at, target);
        ps += time_of(on).latency_ps;
        at = topology().neighbor(at, on).router;
      }
      values[i] = static_cast<float>(static_cast<double>(ps) / kPsPerNs);
    }
  }

  QRoutingSettings settings_;
};

std::unique_ptr<RoutingPolicy> make_q_routing(const PolicyInfo& info, const Parameters& given,
                                              const PolicyEnvironment& /*environment*/) {
  return std::make_unique<QRouting>(QRoutingSettings{info, given});
}

}  // namespace

std::vector<PolicyInfo> q_routing_policies() {
  return {{"q-routing",
           "learns in Q-tables how soon each port reaches a router",
           "Boyan and Littman, NIPS 1993; Kang, Wang, Lan, HPDC 2021, section 2.3",
           "all",
           "port",
           rows_of<QRoutingSettings>(),
           make_q_routing,
           NonMinimalKind::kLgl,
           {},
           {},
           Knowledge::kDelayed}};
}

}  // namespace dragonfly
