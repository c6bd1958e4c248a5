// Decisions from outside: exact batches, exact transitions, and no action that harms the network.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "simulation/decision_order.hpp"
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
  all.options.threads = threads;
  return all;
}

// The routers at which an environment decides.
struct Scope {
  DecisionScope scope;
  bool forced_too = false;
};
constexpr Scope kSource{DecisionScope::kSource};
Scope every(ActionMode action, bool forced_too = false) {
  return {action == ActionMode::kPath ? DecisionScope::kSourceGroup : DecisionScope::kEvery, forced_too};
}

SimulationSetup with_decisions(SimulationSetup all, Scope scope, ActionMode action, RewardKind reward) {
  EnvironmentSpec spec = usual_decisions();
  spec.scope = scope.scope;
  spec.forced_too = scope.forced_too;
  spec.action = action;
  spec.reward = reward;
  spec.nonminimal_kinds = {NonMinimalKind::kLgl, NonMinimalKind::kLg};
  spec.options["reward_scale_ps"] = 1;  // rewards are picoseconds
  spec.options["keep_feedback"] = 1;
  all.options.decisions = spec;
  return all;
}

// Kang et al.: non-minimal iff q_min > 2 q_nonmin, by VC where both start on one port.
std::int64_t ugal_action(const Candidate* candidates) {
  const Candidate& minimal = candidates[0];
  const Candidate& nonminimal = candidates[1];
  if (nonminimal.kind < 0) return 0;
  const bool same = minimal.port == nonminimal.port;
  const std::int32_t q_minimal = same ? minimal.vc_occupancy : minimal.occupancy;
  const std::int32_t q_nonminimal = same ? nonminimal.vc_occupancy : nonminimal.occupancy;
  return q_minimal > 2 * q_nonminimal ? 1 : 0;
}

std::int64_t random_action(const std::uint8_t* mask, std::uint32_t count, std::int64_t id) {
  RandomStream random{7, Purpose::kLearning, 0, static_cast<std::uint64_t>(id) & 0xffffffffffU};
  for (;;) {
    const std::uint32_t action = random.below(count);
    if (mask[action] != 0) return action;
  }
}

template <class Action>
void play(RoutingEnvironment& environment, Action action) {
  CHECK(environment.advance(&always));
  while (!environment.done()) {
    for (std::size_t i = 0; i < environment.batch().size; ++i) CHECK(environment.take_action(i, action(i)));
    environment.commit_actions();
    CHECK(environment.advance(&always));
  }
}

TEST(external_actions_give_the_history_of_the_native_policy) {
  for (const char* decide_at : {"arrival", "head"}) {
    for (const TimePs delay : {TimePs{0}, 100 * kNs}) {
      for (const DragonflyParams& shape : {kSmall, kWide}) {
        const TimePs duration = shape.p == 2 ? 3'000 * kNs : 700 * kNs;
        Simulation native{setup(shape, decide_at, delay)};
        native.run(duration, &always);
        for (const std::uint32_t threads : {1U, 2U}) {
          RoutingEnvironment external{with_decisions(setup(shape, decide_at, delay, threads), kSource,
                                                     ActionMode::kPath, RewardKind::kHop),
                                      0, duration};
          play(external, [&](std::size_t i) {
            return ugal_action(external.batch().candidates.data() + i * external.plan().num_candidates);
          });
          CHECK_EQ(external.simulation().trace_hash(), native.trace_hash());
        }
      }
    }
  }
}

// The records of an episode about one decision.
struct Handed {
  std::int32_t agent = 0;
  double time_ns = 0;
  std::uint32_t group = 0;  // group of the destination
  std::vector<float> observation;
  std::vector<std::uint8_t> mask;
  bool operator==(const Handed&) const = default;
};
using Episode = std::map<std::int64_t, Handed>;

Episode handed_out(RoutingEnvironment& environment) {
  Episode all;
  const std::uint32_t features = environment.plan().layout.num_features();
  const std::uint32_t actions = environment.plan().num_actions;
  play(environment, [&](std::size_t i) {
    DecisionBatch& batch = environment.batch();
    const std::int64_t id = batch.ids.data()[i];
    if (i > 0) CHECK(batch.ids.data()[i - 1] < id);
    const float* const row = batch.observations.data() + i * features;
    const std::uint8_t* const mask = batch.mask.data() + i * actions;
    all[id] = {batch.agents.data()[i],
               batch.times_ns.data()[i],
               batch.packets.data()[i].destination_group,
               {row, row + features},
               {mask, mask + actions}};
    return random_action(mask, actions, id);
  });
  return all;
}

TEST(traffic_counts_the_decisions_before_the_time_of_a_decision_and_none_of_that_time) {
  for (const TimePs delay : {TimePs{0}, 100 * kNs}) {
    RoutingEnvironment environment{
        with_decisions(setup(kSmall, "arrival", delay), every(ActionMode::kPort, true), ActionMode::kPort,
                       RewardKind::kHop),
        0, 3'500 * kNs};
    const std::uint32_t column = environment.plan().layout.find("traffic")->offset;
    const Episode all = handed_out(environment);
    std::size_t together = 0;
    for (const auto& [id, one] : all) {
      const double period = std::floor(one.time_ns / 1'000);
      int count = 0;
      bool alone = true;
      for (const auto& [other_id, other] : all) {
        if (other.agent != one.agent || other.group != one.group) continue;
        if (other.time_ns < one.time_ns && std::floor(other.time_ns / 1'000) >= period - 1) ++count;
        alone = alone && (other.time_ns != one.time_ns || other_id == id);
      }
      together += alone ? 0 : 1;
      const auto shown = static_cast<float>(count);
      CHECK_EQ(one.observation[column], shown / (shown + 16));
    }
    CHECK(together > 10);  // decisions of one router, time and destination
  }
}

TEST(few_and_many_rows_are_ordered_for_all_hosts) {
  RandomStream random{7, Purpose::kLearning, 0, 0};
  for (const std::uint32_t hosts : {1U, 2U, 72U, 100'000U}) {
    for (const std::uint32_t used : {1U, hosts}) {
      for (const std::uint32_t rows : {0U, 1U, 2U, 16U, 17U, 300U, 5'000U}) {
        DecisionOrder order;
        std::vector<std::int64_t> expected;
        for (std::uint32_t i = 0; i < rows; ++i) {
          const std::int64_t id = decision_id(hosts - used + random.below(used), i, random.below(9));
          order.add({id, i % 7, i});
          expected.push_back(id);
        }
        order.sort(hosts);
        std::ranges::sort(expected);
        CHECK_EQ(order.size(), expected.size());
        for (std::uint32_t i = 0; i < rows; ++i) {
          CHECK_EQ(order[i].id, expected[i]);
          CHECK_EQ(order[i].partition, order[i].index % 7);
        }
      }
    }
  }
}

}  // namespace
