// A network that an outside policy routes: runs to its next decisions, shows them, applies the actions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulation/decision_batch.hpp"
#include "simulation/decision_order.hpp"
#include "simulation/outcomes.hpp"
#include "simulation/simulation.hpp"

namespace dragonfly {

class ControlledNetwork {
 public:
  // `setup.options.decisions` must be set. Throws ConfigError.
  ControlledNetwork(SimulationSetup setup, TimePs warmup_ps, TimePs duration_ps);

  // Runs to the next decisions, or to the end; at once if decisions wait. Returns false if `keep_going` said
  // no; it is then called again. Throws DeadlockError.
  bool advance(const std::function<bool()>& keep_going);
  // Number of pending decisions.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  // Writes them into the rows of `batch` from `row` on, which has the room; ordered by decision id.
  void write(DecisionBatch& batch, std::size_t row);
  // Hands out actions to the partitions of all pending decisions, in the order of their rows. Precondition:
  // the actions are legal.
  void hand_out(const std::int32_t* actions);

  // Whether there is a background policy (Blueprint::background), which makes all other decisions. Packets at
  // their source routers are shown, one of which may be followed; then only decisions about that packet are
  // pending, and advance() also returns when its decision is completed.
  [[nodiscard]] bool has_background() const noexcept { return has_background_; }
  // Leaves the pending decisions to the background policy, and goes on to other packets at their source
  // routers.
  void seek();
  // The packet of this row, which is the only row from now on.
  void follow(std::size_t row);
  // The time of the earliest open decision, wanted or not.
  [[nodiscard]] std::optional<double> first_decision_ns();

  // Goes on for a time after the end. Precondition: done(), not drained.
  void extend(TimePs duration_ps);
  // The end of the episode, unless it is drained.
  [[nodiscard]] TimePs end_ps() const noexcept { return target_ps_; }
  // No further packets; the run then ends when the last one is delivered. Once, when done(). If it cannot end
  // by `latest_ps`, advance() stops before that time and throws ConfigError with the message `refusal`, each
  // time.
  void begin_drain(TimePs latest_ps, std::string refusal);
  [[nodiscard]] bool done() const noexcept { return done_; }

  [[nodiscard]] Simulation& simulation() noexcept { return simulation_; }
  [[nodiscard]] const Simulation& simulation() const noexcept { return simulation_; }
  [[nodiscard]] const DecisionPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] Outcomes& outcomes() noexcept { return outcomes_; }

  // Uniform numbers in [0, 1) that belong to the decisions of these packets, `each` per packet.
  void draw(std::span<const PacketFacts> packets, std::uint32_t each, double* into) const;
  // Columns of the state of all routers: occupancy of each port, the columns of Outcomes::read_load(), and
  // the share of the episode that is over.
  [[nodiscard]] std::uint32_t state_width() const noexcept {
    return simulation_.topology().radix() + 2 + simulation_.topology().num_groups() + 1;
  }
  // num_routers rows of state_width() numbers.
  void read_state(float* into);

  // Between two calls of advance(), read into a network that was just made of the same setup.
  void archive(Archive& archive);

 private:
  // Whether any decision has been raised since the last were made, wanted or not.
  [[nodiscard]] bool waits();
  void clear_pending_decisions();
  void order_waiting();

  Simulation simulation_;
  const DecisionPlan& plan_;
  const bool has_background_;
  Outcomes outcomes_;
  std::uint64_t seed_;
  TimePs warmup_ps_;
  TimePs target_ps_;
  TimePs latest_ps_ = INT64_MAX;  // end of a drain
  std::string refusal_;
  DecisionOrder waiting_;              // pending decisions, in the order of their rows
  std::vector<std::int32_t> actions_;  // scratch: actions by partition
  bool warm_ = false;
  bool draining_ = false;
  std::atomic<bool> done_ = false;  // may be read while another thread is in advance()
};

}  // namespace dragonfly
