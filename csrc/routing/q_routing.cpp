#include <limits>

#include "routing/learning.hpp"
#include "routing/parameters.hpp"

namespace dragonfly {

namespace {

struct Settings {
  double alpha = 0.2;
  double epsilon = 0.001;
  std::uint32_t max_hops = 2;
};

// Q-routing: a row per destination router; the smallest estimate wins, until a packet has passed so many
// routers that it goes minimally on.
// Source: Boyan and Littman, NIPS 1993; hop limit (maxQ): Kang, Wang, Lan, HPDC 2021, section 2.3.
// Deviation: in the destination group packets go minimally, as under every other policy here.
class QRouting final : public LearningPolicy {
 public:
  explicit QRouting(const Settings& settings) : settings_{settings} {}

  [[nodiscard]] PathBudget budget() const noexcept override {
    return {.any_port = true, .longest_path = static_cast<std::uint8_t>(settings_.max_hops + 3)};
  }

  void prepare(const Dragonfly& topology, const HopTimes& times) override {
    topology_ = &topology;
    first_port_ = topology.p();
    table_.resize(topology.num_routers(), topology.num_routers(), topology.radix() - topology.p());
    for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
      for (std::uint32_t target = 0; target < topology.num_routers(); ++target) fill(router, target, times);
    }
  }

  [[nodiscard]] VisitOutcome visit(const RouteContext& context, const Visit& visit) const override {
    const Packet& packet = context.packet();
    VisitOutcome outcome;
    outcome.reports = packet.hops > 0;
    const bool arrived = context.router() == packet.destination_router;
    const float* const row = table_.row(context.router(), packet.destination_router);
    const std::uint32_t best = table_.best(row);
    outcome.target_ns =
        static_cast<float>(visit.travel_ns + (arrived ? 0.0 : static_cast<double>(row[best])));
    if (!visit.leaves || packet.hops >= settings_.max_hops) return outcome;
    std::uint32_t taken = best;
    RandomStream draws = context.learning_stream();
    if (draws.uniform() < settings_.epsilon) {
      const auto port = static_cast<std::uint32_t>(draws.uniform() * table_.ports());
      const Endpoint next = topology_->neighbor(context.router(), static_cast<Port>(first_port_ + port));
      if (next.port != kNoPort) taken = port;
    }
    outcome.port = static_cast<Port>(first_port_ + taken);
    return outcome;
  }

  [[nodiscard]] std::uint32_t key(const Packet& packet) const noexcept override {
    return packet.destination_router;
  }

  void touch(std::uint32_t router, std::uint32_t key) const noexcept override { table_.touch(router, key); }

  void learn(std::uint32_t router, Port port, std::uint32_t key, float target_ns,
             TimePs /*now_ps*/) override {
    float& value = table_.row(router, key)[port - first_port_];
    const double delta = static_cast<double>(target_ns) - static_cast<double>(value);
    value = static_cast<float>(static_cast<double>(value) + settings_.alpha * delta);
  }

  [[nodiscard]] QTable& table() noexcept override { return table_; }

 private:
  // Link latencies of the shortest path through each port.
  void fill(std::uint32_t router, std::uint32_t target, const HopTimes& times) {
    float* const values = table_.row(router, target);
    for (std::uint32_t i = 0; i < table_.ports(); ++i) {
      const auto port = static_cast<Port>(first_port_ + i);
      Endpoint next = topology_->neighbor(router, port);
      if (next.port == kNoPort) {
        values[i] = std::numeric_limits<float>::infinity();
        continue;
      }
      TimePs ps = latency(port, times);
      for (std::uint32_t at = next.router; at != target;) {
        const Port on = topology_->minimal_port(at, target);
        ps += latency(on, times);
        at = topology_->neighbor(at, on).router;
      }
      values[i] = static_cast<float>(static_cast<double>(ps) / kPsPerNs);
    }
  }

  [[nodiscard]] TimePs latency(Port port, const HopTimes& times) const noexcept {
    return topology_->port_class(port) == LinkClass::kGlobal ? times.global_latency_ps
                                                             : times.local_latency_ps;
  }

  Settings settings_;
  const Dragonfly* topology_ = nullptr;
  std::uint32_t first_port_ = 0;
  QTable table_;
};

std::unique_ptr<RoutingPolicy> make_q_routing(const PolicyInfo& info, const Parameters& given,
                                              const PolicyEnvironment& /*environment*/) {
  return std::make_unique<QRouting>(Settings{.alpha = real_parameter(info, given, "alpha", 0, 1),
                                             .epsilon = real_parameter(info, given, "epsilon", 0, 1),
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
