// Minimal routing where actions are ports: at every router the first port of a shortest path, like an outside
// policy that always takes `minimal_action`. A packet that is on a non-minimal path leaves it.
#pragma once

#include "routing/policy.hpp"

namespace dragonfly {

class MinimalPorts final : public RoutingPolicy {
 public:
  // `max_hops`: as for the outside policy next to it.
  explicit MinimalPorts(std::uint8_t max_hops) {
    spec_.scope = DecisionScope::kEvery;
    spec_.action = ActionMode::kPort;
    spec_.max_hops = max_hops;
    spec_.features = 0;
  }

  [[nodiscard]] DecisionScope scope() const noexcept override { return spec_.scope; }
  [[nodiscard]] PathBudget budget() const noexcept override { return spec_.budget(); }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const override { return {}; }
  // Called only where there is a choice: elsewhere packets follow their plans.
  [[nodiscard]] const DecisionSpec* sees() const noexcept override { return &spec_; }

  void decide(std::span<const DecisionContext> decisions, std::span<RouteChoice> choices) const override {
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      const DecisionContext& decision = decisions[i];
      const Packet& packet = decision.packet();
      const std::uint32_t choice = decision.view().paths.choice_of(packet);
      choices[i] = {
          .port = decision.topology().minimal_port(decision.router(), packet.destination_router, choice),
          .shortest = true};
    }
  }

 private:
  DecisionSpec spec_;
};

}  // namespace dragonfly
