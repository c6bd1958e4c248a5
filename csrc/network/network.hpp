// The whole network: partitions, the mail between them, and the windows in which they run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/blueprint.hpp"
#include "network/partition.hpp"
#include "network/watchdog.hpp"
#include "network/worker_pool.hpp"

namespace dragonfly {

// Why a run came back.
enum class RunEnd : std::uint8_t {
  kFinished,     // the instant was reached
  kInterrupted,  // keep_going() said no
  kAsked,        // decisions must be answered before time can go on
  kComplete,     // the workload has done everything
  kStuck,        // it has not, and nothing will ever happen again
};

// Where a run ends before its instant.
enum class RunGoal : std::uint8_t { kInstant, kCompletion };

class Network {
 public:
  explicit Network(std::unique_ptr<Blueprint> blueprint);

  // Runs everything up to and including the instant `until`. `keep_going` is asked between windows
  // and may end the run early (false); the network is then at an earlier instant, in good order.
  // Throws DeadlockError when packets stopped moving. After kAsked it is called again, with the same
  // instant, when all decisions on the desks are answered.
  // With kCompletion it ends, too, when the workload is complete, at exactly the time of the last completion,
  // or when it never will be.
  RunEnd run(Tick until, const std::function<bool()>& keep_going, RunGoal goal = RunGoal::kInstant);
  // From now on packets are routed from outside (Blueprint::decisions).
  void start_asking();
  // With a background policy: whose decisions come to the desks from now on, beside it.
  void want(const WantedPackets& wanted);
  void stop_generating();
  // Between windows: packets that partitions have sent to each other are in those where they will arrive. The
  // run goes on as it would have.
  void take_in_mail();
  // Between runs: who decides from now on. Throws ConfigError, see Blueprint.
  void replace_policy(const std::string& name, RoutingPolicy& policy) { plan_->replace_policy(name, policy); }

  // Between runs: a further one, for jobs. Throws ConfigError, see Blueprint.
  std::uint8_t add_policy(const JobPolicy& policy) { return plan_->add_policy(policy); }
  // Between runs: what hosts of a job send from now on is routed by these policies; what has left their
  // source queues stays with those that it had. Throws ConfigError.
  void set_job_policies(std::uint32_t job, const JobPolicies& policies);

  [[nodiscard]] Tick now() const noexcept { return now_; }
  // The same while decisions are asked: how far the partition has got that is ahead of the others.
  [[nodiscard]] Tick clock() const noexcept;
  [[nodiscard]] const Blueprint& blueprint() const noexcept { return *plan_; }
  [[nodiscard]] std::vector<Partition>& partitions() noexcept { return partitions_; }
  [[nodiscard]] const std::vector<Partition>& partitions() const noexcept { return partitions_; }
  [[nodiscard]] std::uint64_t in_network() const noexcept;
  // Up to this time the packets that hosts of the partition have generated are counted.
  [[nodiscard]] Tick counted_until(const Partition& partition) const noexcept {
    return in_window_ ? partition.clock() : now_;
  }
  [[nodiscard]] SourceQueue source_queues();
  // The time that all packets together have spent in the system from time 0 to `now_ps`, source queues
  // included, modulo 2^64: exact if that is the end of a run.
  [[nodiscard]] std::uint64_t packet_time_ps(TimePs now_ps);
  // Of a closed-loop run. All tasks are finished and all messages delivered:
  [[nodiscard]] bool complete() const noexcept;
  // When that came true, or the latest progress towards it.
  [[nodiscard]] Tick last_progress() const noexcept;
  // How many tasks are not finished, and what the first of them waits for.
  [[nodiscard]] std::string describe_unfinished() const;
  // The state of all partitions and of what is between them (core/archive.hpp), read into a network that was
  // just made of the same plan.
  void archive(Archive& archive);
  // Throws std::runtime_error with a report if any count of packets or credits does not add up.
  void check_invariants();

 private:
  // Opens a window, or goes on with the present one, on all partitions; whether they all reached its end.
  // With kCompletion the window ends at the time at which the workload is complete.
  bool run_window(Tick until, RunGoal goal);
  // How far partitions may go that are done with the workload, once the others have stopped.
  [[nodiscard]] Tick end_of_those_done();
  // Whether nothing will ever happen again.
  [[nodiscard]] bool over() const noexcept;
  // Of what makes anything happen: acknowledgements are heard whenever somebody decides next.
  [[nodiscard]] bool mail_waits() const noexcept;
  [[nodiscard]] std::optional<RunEnd> ended(RunGoal goal) const noexcept;
  // While no packet and no credit is under way nothing can happen before the next message of a host.
  void skip_silence(Tick until);
  void watch();

  std::unique_ptr<Blueprint> plan_;
  std::vector<Partition> partitions_;
  std::vector<Stop> stops_;  // [partition], in the present window
  WorkerPool pool_;
  bool in_window_ = false;
  Tick window_end_ = 0;
  Tick now_ = 0;       // everything at and before this instant has happened
  Tick started_ = -1;  // windows have run up to and including this instant
  Tick last_watch_ = 0;
  Watchdog watchdog_;
};

}  // namespace dragonfly
