// One run: a topology, a network, traffic and a policy, advanced in simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metrics/statistics.hpp"
#include "network/network.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

// A policy that jobs bring along (Job::policies).
struct PolicyChoice {
  std::string field;  // for messages
  std::string name;
  Parameters parameters;
};

struct SimulationSetup {
  std::shared_ptr<const Dragonfly> topology;
  std::shared_ptr<const TrafficSource> source;
  std::shared_ptr<const Workload> workload{};  // null: open loop
  NetworkParams network;
  std::string policy = "min";
  Parameters policy_parameters;
  std::vector<PolicyChoice> job_policies;
  std::optional<PolicyChoice> background{};  // Blueprint::background
  std::uint32_t threads = 1;
  NetworkOptions options;
};

// What a run takes of a machine, known without building its network.
struct Requirements {
  VcCounts vcs;                         // that the paths of its policies need
  std::uint32_t partitions = 0;         // that run on their own
  std::uint64_t network_bytes = 0;      // before the first packet
  std::uint64_t most_packet_bytes = 0;  // when every buffer is full
};

// Throws ConfigError as the constructor of `Simulation` does.
[[nodiscard]] Requirements requirements_of(const SimulationSetup& setup);

// The virtual channels that the paths of a policy need on a topology.
[[nodiscard]] VcCounts required_vcs(const Dragonfly& topology, const RoutingPolicy& policy, VcScheme scheme);

class Simulation {
 public:
  explicit Simulation(SimulationSetup setup);  // throws ConfigError

  // `keep_going` is asked often and may end the call early with `false`.
  // Both return whether they got to the end. Both throw DeadlockError.
  bool run(TimePs duration_ps, const std::function<bool()>& keep_going);
  // The same up to an instant, for a network that is routed from outside: after kAsked the decisions on
  // the desks have to be answered, then it goes on.
  [[nodiscard]] RunEnd run_until(TimePs target_ps, const std::function<bool()>& keep_going,
                                 RunGoal goal = RunGoal::kInstant);
  // Until the workload is complete, at most `max_ps`: kFinished then says that this time is over. Throws
  // StateError if it never will be, naming what waits; or without a workload.
  RunEnd run_to_completion(TimePs max_ps, const std::function<bool()>& keep_going);
  // The share of all packets of the workload that are delivered, 0 to 1. Throws StateError without one.
  [[nodiscard]] double progress() const;
  void stop_generating();
  // Stops generating and runs until nothing is under way any more, at most `max_ps`.
  bool drain(TimePs max_ps, const std::function<bool()>& keep_going);
  // Whether anything waits in a source queue or is under way.
  [[nodiscard]] bool empty();

  // Decisions from now on are this policy's. Throws ConfigError, and changes nothing, for an unknown policy
  // or one that needs other paths or decisions than the present one.
  void set_policy(const std::string& name, const Parameters& parameters);
  // Makes another policy known to the run, for jobs, and returns its number (Job::policies). Throws
  // ConfigError if it needs what the network was not made for, or if there are too many.
  std::uint8_t add_policy(const PolicyChoice& choice);

  // `ends_warmup`: what was generated so far is not counted when it arrives, either.
  void reset_statistics(bool ends_warmup = false);
  [[nodiscard]] Statistics statistics();
  [[nodiscard]] Totals totals();
  // Less of it: what ports, hosts and jobs did.
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] std::vector<LoggedPacket> take_packet_log();
  [[nodiscard]] TimePs time_ps() const noexcept { return time_ps_; }
  [[nodiscard]] std::uint64_t trace_hash() const;
  [[nodiscard]] std::uint32_t num_partitions() const noexcept {
    return network_->blueprint().num_partitions();
  }
  [[nodiscard]] const Dragonfly& topology() const noexcept { return *setup_.topology; }
  // Null: open loop.
  [[nodiscard]] const Workload* workload() const noexcept { return setup_.workload.get(); }
  [[nodiscard]] TimePs ps_of(Tick tick) const noexcept { return network_->blueprint().to_ps(tick); }
  // The policy, if it is one that learns; null for others.
  [[nodiscard]] LearningPolicy* learner() noexcept { return policy_->learner(); }
  [[nodiscard]] Network& network() noexcept { return *network_; }
  void check_invariants() { network_->check_invariants(); }

 private:
  [[nodiscard]] TimePs counted_until_ps() const;

  SimulationSetup setup_;
  std::unique_ptr<RoutingPolicy> policy_;
  std::vector<std::unique_ptr<RoutingPolicy>> job_policies_;
  std::unique_ptr<RoutingPolicy> background_;  // may be null
  std::unique_ptr<Network> network_;
  TimePs time_ps_ = 0;
  bool stopped_ = false;  // generators and programs
  StatisticsBase base_{};
};

}  // namespace dragonfly
