// Several networks in one batch: each gets as far as alone, and nothing of that depends on threads.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "simulation/routing_environment.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

SimulationSetup setup_of(const DragonflyParams& shape, double load, std::uint64_t seed,
                         ActionMode action = ActionMode::kPath) {
  SimulationSetup all = small_system(shape, "min", "adv+1", load);
  all.network.decide_at = "arrival";
  all.network.routing_delay_ps = 100 * kNs;
  all.options.seed = seed;
  EnvironmentSpec spec = usual_decisions();
  spec.scope = action == ActionMode::kPath ? DecisionScope::kSourceGroup : DecisionScope::kEvery;
  spec.action = action;
  spec.nonminimal_kinds = {NonMinimalKind::kLgl, NonMinimalKind::kLg};
  all.options.decisions = spec;
  return all;
}

// A network per load; the last ones end at once, as their hosts have nothing to send in time.
std::vector<SimulationSetup> several() {
  std::vector<SimulationSetup> setups;
  std::uint64_t seed = 1;
  for (const double load : {0.1, 0.6, 0.9, 0.3, 0.0001}) setups.push_back(setup_of(kSmall, load, seed++));
  return setups;
}

// Draws an action that depends on the decision alone, not on its batch.
std::int64_t drawn_action(DecisionBatch& batch, std::size_t row, std::uint32_t actions) {
  RandomStream random{7, Purpose::kLearning, 0,
                      static_cast<std::uint64_t>(batch.ids.data()[row]) & 0xffffffffU};
  for (;;) {
    const std::uint32_t action = random.below(actions);
    if (batch.mask.data()[row * actions + action] != 0) return action;
  }
}

// Runs to the end; returns the number of decisions.
std::size_t play(RoutingEnvironment& environment, const std::function<bool()>& keep_going = &always) {
  std::size_t num_decisions = 0;
  while (!environment.advance(keep_going)) {
  }
  while (!environment.done()) {
    DecisionBatch& batch = environment.batch();
    for (std::size_t i = 0; i < batch.size; ++i) {
      REQUIRE(environment.take_action(i, drawn_action(batch, i, environment.plan().num_actions)));
    }
    num_decisions += batch.size;
    environment.commit_actions();
    while (!environment.advance(keep_going)) {
    }
  }
  return num_decisions;
}

TEST(every_network_of_a_batch_has_the_history_that_it_has_alone) {
  std::vector<std::uint64_t> alone;
  std::size_t decisions = 0;
  for (SimulationSetup& setup : several()) {
    RoutingEnvironment one{std::move(setup), 500 * kNs, 2'000 * kNs};
    decisions += play(one);
    alone.push_back(one.simulation().trace_hash());
  }
  CHECK(alone[0] != alone[1]);
  for (const std::uint32_t threads : {1U, 2U, 3U, 8U}) {
    RoutingEnvironment together{several(), 500 * kNs, 2'000 * kNs, threads};
    CHECK_EQ(play(together), decisions);
    for (std::uint32_t i = 0; i < together.num_networks(); ++i) {
      CHECK_EQ(together.network(i).simulation().trace_hash(), alone[i]);
      together.network(i).simulation().check_invariants();
    }
    together.begin_drain();
    play(together);
    for (std::uint32_t i = 0; i < together.num_networks(); ++i) {
      CHECK(together.network(i).simulation().empty());
      together.network(i).simulation().check_invariants();
    }
  }
}

TEST(an_interruption_between_two_batches_changes_nothing) {
  RoutingEnvironment calm{several(), 0, 1'500 * kNs, 1};
  play(calm);
  int num_polls = 0;
  const auto hurried = [&] { return ++num_polls % 2 == 0; };
  RoutingEnvironment one{setup_of(kSmall, 0.6, 2), 0, 1'500 * kNs};
  play(one, hurried);
  CHECK(num_polls > 0);
  CHECK_EQ(one.simulation().trace_hash(), calm.network(1).simulation().trace_hash());
  CHECK_EQ(one.outcomes().transitions(), calm.network(1).outcomes().transitions());
}

TEST(rewards_survive_an_interruption) {
  const auto times = [](const std::function<bool()>& keep_going) {
    RoutingEnvironment one{setup_of(kSmall, 0.6, 2), 0, 1'500 * kNs};
    play(one, keep_going);
    Tick of_transitions = 0;
    for (Partition& partition : one.simulation().network().partitions()) {
      TransitionLog& log = partition.pending().log();
      for (std::size_t i = 0; i < log.size(); ++i) of_transitions += log.heads()[i].leg;
    }
    const std::size_t routers = one.simulation().topology().num_routers();
    std::vector<std::int64_t> reward_ps(routers);
    std::vector<std::int64_t> generated(routers);
    std::vector<std::int64_t> delivered(routers);
    one.network(0).outcomes().read_tallies(
        {.reward_ps = reward_ps.data(), .generated = generated.data(), .delivered = delivered.data()},
        one.simulation().time_ps());
    return std::pair{of_transitions, reward_ps};
  };
  int count = 0;
  const auto calm = times(&always);
  CHECK(times([&] { return ++count % 2 == 0; }) == calm);
  CHECK(calm.first > 0);
  CHECK(std::ranges::any_of(calm.second, [](std::int64_t reward) { return reward != 0; }));
}

}  // namespace
