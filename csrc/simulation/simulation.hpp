// A run: a topology, a network, traffic and a policy, advanced in simulated time.
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
  std::string field;  // name of the field in messages
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
  std::vector<PolicyChoice> later_policies{};  // policies that set_policy() may choose: Blueprint
  std::optional<PolicyChoice> background{};    // Blueprint::background
  NetworkOptions options;
};

// Memory and threads of a run, computed without building its network.
struct Requirements {
  VcCounts vcs;                         // VCs that the paths of its policies need
  std::uint32_t partitions = 0;         // partitions that run on their own
  std::uint64_t network_bytes = 0;      // bytes before the first packet
  std::uint64_t most_packet_bytes = 0;  // bytes of packets if every buffer is full
};

// Throws ConfigError as the constructor of `Simulation` does.
[[nodiscard]] Requirements requirements_of(const SimulationSetup& setup);

// The virtual channels that the paths of a policy need on a topology.
[[nodiscard]] VcCounts required_vcs(const Dragonfly& topology, const RoutingPolicy& policy, VcScheme scheme);

class Simulation {
 public:
  explicit Simulation(SimulationSetup setup);  // throws ConfigError

  // `keep_going` is called often and may end the call early with `false`.
  // Both return whether they got to the end. Both throw DeadlockError.
  bool run(TimePs duration_ps, const std::function<bool()>& keep_going);
  // Runs up to a time, for a network that an outside policy routes: after kDecisions the pending decisions
  // have to be made, then the run goes on.
  [[nodiscard]] RunEnd run_until(TimePs target_ps, const std::function<bool()>& keep_going,
                                 RunGoal goal = RunGoal::kTime);
  // Runs until the workload is complete, at most `max_ps`: kFinished then means that this time is over.
  // A trace is complete when all its messages are delivered. Throws StateError for traffic without an end,
  // and for a workload that can never be complete, naming what it waits for.
  RunEnd run_to_completion(TimePs max_ps, const std::function<bool()>& keep_going);
  // The delivered share of all packets of the workload or the trace, 0 to 1. Throws StateError for traffic
  // without an end.
  [[nodiscard]] double progress() const;
  void stop_generating();
  // Stops generating and runs until nothing is in flight any more, at most `max_ps`.
  bool drain(TimePs max_ps, const std::function<bool()>& keep_going);
  // Whether no packet waits in a source queue or is in flight.
  [[nodiscard]] bool empty();

  // Gives decisions to this policy from now on. Throws ConfigError, and changes nothing, for an unknown
  // policy or a policy that needs other paths or decisions than the present one.
  void set_policy(const std::string& name, const Parameters& parameters);
  // Adds another policy to the run, for jobs, and returns its number (Job::policies). Throws ConfigError if
  // the policy needs more than the network was made for, or if there are too many.
  std::uint8_t add_policy(const PolicyChoice& choice);

  // Call after archive() has read the state of a run that had another source up to now: messages not yet
  // generated come from this run's source.
  void resync_source();
  // Everything up to here has happened somewhere: while decisions are made outside, partitions may differ.
  [[nodiscard]] TimePs clock_ps() const { return counted_until_ps(); }

  void reset_statistics();
  [[nodiscard]] Statistics statistics();
  [[nodiscard]] Totals totals();
  // The part of the statistics on ports, hosts and jobs.
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
  // Between runs, as Network::archive().
  void archive(Archive& archive);
  void check_invariants() { network_->check_invariants(); }

 private:
  [[nodiscard]] TimePs counted_until_ps() const;
  RunEnd run_to_last_delivery(TimePs max_ps, const std::function<bool()>& keep_going);
  // Whether generators were stopped before all messages of a trace.
  [[nodiscard]] bool is_cut_off(const SourceEnd& end) const;
  // The last delivery of a trace; -1: there is none, or it is not complete.
  [[nodiscard]] TimePs trace_end_ps();

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
