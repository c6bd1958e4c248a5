// Minimal routing where actions are ports: at every router the first port of a shortest path, like an outside
// policy that always takes `minimal_action`. A packet that is on a non-minimal path leaves it.
#pragma once

#include "routing/policy.hpp"

namespace dragonfly {

class MinimalPorts final : public RoutingPolicy {
 public:
  // `max_hops`: as for the outside policy next to it.
  explicit MinimalPorts(std::uint8_t max_hops) {
    asked_.scope = DecisionScope::kEvery;
    asked_.action = ActionMode::kPort;
    asked_.max_hops = max_hops;
    asked_.features = 0;
  }

  [[nodiscard]] DecisionScope scope() const noexcept override { return asked_.scope; }
  [[nodiscard]] PathBudget budget() const noexcept override { return asked_.budget(); }
  [[nodiscard]] std::vector<DetourKind> detour_kinds() const override { return {}; }
  // Called only where there is a choice: elsewhere packets follow their plans.
  [[nodiscard]] const QuestionSpec* sees() const noexcept override { return &asked_; }

  void decide(std::span<const Question> questions, std::span<Answer> answers) const override {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const Question& question = questions[i];
      const Packet& packet = question.packet();
      const std::uint32_t choice = question.around().paths.choice_of(packet);
      answers[i] = {
          .port = question.topology().minimal_port(question.router(), packet.destination_router, choice),
          .shortest = true};
    }
  }

 private:
  QuestionSpec asked_;
};

}  // namespace dragonfly
