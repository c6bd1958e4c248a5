#include "core/parameters.hpp"
#include "routing/learning.hpp"

namespace dragonfly {

namespace {

struct Settings {
  double epsilon = 0.001;
  std::uint32_t max_hops = 2;
};

// Q-routing: a row per destination router; the smallest estimate wins, until a packet has passed so many
// routers that it goes minimally on.
// Source: Boyan and Littman, NIPS 1993; hop limit (maxQ): Kang, Wang, Lan, HPDC 2021, section 2.3.
// Deviation: in the destination group packets go minimally, as under every other policy here.
class QRouting final : public LearningPolicy {
 public:
  QRouting(double alpha, const Settings& settings)
      : LearningPolicy{TableRows::kRouter, {.alpha = alpha, .beta = alpha}}, settings_{settings} {}

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.any_port = true, .longest_path = static_cast<std::uint8_t>(settings_.max_hops + 3)};
  }

  [[nodiscard]] VisitOutcome visit(const RouteContext& context, const Visit& visit) const override {
    const Packet& packet = context.packet();
    VisitOutcome outcome;
    outcome.reports = packet.hops > 0;
    const bool arrived = context.router() == packet.destination_router;
    const float* const row = table().row(context.router(), packet.destination_router);
    const std::uint32_t best = table().best(row);
    outcome.target_ns =
        static_cast<float>(visit.travel_ns + (arrived ? 0.0 : static_cast<double>(row[best])));
    if (!visit.leaves || packet.hops >= settings_.max_hops) return outcome;
    std::uint32_t taken = open(row, best) ? best : visit.minimal_port - first_port();
    RandomStream draws = context.learning_stream();
    if (draws.uniform() < settings_.epsilon) {
      const auto port = static_cast<std::uint32_t>(draws.uniform() * table().shape().ports);
      if (open(row, port)) taken = port;
    }
    outcome.port = static_cast<Port>(first_port() + taken);
    return outcome;
  }

 private:
  // Link latencies of the shortest path through each port.
  void fill(std::uint32_t router, std::uint32_t target, float* values) const override {
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

  Settings settings_;
};

std::unique_ptr<RoutingPolicy> make_q_routing(const PolicyInfo& info, const Parameters& given,
                                              const PolicyEnvironment& /*environment*/) {
  return std::make_unique<QRouting>(real_parameter(info, given, "alpha", 0, 1),
                                    Settings{.epsilon = real_parameter(info, given, "epsilon", 0, 1),
                                             .max_hops = count_parameter(info, given, "max_hops", 1, 12)});
}

}  // namespace

std::vector<PolicyInfo> q_routing_policies() {
  return {{"q-routing",
           "learns by Q-tables which port reaches a router soonest",
           "Boyan and Littman, NIPS 1993; Kang, Wang, Lan, HPDC 2021, section 2.3",
           "all",
           "port",
           {{"alpha", 0.2, "", "learning rate (equation 1)"},
            {"epsilon", 0.001, "", "share of random ports where there is a choice"},
            {"max_hops", 2.0, "hops", "after so many the packet goes minimally on (the paper's maxQ)"}},
           make_q_routing}};
}

}  // namespace dragonfly
