#include "simulation/simulation.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "network/memory_need.hpp"
#include "routing/minimal_ports.hpp"

namespace dragonfly {

namespace {

std::unique_ptr<RoutingPolicy> policy_of(const SimulationSetup& setup, const std::string& name,
                                         const Parameters& parameters) {
  return make_policy(name, parameters,
                     {.avoid_destination_group = setup.network.nonminimal_avoid_destination_group,
                      .compares_vcs = setup.network.congestion_metric == "vc",
                      .own_global_links = setup.topology->hosts_meet_global_links()});
}

std::unique_ptr<RoutingPolicy> background_policy(const SimulationSetup& setup) {
  if (!setup.background) return nullptr;
  const PolicyChoice& given = *setup.background;
  const auto refuse = [&given](const char* allowed) {
    return ConfigError{given.field, "'" + given.name + "'", allowed};
  };
  if (!setup.options.decisions) throw refuse("left out where no outside policy decides");
  auto policy = policy_of(setup, given.name, given.parameters);
  if (policy->learner() != nullptr) throw refuse("a policy that does not learn");
  const EnvironmentSpec& spec = *setup.options.decisions;
  if (spec.action == ActionMode::kPort && policy->scope() == DecisionScope::kNowhere) {
    return std::make_unique<MinimalPorts>(spec.max_hops);
  }
  if (policy->budget().any_port != spec.budget().any_port) {
    throw refuse("a policy whose actions are those of the environment: ports or paths");
  }
  return policy;
}

// `of_jobs` keeps the policies that jobs bring along.
std::unique_ptr<Blueprint> make_blueprint(const SimulationSetup& setup, RoutingPolicy& policy,
                                          std::vector<std::unique_ptr<RoutingPolicy>>& of_jobs,
                                          RoutingPolicy* background) {
  std::vector<JobPolicy> others;
  for (const PolicyChoice& choice : setup.job_policies) {
    of_jobs.push_back(policy_of(setup, choice.name, choice.parameters));
    others.push_back({.field = choice.field, .name = choice.name, .policy = of_jobs.back().get()});
  }
  std::vector<std::unique_ptr<RoutingPolicy>> kept;
  std::vector<JobPolicy> later;
  for (const PolicyChoice& choice : setup.later_policies) {
    kept.push_back(policy_of(setup, choice.name, choice.parameters));
    later.push_back({.field = choice.field, .name = choice.name, .policy = kept.back().get()});
  }
  return std::make_unique<Blueprint>(*setup.topology, setup.network, policy, *setup.source, setup.options,
                                     setup.workload.get(), others, background, later);
}

// A window may end after the last delivery, and windows depend on how a run is cut into pieces. So a trace is
// complete at the next multiple of a fixed time.
constexpr TimePs kTraceStepPs = 1'000'000;

}  // namespace

Simulation::Simulation(SimulationSetup setup)
    : setup_{std::move(setup)},
      policy_{policy_of(setup_, setup_.policy, setup_.policy_parameters)},
      background_{background_policy(setup_)},
      network_{
          std::make_unique<Network>(make_blueprint(setup_, *policy_, job_policies_, background_.get()))} {}

Requirements requirements_of(const SimulationSetup& setup) {
  const auto policy = policy_of(setup, setup.policy, setup.policy_parameters);
  const auto background = background_policy(setup);
  std::vector<std::unique_ptr<RoutingPolicy>> of_jobs;
  const auto blueprint = make_blueprint(setup, *policy, of_jobs, background.get());
  require_memory(*blueprint);
  return {.vcs = blueprint->paths.ladder().required(),
          .partitions = blueprint->num_partitions(),
          .network_bytes = memory_need(*blueprint).total(),
          .most_packet_bytes = std::uint64_t{blueprint->most_packets()} * PacketStore::bytes_per_packet()};
}

VcCounts required_vcs(const Dragonfly& topology, const RoutingPolicy& policy, VcScheme scheme) {
  const LocalHops& local_hops = topology.longest_local();
  return VcLadder{scheme, policy.budget().with_local_paths(local_hops), local_hops.vcs}.required();
}

bool Simulation::run(TimePs duration_ps, const std::function<bool()>& keep_going) {
  return run_until(time_ps_ + duration_ps, keep_going) == RunEnd::kFinished;
}

RunEnd Simulation::run_until(TimePs target_ps, const std::function<bool()>& keep_going, RunGoal goal) {
  const TimePs quantum = network_->blueprint().timing.quantum_ps;
  const RunEnd end = network_->run(target_ps / quantum, keep_going, goal);
  // An interrupted run ends where the network got to.
  time_ps_ = end == RunEnd::kFinished ? target_ps : std::max(time_ps_, network_->now() * quantum);
  return end;
}

RunEnd Simulation::run_to_completion(TimePs max_ps, const std::function<bool()>& keep_going) {
  if (workload() == nullptr) return run_to_last_delivery(max_ps, keep_going);
  if (stopped_ && !network_->complete()) {
    throw StateError{"the programs of the workload were stopped by drain(): " +
                     network_->describe_unfinished()};
  }
  const RunEnd end = run_until(time_ps_ + max_ps, keep_going, RunGoal::kCompletion);
  if (end == RunEnd::kStuck) {
    throw StateError{"the workload can never complete, as nothing is in flight: " +
                     network_->describe_unfinished()};
  }
  return end;
}

RunEnd Simulation::run_to_last_delivery(TimePs max_ps, const std::function<bool()>& keep_going) {
  const auto end = setup_.source->end();
  if (!end) throw StateError{"open-loop traffic has no end"};
  if (is_cut_off(*end)) throw StateError{"the messages of the trace were stopped by drain()"};
  const TimePs limit = time_ps_ + max_ps;
  while (trace_end_ps() < 0) {
    if (time_ps_ >= limit) return RunEnd::kFinished;
    const TimePs next = (std::max(time_ps_, end->last_ps) / kTraceStepPs + 1) * kTraceStepPs;
    if (run_until(std::min(next, limit), keep_going) == RunEnd::kInterrupted) return RunEnd::kInterrupted;
  }
  return RunEnd::kComplete;
}

bool Simulation::is_cut_off(const SourceEnd& end) const {
  return stopped_ && network_->delivered_ever() < end.packets;
}

TimePs Simulation::trace_end_ps() {
  const auto end = setup_.source->end();
  if (workload() != nullptr || !end || is_cut_off(*end)) return -1;
  if (time_ps_ < end->last_ps || !empty()) return -1;
  const TimePs last = ps_of(network_->last_delivery());
  return time_ps_ < (last + kTraceStepPs - 1) / kTraceStepPs * kTraceStepPs ? -1 : last;
}

double Simulation::progress() const {
  if (workload() == nullptr) {
    const auto end = setup_.source->end();
    if (!end) throw StateError{"open-loop traffic has no end"};
    if (end->packets == 0) return 1.0;
    return static_cast<double>(network_->delivered_ever()) / static_cast<double>(end->packets);
  }
  const auto workload = collect_workload(*network_);
  if (workload->packets_total == 0) return network_->complete() ? 1.0 : 0.0;
  return static_cast<double>(workload->packets_delivered) / static_cast<double>(workload->packets_total);
}

void Simulation::stop_generating() {
  stopped_ = true;
  network_->stop_generating();
}

bool Simulation::empty() { return network_->in_network() == 0 && network_->source_queues().packets == 0; }

bool Simulation::drain(TimePs max_ps, const std::function<bool()>& keep_going) {
  stop_generating();
  const Timing& timing = network_->blueprint().timing;
  const TimePs limit = time_ps_ + max_ps;
  const TimePs slice = timing.lookahead * timing.quantum_ps;
  while (!empty() && time_ps_ < limit) {
    if (!run(std::min(slice, limit - time_ps_), keep_going)) return false;
  }
  return true;
}

void Simulation::resync_source() {
  for (Partition& partition : network_->partitions()) {
    partition.resync_source(counted_until_ps() / network_->blueprint().timing.quantum_ps);
  }
}

void Simulation::archive(Archive& archive) {
  archive(time_ps_, stopped_, base_);
  if (LearningPolicy* const learning = learner()) archive(*learning);
  archive(*network_);
}

void Simulation::set_policy(const std::string& name, const Parameters& parameters) {
  auto policy = policy_of(setup_, name, parameters);
  network_->replace_policy(name, *policy);
  policy_ = std::move(policy);
}

std::uint8_t Simulation::add_policy(const PolicyChoice& choice) {
  auto policy = policy_of(setup_, choice.name, choice.parameters);
  const std::uint8_t number =
      network_->add_policy({.field = choice.field, .name = choice.name, .policy = policy.get()});
  job_policies_.push_back(std::move(policy));
  return number;
}

void Simulation::reset_statistics() {
  base_ = read_base(*network_, counted_until_ps());
  for (Partition& partition : network_->partitions()) {
    partition.reset_statistics(std::max(network_->now(), partition.clock()));
  }
}

Statistics Simulation::statistics() {
  Statistics s = collect_statistics(*network_, base_, counted_until_ps());
  const TimePs middle_ps = s.start_ps + (s.now_ps - s.start_ps) / 2;
  if (setup_.workload == nullptr && !stopped_) s.offered = setup_.source->offered(middle_ps, s.now_ps);
  s.trace_end_ps = trace_end_ps();
  return s;
}

Totals Simulation::totals() { return collect_totals(*network_, base_, counted_until_ps()); }
Counters Simulation::counters() const { return collect_counters(*network_, base_, counted_until_ps()); }

TimePs Simulation::counted_until_ps() const {
  return std::max(time_ps_, network_->clock() * network_->blueprint().timing.quantum_ps);
}

std::vector<LoggedPacket> Simulation::take_packet_log() {
  std::vector<LoggedPacket> all;
  for (Partition& partition : network_->partitions()) {
    std::vector<LoggedPacket> part = partition.take_log();
    std::ranges::move(part, std::back_inserter(all));
  }
  std::ranges::sort(all, [](const LoggedPacket& x, const LoggedPacket& y) {
    return std::tie(x.delivered, x.source, x.number) < std::tie(y.delivered, y.source, y.number);
  });
  return all;
}

std::uint64_t Simulation::trace_hash() const {
  std::uint64_t sum = 0;
  for (const Partition& partition : network_->partitions()) sum += partition.trace_hash();
  return sum;
}

}  // namespace dragonfly
