// What routers hear of their hops: once per hop, with the right times, and before they are asked again.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/random.hpp"
#include "simulation/routing_environment.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

std::int64_t in_ps(double ns) { return std::llround(ns * 1000); }

SimulationSetup setup(const DragonflyParams& shape, const std::string& decide_at, TimePs routing_delay_ps,
                      std::uint32_t threads, bool forced_too = true) {
  SimulationSetup all = small_system(shape, "min", "adv+1", 0.4);
  all.network.decide_at = decide_at;
  all.network.routing_delay_ps = routing_delay_ps;
  all.options.threads = threads;
  DecisionSpec spec = usual_questions();
  spec.forced_too = forced_too;
  spec.options["keep_transitions"] = 0;
  spec.options["keep_feedback"] = 1;
  all.options.decisions = spec;
  return all;
}

struct Reports {
  std::vector<std::int64_t> ids, next_ids;
  std::vector<std::int32_t> agents, ports;
  std::vector<double> travel_ns, times_ns;
};

Reports take(RoutingEnvironment& environment) {
  Reports all;
  const std::size_t n = environment.outcomes().reports();
  all.ids.resize(n);
  all.next_ids.resize(n);
  all.agents.resize(n);
  all.ports.resize(n);
  all.travel_ns.resize(n);
  all.times_ns.resize(n);
  environment.outcomes().take_reports({.ids = all.ids.data(),
                                       .next_ids = all.next_ids.data(),
                                       .agents = all.agents.data(),
                                       .ports = all.ports.data(),
                                       .travel_ns = all.travel_ns.data(),
                                       .times_ns = all.times_ns.data()});
  return all;
}

struct Asked {
  std::int32_t agent = 0;
  std::int64_t action = 0;
  double arrived_ns = 0;
};

// Random answers to the end; `hear` gets the reports that come with every batch, before it is answered.
template <class Hear>
void play(RoutingEnvironment& environment, std::map<std::int64_t, Asked>& asked, Hear hear) {
  const std::uint32_t count = environment.plan().num_actions;
  CHECK(environment.advance(&always));
  while (!environment.done()) {
    hear(take(environment));
    DecisionBatch& batch = environment.batch();
    std::vector<std::int64_t> actions;
    for (std::size_t i = 0; i < batch.size; ++i) {
      const std::int64_t id = batch.ids.data()[i];
      RandomStream random{7, Purpose::kLearning, 0, static_cast<std::uint64_t>(id) & 0xffffffffffU};
      std::uint32_t action = random.below(count);
      while (batch.mask.data()[i * count + action] == 0) action = random.below(count);
      actions.push_back(action);
      asked[id] = {batch.agents.data()[i], action, batch.packets.data()[i].arrived_ns};
    }
    CHECK(!environment.take_answers(actions).has_value());
    environment.answer();
    CHECK(environment.advance(&always));
  }
  hear(take(environment));
}

TEST(every_hop_is_reported_once_to_the_router_that_chose_it) {
  for (const char* decide_at : {"arrival", "head"}) {
    for (const TimePs delay : {TimePs{0}, 100 * kNs}) {
      RoutingEnvironment environment{setup(kSmall, decide_at, delay, 1), 0, 3'000 * kNs};
      std::map<std::int64_t, Asked> asked;
      std::map<std::int64_t, int> reported;
      const auto hear = [&](const Reports& reports) {
        for (std::size_t i = 0; i < reports.ids.size(); ++i) {
          const std::int64_t id = reports.ids[i];
          const std::int64_t next = reports.next_ids[i];
          ++reported[id];
          REQUIRE(asked.contains(id));
          CHECK_EQ(reports.agents[i], asked[id].agent);
          CHECK_EQ(reports.ports[i], asked[id].action);
          CHECK(reports.times_ns[i] > asked[id].arrived_ns + reports.travel_ns[i]);
          if (next < 0) continue;
          CHECK_EQ(next, id + 1);
          REQUIRE(asked.contains(next));  // it was answered before the packet could leave
          CHECK_EQ(in_ps(reports.travel_ns[i]), in_ps(asked[next].arrived_ns - asked[id].arrived_ns));
        }
      };
      play(environment, asked, hear);
      environment.begin_drain();
      play(environment, asked, hear);
      CHECK(environment.simulation().empty());
      CHECK_EQ(reported.size(), asked.size());
      for (const auto& [id, times] : reported) CHECK_EQ(times, 1);
    }
  }
}

TEST(no_report_comes_later_than_a_decision_that_it_precedes_and_threads_change_nothing) {
  for (const char* decide_at : {"arrival", "head"}) {
    for (const TimePs delay : {TimePs{0}, 100 * kNs, 400 * kNs}) {  // also longer than a window
      std::vector<std::vector<std::int64_t>> heard[2];
      for (const std::uint32_t threads : {1U, 2U}) {
        RoutingEnvironment environment{setup(kWide, decide_at, delay, threads), 0, 1'600 * kNs};
        CHECK(environment.simulation().network().partitions().size() > 1);
        std::map<std::int64_t, Asked> asked;
        std::vector<double> last(environment.simulation().topology().num_routers(), -1);
        std::size_t total = 0;
        play(environment, asked, [&](const Reports& reports) {
          for (std::size_t i = 0; i < reports.ids.size(); ++i) {
            CHECK(reports.times_ns[i] > last[static_cast<std::size_t>(reports.agents[i])]);
            if (i == 0) continue;
            const auto key = [&](std::size_t k) {
              return std::tuple{reports.times_ns[k], reports.agents[k], reports.ports[k]};
            };
            CHECK(key(i - 1) < key(i));
          }
          total += reports.ids.size();
          heard[threads - 1].push_back(reports.ids);
          DecisionBatch& batch = environment.batch();
          for (std::size_t i = 0; i < batch.size; ++i) {
            double& time = last[static_cast<std::size_t>(batch.agents.data()[i])];
            time = std::max(time, batch.times_ns.data()[i]);
          }
        });
        CHECK(total > 0);
      }
      CHECK(heard[0] == heard[1]);
    }
  }
}

TEST(reports_are_dropped_at_the_limit_and_not_kept_unless_asked_for) {
  for (const bool keeps : {true, false}) {
    SimulationSetup all = setup(kSmall, "arrival", 100 * kNs, 1, false);
    all.options.decisions->options["keep_feedback"] = keeps ? 1 : 0;
    all.options.decisions->options["most_uncollected_bytes"] = 5'000;
    RoutingEnvironment environment{std::move(all), 0, 2'000 * kNs};
    const std::uint32_t count = environment.plan().num_actions;
    CHECK(environment.advance(&always));
    while (!environment.done()) {
      std::vector<std::int64_t> actions;
      for (std::size_t i = 0; i < environment.batch().size; ++i) {
        actions.push_back(environment.batch().packets.data()[i].minimal_action);
        CHECK(actions.back() < count);
      }
      CHECK(!environment.take_answers(actions).has_value());
      environment.answer();
      CHECK(environment.advance(&always));
    }
    CHECK_EQ(environment.outcomes().reports_overflowed(), keeps);
    CHECK_EQ(environment.outcomes().reports(), 0U);
  }
}

}  // namespace
