// Networks whose packets an outside policy routes, in one batch: decisions, actions, transitions.
//
// The networks are independent: each gets as far as it does alone. A batch holds the next decisions of all of
// them, and threads share them out as they share out the partitions of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "network/worker_pool.hpp"
#include "simulation/controlled_network.hpp"
#include "simulation/log_probabilities.hpp"

namespace dragonfly {

class RoutingEnvironment {
 public:
  // A single network, with its own threads. `setup.options.decisions` must be set. Throws ConfigError.
  RoutingEnvironment(SimulationSetup setup, TimePs warmup_ps, TimePs duration_ps);
  // Takes at least one setup; several share out `threads`. Throws ConfigError, also if their decisions
  // do not have the same columns and actions.
  RoutingEnvironment(std::vector<SimulationSetup> setups, TimePs warmup_ps, TimePs duration_ps,
                     std::uint32_t threads);

  // Runs to the next decisions of every network, or to its end. Returns false if `keep_going` said no; it is
  // then called again. Throws DeadlockError.
  bool advance(const std::function<bool()>& keep_going);
  // Takes the action for a row of the batch, or in place of an illegal action the minimal one; returns
  // whether the action was legal. An action that is taken later for the same row replaces it.
  bool take_action(std::size_t row, std::int64_t action) noexcept;
  // Ends the batch: advance() applies its actions to the networks. Precondition: every row has an action.
  void commit_actions();
  // Calls for a single network with a background policy; see ControlledNetwork.
  [[nodiscard]] bool has_background() const noexcept { return networks_.front()->has_background(); }
  void seek();
  void follow(std::size_t row);  // row of the batch

  // Goes on for a time after the end. Precondition: done(), not drained.
  void extend(TimePs duration_ps);
  // The end of the episode, unless it is drained.
  [[nodiscard]] TimePs end_ps() const noexcept { return networks_.front()->end_ps(); }
  // Begins the drain of all networks; see ControlledNetwork.
  void begin_drain(TimePs latest_ps = INT64_MAX, const std::string& refusal = {});

  // Whether all networks are at their end. One that gets there earlier waits for the others.
  [[nodiscard]] bool done() const noexcept;
  [[nodiscard]] DecisionBatch& batch() noexcept { return batch_; }
  // The first row of a network in the batch; its last one is before first_row(i + 1).
  [[nodiscard]] std::size_t first_row(std::uint32_t i) const noexcept { return first_row_[i]; }
  // Log-probabilities of the decisions of a network that rollouts made (rollout.hpp).
  [[nodiscard]] LogProbabilities& log_probabilities(std::uint32_t i) noexcept {
    return log_probabilities_[i];
  }
  // Number of batches with committed actions: shows whether a batch is still the present one.
  [[nodiscard]] std::uint64_t num_batches() const noexcept { return num_batches_; }
  [[nodiscard]] std::uint32_t num_networks() const noexcept {
    return static_cast<std::uint32_t>(networks_.size());
  }
  [[nodiscard]] ControlledNetwork& network(std::uint32_t i) noexcept { return *networks_[i]; }
  [[nodiscard]] const ControlledNetwork& network(std::uint32_t i) const noexcept { return *networks_[i]; }
  // The first network's simulation. The settings of decisions are the same in all networks.
  [[nodiscard]] Simulation& simulation() noexcept { return networks_.front()->simulation(); }
  [[nodiscard]] const DecisionPlan& plan() const noexcept { return networks_.front()->plan(); }
  [[nodiscard]] Outcomes& outcomes() noexcept { return networks_.front()->outcomes(); }
  // The time of the earliest pending decision, or, if there is none, of the network that is behind all others
  // that go on.
  [[nodiscard]] double time_ns();

  // Uniform numbers in [0, 1) that belong to the decisions of the batch: `each` per row.
  void draw(double* into, std::uint32_t each) const;
  // Calls task(i) for every network; threads share them out.
  void each_network(const std::function<void(std::uint32_t)>& task);
  // Runs a task for each network of the batch: threads share the work if there are many rows.
  void each_network_of_batch(const std::function<void(std::uint32_t)>& task);

  // Between two calls of advance(), read into an environment that was just made of the same setups.
  void archive(Archive& archive);

 private:
  bool run(const std::function<bool()>& keep_going);
  void collect();

  std::vector<std::unique_ptr<ControlledNetwork>> networks_;
  std::vector<std::size_t> first_row_;     // [network], in the batch; and where it ends
  std::vector<std::uint8_t> unapplied_;    // [network]: its actions are taken, and not applied yet
  std::vector<std::uint8_t> interrupted_;  // [network]: it is between two batches
  DecisionBatch batch_;
  std::uint64_t num_batches_ = 0;
  std::vector<std::int32_t> actions_;                // [row of the batch]
  std::vector<LogProbabilities> log_probabilities_;  // [network]
  WorkerPool pool_;
};

}  // namespace dragonfly
