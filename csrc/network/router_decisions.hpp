// Who decides for the packets of a partition: nobody, the policy, or the desk where somebody outside answers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "network/question_sheet.hpp"
#include "network/router_ports.hpp"
#include "routing/question.hpp"

namespace dragonfly {

class RouterDecisions : public RouterPorts {
 public:
  // From now on the desk is asked instead of the policy, or the background policy beside it.
  void start_asking() noexcept;
  // Answers all decisions on the desk, in their order. Precondition: the actions are legal.
  void answer(const std::int32_t* actions);
  [[nodiscard]] DecisionDesk& desk() noexcept { return *desk_; }

 protected:
  RouterDecisions(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback,
                  OpenDecisions* open, std::uint32_t index);

  // All decisions of an instant: each sees the router before any of them takes effect.
  [[gnu::noinline]] void make_decisions(Tick now);

 private:
  static constexpr std::size_t kQuestionsAtOnce = 32;
  enum class Asker : std::uint8_t { kPlain, kSeeing, kLearner };  // what the policy is
  // The rows of one of Blueprint::deciders, or of its background policy.
  struct Sheet {
    std::unique_ptr<QuestionSheet> rows;
    std::uint32_t of = 0;  // Blueprint::policies_before when it was made
  };
  // kShared: of several deciders, only the packets that are this one's.
  template <Asker asker, bool kShared>
  [[gnu::noinline]] void put_questions(std::uint32_t decider, Tick now);
  template <bool kShared>
  void ask_policy(std::uint32_t decider, Tick now);
  [[gnu::noinline]] void ask_policies_of_jobs(Tick now);
  [[gnu::noinline]] void ask_background(Tick now);
  template <bool kLearns>
  void ask_and_apply(const RoutingPolicy& policy, std::span<const Question> questions, Tick now);
  [[gnu::always_inline]] void go_on(const Undecided& undecided, Tick now);
  [[nodiscard]] bool ask(const Undecided& undecided, Tick now);
  [[nodiscard]] RouteContext context_of(const Packet& packet, std::uint32_t router, std::uint32_t group,
                                        Port came_by);

  Surroundings around_;
  std::array<Answer, kQuestionsAtOnce> answers_;
  std::vector<Sheet> sheets_;  // [decider]: what questions show, if it wants to see rows; last: background
};

}  // namespace dragonfly
