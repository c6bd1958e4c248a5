// Routing from outside: exact batches, exact transitions, and no answer that harms the network.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "simulation/routing_environment.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

SimulationSetup setup(const DragonflyParams& shape, const std::string& decide_at, TimePs routing_delay_ps,
                      std::uint32_t threads = 1) {
  SimulationSetup all = small_system(shape, "ugal-n", "adv+1", 0.6);
  all.network.decide_at = decide_at;
  all.network.routing_delay_ps = routing_delay_ps;
  all.threads = threads;
  return all;
}

// Where an environment asks.
struct Scope {
  DecisionScope scope;
  bool forced_too = false;
};
constexpr Scope kSource{DecisionScope::kSource};
Scope every(ActionMode action, bool forced_too = false) {
  return {action == ActionMode::kPath ? DecisionScope::kSourceGroup : DecisionScope::kEvery, forced_too};
}

SimulationSetup with_decisions(SimulationSetup all, Scope scope, ActionMode action, RewardKind reward) {
  DecisionSpec spec = usual_questions();
  spec.scope = scope.scope;
  spec.forced_too = scope.forced_too;
  spec.action = action;
  spec.reward = reward;
  spec.detours = {DetourKind::kLgl, DetourKind::kLg};
  spec.reward_scale_ps = 1;  // rewards are picoseconds
  all.options.decisions = spec;
  return all;
}

// Kang et al.: non-minimal iff q_min > 2 q_nonmin, by VC where both start on one port.
std::int64_t ugal_answer(const Candidate* candidates) {
  const Candidate& minimal = candidates[0];
  const Candidate& detour = candidates[1];
  if (detour.kind < 0) return 0;
  const bool same = minimal.port == detour.port;
  const std::int32_t q_minimal = same ? minimal.vc_occupancy : minimal.occupancy;
  const std::int32_t q_detour = same ? detour.vc_occupancy : detour.occupancy;
  return q_minimal > 2 * q_detour ? 1 : 0;
}

std::int64_t random_answer(const std::uint8_t* mask, std::uint32_t count, std::int64_t id) {
  RandomStream random{7, Purpose::kLearning, 0, static_cast<std::uint64_t>(id) & 0xffffffffffU};
  for (;;) {
    const std::uint32_t action = random.below(count);
    if (mask[action] != 0) return action;
  }
}

template <class Answer>
void play(RoutingEnvironment& environment, Answer answer) {
  CHECK(environment.advance(&always));
  while (!environment.done()) {
    std::vector<std::int64_t> actions;
    for (std::size_t i = 0; i < environment.batch().size; ++i) actions.push_back(answer(i));
    CHECK(!environment.take_answers(actions).has_value());
    environment.answer();
    CHECK(environment.advance(&always));
  }
}

void play_randomly(RoutingEnvironment& environment) {
  const std::uint32_t count = environment.plan().num_actions;
  play(environment, [&](std::size_t i) {
    return random_answer(environment.batch().mask.data() + i * count, count,
                         environment.batch().ids.data()[i]);
  });
}

TEST(answers_from_outside_give_the_history_of_the_native_policy) {
  for (const char* decide_at : {"arrival", "head"}) {
    for (const TimePs delay : {TimePs{0}, 100 * kNs}) {
      for (const DragonflyParams& shape : {kSmall, kWide}) {
        const TimePs duration = shape.p == 2 ? 3'000 * kNs : 700 * kNs;
        Simulation native{setup(shape, decide_at, delay)};
        native.run(duration, &always);
        for (const std::uint32_t threads : {1U, 2U}) {
          RoutingEnvironment asked{with_decisions(setup(shape, decide_at, delay, threads), kSource,
                                                  ActionMode::kPath, RewardKind::kHop),
                                   0, duration};
          play(asked, [&](std::size_t i) {
            return ugal_answer(asked.batch().candidates.data() + i * asked.plan().num_candidates);
          });
          CHECK_EQ(asked.simulation().trace_hash(), native.trace_hash());
        }
      }
    }
  }
}

TEST(random_answers_lose_nothing_and_drain) {
  for (const ActionMode action : {ActionMode::kPort, ActionMode::kPath}) {
    for (const Scope scope : {kSource, every(action), every(action, true)}) {
      RoutingEnvironment environment{
          with_decisions(setup(kSmall, "arrival", 100 * kNs), scope, action, RewardKind::kHop), 0,
          4'000 * kNs};
      play_randomly(environment);
      environment.simulation().check_invariants();
      environment.begin_drain();
      play_randomly(environment);
      environment.simulation().check_invariants();
      CHECK(environment.simulation().empty());
    }
  }
}

TEST(every_decision_ends_in_exactly_one_transition) {
  for (const RewardKind reward : {RewardKind::kHop, RewardKind::kDelivery}) {
    for (const ActionMode action : {ActionMode::kPort, ActionMode::kPath}) {
      RoutingEnvironment environment{
          with_decisions(setup(kSmall, "arrival", 100 * kNs), every(action, true), action, reward), 0,
          3'000 * kNs};
      std::map<std::int64_t, int> raised;
      const std::uint32_t count = environment.plan().num_actions;
      const auto answer = [&](std::size_t i) {
        ++raised[environment.batch().ids.data()[i]];
        return random_answer(environment.batch().mask.data() + i * count, count,
                             environment.batch().ids.data()[i]);
      };
      play(environment, answer);
      environment.begin_drain();
      play(environment, answer);
      std::size_t ended = 0;
      double rewards = 0;
      double legs = 0;
      for (Partition& partition : environment.simulation().network().partitions()) {
        TransitionLog& log = partition.desk().log();
        for (std::size_t i = 0; i < log.size(); ++i, ++ended) {
          CHECK_EQ(--raised[log.heads()[i].id], 0);
          rewards += log.rewards()[i];
          legs += static_cast<double>(log.heads()[i].leg * environment.plan().quantum_ps);
        }
      }
      CHECK_EQ(ended, raised.size());
      if (reward == RewardKind::kHop) CHECK_EQ(-rewards, legs);
      if (reward == RewardKind::kDelivery) CHECK(-rewards > legs);
    }
  }
}

TEST(what_is_not_collected_is_dropped_at_the_limit) {
  SimulationSetup all = with_decisions(setup(kSmall, "arrival", 100 * kNs), every(ActionMode::kPort),
                                       ActionMode::kPort, RewardKind::kHop);
  all.options.decisions->most_uncollected_bytes = 100'000;
  RoutingEnvironment environment{std::move(all), 0, 3'000 * kNs};
  play_randomly(environment);
  CHECK(environment.outcomes().overflowed());
  for (Partition& partition : environment.simulation().network().partitions()) {
    CHECK(partition.desk().log().bytes() < 100'000);
  }
}

}  // namespace
