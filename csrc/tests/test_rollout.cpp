// Rollouts: a network that decides in the core, in pieces of any length, and the log-probabilities of its
// decisions.
#include <cmath>
#include <memory>
#include <vector>

#include "simulation/rollout.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

constexpr TimePs kDuration = 3'000 * kNs;

neural::ScoringNetwork softmax(float weight, ActionMode action = ActionMode::kPath) {
  neural::NetworkDescription given;
  given.spec.action = action;
  given.per_action = true;
  given.temperature = 0.5F;
  given.features = {action == ActionMode::kPath ? "candidate_packets" : "queue_packets"};
  given.scales = {0};
  given.weights = {{1, 1, {weight}}};
  given.biases = {{1, 1, {0}}};
  return make_scoring_network(std::move(given));
}

std::vector<SimulationSetup> several() {
  std::vector<SimulationSetup> setups;
  for (const double load : {0.3, 0.9, 0.0001}) {
    SimulationSetup all = small_system(kSmall, "min", "adv+1", load);
    EnvironmentSpec spec = usual_decisions();
    spec.scope = DecisionScope::kSource;
    spec.action = ActionMode::kPath;
    spec.nonminimal_kinds = {NonMinimalKind::kLgl, NonMinimalKind::kG};
    all.options.decisions = spec;
    all.options.seed = setups.size() + 1;
    setups.push_back(std::move(all));
  }
  return setups;
}

std::vector<std::uint64_t> hashes(RoutingEnvironment& environment) {
  std::vector<std::uint64_t> found;
  for (std::uint32_t i = 0; i < environment.num_networks(); ++i) {
    found.push_back(environment.network(i).simulation().trace_hash());
  }
  return found;
}

std::size_t completed(RoutingEnvironment& environment) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < environment.num_networks(); ++i) {
    count += environment.network(i).outcomes().transitions();
  }
  return count;
}

TEST(a_rollout_is_the_same_run_in_one_piece_in_many_and_interrupted) {
  const neural::ScoringNetwork network = softmax(-3.0F);
  RoutingEnvironment whole{several(), 0, kDuration, 1};
  Rollout one{whole, network};
  CHECK(one.run(SIZE_MAX, &always));
  CHECK(whole.done());
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    RoutingEnvironment pieces{several(), 0, kDuration, threads};
    std::uint64_t decisions = 0;
    std::size_t wanted = 0;
    int spec = 0;
    const auto sometimes = [&spec] { return ++spec % 7 != 0; };
    while (!pieces.done()) {
      Rollout some{pieces, network};
      wanted += 200;
      while (!some.run(wanted, sometimes)) CHECK(!pieces.done());
      decisions += some.decisions();
      CHECK(pieces.done() || (completed(pieces) >= wanted && pieces.batch().size > 0));
    }
    CHECK(spec > 100);
    CHECK_EQ(decisions, one.decisions());
    CHECK(hashes(pieces) == hashes(whole));
  }
}

TEST(another_network_gives_another_run) {
  RoutingEnvironment one{several(), 0, kDuration, 1};
  RoutingEnvironment other{several(), 0, kDuration, 1};
  const neural::ScoringNetwork first = softmax(-3.0F);
  const neural::ScoringNetwork second = softmax(3.0F);
  CHECK(Rollout(one, first).run(SIZE_MAX, &always));
  CHECK(Rollout(other, second).run(SIZE_MAX, &always));
  CHECK(hashes(one)[0] != hashes(other)[0]);
  CHECK_THROWS(ConfigError, Rollout(one, softmax(1.0F, ActionMode::kPort)));
}

TEST(log_probabilities_are_taken_once_and_kept_until_then) {
  LogProbabilities logs;
  logs.add(7, -0.5F);
  logs.add(3, -1.0F);
  logs.add(5, -2.0F);
  std::vector<float> taken(3);
  logs.take(std::vector<std::int64_t>{3, 4, 7}, taken.data());
  CHECK_EQ(taken[0], -1.0F);
  CHECK(std::isnan(taken[1]));
  CHECK_EQ(taken[2], -0.5F);
  logs.add(4, -3.0F);
  const ArchiveBytes bytes = Archive::of(logs);
  Archive read{bytes.all()};
  LogProbabilities again;
  read(again);
  again.take(std::vector<std::int64_t>{3, 4, 5}, taken.data());
  CHECK(std::isnan(taken[0]));
  CHECK_EQ(taken[1], -3.0F);
  CHECK_EQ(taken[2], -2.0F);
}

}  // namespace
