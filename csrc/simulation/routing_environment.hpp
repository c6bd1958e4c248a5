// A simulation whose packets are routed from outside: batches of decisions, answers, transitions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "decisions/growing_buffer.hpp"
#include "simulation/outcomes.hpp"
#include "simulation/simulation.hpp"

namespace dragonfly {

// The decisions that are asked at present: one row each, ordered by partition, then by time. A reader
// may keep a buffer for longer than the environment; what it shows is then out of date.
struct DecisionBatch {
  std::size_t size = 0;
  GrowingBuffer<float> observations;   // [size * num_features]
  GrowingBuffer<std::uint8_t> mask;    // [size * num_actions]
  GrowingBuffer<std::int32_t> agents;  // router
  GrowingBuffer<std::int64_t> ids;
  GrowingBuffer<double> times_ns;
  GrowingBuffer<PacketFacts> packets;
  GrowingBuffer<Candidate> candidates;  // [size * num_candidates]
};

// An action that is not legal.
struct IllegalAnswer {
  std::size_t row = 0;
  std::int64_t action = 0;
};

class RoutingEnvironment {
 public:
  // `setup.options.decisions` must be set. Throws ConfigError.
  RoutingEnvironment(SimulationSetup setup, TimePs warmup_ps, TimePs duration_ps);

  // Runs to the next decisions, or to the end. Returns false if `keep_going` said no; it is then called
  // again. Throws DeadlockError.
  bool advance(const std::function<bool()>& keep_going);
  // Takes the answers to the batch: each is read once, checked and kept. Returns the first that is not legal,
  // if any; the batch then still waits. Precondition: as many actions as rows.
  [[nodiscard]] std::optional<IllegalAnswer> take_answers(std::span<const std::int64_t> actions);
  // Gives the network the answers that were taken. Precondition: all were legal.
  void answer();
  // With a background policy (Blueprint::background), to which all that is not answered is left. The batch
  // shows packets that ask their source router, of which one may be followed; then it is only ever asked
  // about that one, and advance() also comes back when that one's decision is completed.
  [[nodiscard]] bool has_background() const noexcept { return has_background_; }
  // Leaves what is asked now to it, and goes on to other packets at their source routers.
  void seek();
  // The packet of this row of the batch, which is the only row from now on.
  void follow(std::size_t row);
  // It decides about nothing any more: everything is asked outside from now on. What has been asked before is
  // left to it, but for the batch.
  void ask_outside();
  // Goes on for a time after the end. Precondition: done(), not drained.
  void extend(TimePs duration_ps);
  // Where the episode ends, unless it is drained.
  [[nodiscard]] TimePs end_ps() const noexcept { return target_ps_; }
  // No further packets; the run then ends when the last one is delivered. Once, when done(). If it cannot end
  // by `latest_ps`, advance() stops before that time and throws ConfigError with the message `refusal`, each
  // time.
  void begin_drain(TimePs latest_ps = INT64_MAX, std::string refusal = {});

  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] DecisionBatch& batch() noexcept { return batch_; }
  // How many batches have been answered: says whether a batch is still the present one.
  [[nodiscard]] std::uint64_t batches_answered() const noexcept { return batches_answered_; }
  [[nodiscard]] Simulation& simulation() noexcept { return simulation_; }
  [[nodiscard]] const DecisionPlan& plan() const noexcept { return plan_; }
  // The instant of the earliest decision, or, when none is asked, how far the network has got.
  [[nodiscard]] double time_ns();

  // Uniform numbers in [0, 1) that belong to the decisions of the batch: `each` per row.
  void draw(double* into, std::uint32_t each) const;
  [[nodiscard]] Outcomes& outcomes() noexcept { return outcomes_; }
  // num_routers rows of radix numbers.
  void read_state(float* into);

 private:
  void collect();
  // Whether any decision has been raised since all were answered, wanted or not.
  [[nodiscard]] bool waits();
  void clear_desks();

  Simulation simulation_;
  const DecisionPlan& plan_;
  bool has_background_;
  Outcomes outcomes_;
  std::uint64_t seed_;
  TimePs warmup_ps_;
  TimePs target_ps_;
  TimePs latest_ps_ = INT64_MAX;  // of a drain
  std::string refusal_;
  bool warm_ = false;
  bool draining_ = false;
  std::atomic<bool> done_ = false;  // may be read while another thread is in advance()
  DecisionBatch batch_;
  std::uint64_t batches_answered_ = 0;
  std::vector<std::int32_t> answers_;
};

}  // namespace dragonfly
