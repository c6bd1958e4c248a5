// The whole network: partitions, the messages between them, and the windows in which they run.
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

// The reason why run() returned.
enum class RunEnd : std::uint8_t {
  kFinished,     // the target time was reached
  kInterrupted,  // keep_going() said no
  kDecisions,    // decisions must be made before time can go on
  kComplete,     // the workload has done everything
  kStuck,        // it has not, and nothing will ever happen again
};

// The end of a run.
enum class RunGoal : std::uint8_t { kTime, kCompletion };

class Network {
 public:
  explicit Network(std::unique_ptr<Blueprint> blueprint);

  // Runs everything up to and including the time `until`. `keep_going` is called between windows and may end
  // the run early (false); the network is then at an earlier time, in good order. Throws DeadlockError when
  // packets stopped moving. After kDecisions, call run() again with the same time when all pending decisions
  // are made. With kCompletion the run also ends when the workload is complete, at exactly the time of the
  // last completion, or when it can never be complete.
  RunEnd run(Tick until, const std::function<bool()>& keep_going, RunGoal goal = RunGoal::kTime);
  // From now on packets are routed from outside (Blueprint::decisions).
  void start_external();
  // Selects the packets whose decisions an outside policy makes from now on. Precondition: a background
  // policy.
  void select(const PacketSelection& requested);
  void stop_generating();
  // Between windows: packets that partitions have sent to each other are in those where they will arrive. The
  // run goes on as it would have.
  void receive_messages();
  // Between runs: replaces the deciding policy. Throws ConfigError, see Blueprint.
  void replace_policy(const std::string& name, RoutingPolicy& policy) {
    plan_->deciders.replace(name, policy);
  }

  // Between runs: a further one, for jobs. Throws ConfigError, see Blueprint.
  std::uint8_t add_policy(const JobPolicy& policy) { return plan_->deciders.add(policy); }
  // Between runs: replaces the policies of packets that hosts of a job send from now on; packets that have
  // left their source queues keep the earlier policies. Throws ConfigError.
  void set_job_policies(std::uint32_t job, const JobPolicies& policies);

  [[nodiscard]] Tick now() const noexcept { return now_; }
  // The time of the partition that is ahead of the others, while decisions are pending.
  [[nodiscard]] Tick clock() const noexcept;
  [[nodiscard]] const Blueprint& blueprint() const noexcept { return *plan_; }
  [[nodiscard]] std::vector<Partition>& partitions() noexcept { return partitions_; }
  [[nodiscard]] const std::vector<Partition>& partitions() const noexcept { return partitions_; }
  [[nodiscard]] std::uint64_t in_network() const noexcept;
  // The time up to which the generated packets of the partition's hosts are counted.
  [[nodiscard]] Tick counted_until(const Partition& partition) const noexcept {
    return in_window_ ? partition.clock() : now_;
  }
  [[nodiscard]] SourceQueue source_queues();
  // The time that all packets together have spent in the system from time 0 to `now_ps`, source queues
  // included, modulo 2^64: exact at the end of a run.
  [[nodiscard]] std::uint64_t packet_time_ps(TimePs now_ps);
  // Whether a closed-loop run is complete: all tasks finished and all messages delivered.
  [[nodiscard]] bool complete() const noexcept;
  // Packets delivered since the start, and the time of the last delivery.
  [[nodiscard]] std::uint64_t delivered_ever() const noexcept;
  [[nodiscard]] Tick last_delivery() const noexcept;
  // The time of completion, or else of the latest progress of the workload.
  [[nodiscard]] Tick last_progress() const noexcept;
  // Number of unfinished tasks, and the reason why the first of them waits.
  [[nodiscard]] std::string describe_unfinished() const;
  // The state of all partitions and of the messages between them (core/archive.hpp), read into a network that
  // was just made of the same plan.
  void archive(Archive& archive);
  // Throws std::runtime_error with a report if any count of packets or credits does not add up.
  void check_invariants();

 private:
  // Opens a window, or goes on with the present one, on all partitions; whether they all reached its end.
  // With kCompletion the window ends at the time at which the workload is complete.
  bool run_window(Tick until, RunGoal goal);
  // Latest end of the partitions that have completed the workload, after all others have stopped.
  [[nodiscard]] Tick end_of_those_done();
  // Whether nothing will ever happen again.
  [[nodiscard]] bool over() const noexcept;
  // Whether messages wait that cause events; acknowledgements do not count, as only the next decision reads
  // them.
  [[nodiscard]] bool messages_wait() const noexcept;
  [[nodiscard]] std::optional<RunEnd> ended(RunGoal goal) const noexcept;
  // While no packet and no credit is in flight nothing can happen before the next message of a host.
  void skip_silence(Tick until);
  // Applies the events of links, and the notices of them, that are due before the next window.
  void change_links();
  [[nodiscard]] Tick next_change() const noexcept;
  void watch();

  std::unique_ptr<Blueprint> plan_;
  std::vector<Partition> partitions_;
  std::vector<Stop> stops_;  // [partition], in the present window
  WorkerPool pool_;
  bool in_window_ = false;
  Tick window_end_ = 0;
  Tick now_ = 0;       // all events at and before this time have happened
  Tick started_ = -1;  // windows have run up to and including this time
  Tick last_watch_ = 0;
  std::uint32_t changed_ = 0;  // changes of links that have been applied
  Watchdog watchdog_;
};

}  // namespace dragonfly
