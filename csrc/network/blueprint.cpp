#include "network/blueprint.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

namespace {

// A window is no longer than the look-ahead, nor than all hosts together need for so many packets: a
// run can only be interrupted between windows, and shall stop within a second.
constexpr Tick kPacketsPerWindow = 750'000;
// A partition of about so many hosts fits the caches next to the processor. With fewer hosts per partition,
// fewer events share the work for each time, and more packets cross between partitions. A network that fits
// as a whole is not cut for one thread. Several threads need enough partitions to share them out evenly, but
// no smaller ones than is worth while.
constexpr std::uint32_t kHostsPerPartition = 512;
constexpr std::uint32_t kHostsOfOnePartition = 1'100;
constexpr std::uint32_t kHostsWorthAThread = 256;
constexpr std::uint32_t kPartitionsPerThread = 4;
// Size if decisions come from outside: the smaller partitions are, the fewer decisions wait at the same time.
// All decisions that wait at the same time are one batch, so the number of threads must not matter.
constexpr std::uint32_t kHostsPerPartitionOutside = 600;

std::uint32_t usual_hosts_per_partition(std::uint32_t hosts, const NetworkOptions& options) {
  if (options.decisions) return kHostsPerPartitionOutside;
  if (options.threads > 1) {
    return std::clamp(hosts / (kPartitionsPerThread * options.threads), kHostsWorthAThread,
                      kHostsPerPartition);
  }
  return hosts <= kHostsOfOnePartition ? hosts : kHostsPerPartition;
}

PathBudget union_of(const PathBudget& x, const PathBudget& y) {
  return {.nonminimal = x.nonminimal || y.nonminimal,
          .intermediate_router = x.intermediate_router || y.intermediate_router,
          .reconsiders = x.reconsiders || y.reconsiders,
          .progressive = x.progressive || y.progressive,
          .local_nonminimal = x.local_nonminimal || y.local_nonminimal,
          .any_port = x.any_port || y.any_port,
          .longest_path = std::max(x.longest_path, y.longest_path)};
}

// Jobs may have any policies that share the rules by which VCs are numbered; there are then VCs for the paths
// of all of them. Learners receive reports about every hop of every packet, whichever policy routed it.
void require_same_rules(const RoutingPolicy& first, bool first_learns, const std::vector<JobPolicy>& others) {
  for (const JobPolicy& other : others) {
    if (other.policy->learner() != nullptr || first_learns) {
      throw ConfigError{
          other.field, "'" + other.name + "'",
          "must learn nothing, nor may the policy of the run, where jobs have different policies"};
    }
    if (other.policy->budget().any_port != first.budget().any_port) {
      throw ConfigError{
          other.field, "'" + other.name + "'",
          "must share the rules for virtual channels with the policy of the run: one of the two "
          "numbers them by hops, as it may take any port"};
    }
  }
}

std::vector<JobPolicy> all_of(const std::vector<JobPolicy>& some, const std::vector<JobPolicy>& others) {
  std::vector<JobPolicy> all = some;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

PathBudget needed_budget(const Dragonfly& topology, const RoutingPolicy& policy, const TrafficSource& source,
                         const NetworkOptions& options, const std::vector<JobPolicy>& others,
                         const RoutingPolicy* background) {
  const std::uint32_t local_hops = topology.local_path_hops();
  PathBudget budget = policy.budget().with_local_paths(local_hops);
  for (const JobPolicy& other : others) {
    budget = union_of(budget, other.policy->budget().with_local_paths(local_hops));
  }
  if (options.decisions) {
    const PathBudget needed = options.decisions->budget_on(topology);
    budget = options.warms_up ? union_of(budget, needed) : needed;
    if (background != nullptr) {  // its paths may be no candidates of the outside policy
      const PathBudget own = background->budget();
      budget = union_of(budget, own.any_port ? own : own.with_local_paths(local_hops));
    }
  }
  if (const RouteNeeds routes = source.route_needs(); routes.longest > 0) {
    budget.nonminimal = true;  // prescribed routes may take any non-minimal path
    budget.intermediate_router = true;
    budget.reconsiders = budget.reconsiders || routes.leaves_late;
    budget.local_nonminimal = budget.local_nonminimal || routes.local_nonminimal;
    budget.any_port = budget.any_port || routes.any_port || !topology.has_meshes();
    budget.longest_path = std::max(budget.longest_path, static_cast<std::uint8_t>(routes.longest));
  }
  return budget;
}

// Adds the trackers that the background policy needs.
void add_needs_of(const RoutingPolicy& background, std::vector<TrackerRequest>& all) {
  for (const TrackerRequest& requested : background.trackers()) {
    const auto running = std::ranges::find(all, requested.info, &TrackerRequest::info);
    if (running == all.end()) {
      all.push_back(requested);
    } else if (*running != requested) {
      throw ConfigError{"background", "'" + requested.info->name + "'",
                        "must have the parameters of this tracker that the policy has which routes the "
                        "warm-up: routers remember it once"};
    }
  }
}

// With the parameters given, else those that the policy has for it, else the defaults.
TrackerRequest tracker_of_feature(const TrackedFeature& feature, const DecisionSpec& spec,
                                  const std::vector<TrackerRequest>& of_policy) {
  const std::string& name = feature.tracker->name;
  if (const auto given = spec.trackers.find(name); given != spec.trackers.end()) {
    return request_tracker(name, given->second);
  }
  const auto own = std::ranges::find(of_policy, feature.tracker, &TrackerRequest::info);
  return own != of_policy.end() ? *own : request_tracker(name, Parameters{});
}

std::vector<TrackerRequest> needed_trackers(const RoutingPolicy& policy, const NetworkOptions& options,
                                            const std::vector<JobPolicy>& others,
                                            const RoutingPolicy* background) {
  const std::vector<TrackerRequest> of_policy = policy.trackers();
  std::vector<TrackerRequest> all;
  if (!options.decisions || options.warms_up) {
    all = of_policy;
    for (const JobPolicy& other : others) {
      for (const TrackerRequest& requested : other.policy->trackers()) {
        const auto running = std::ranges::find(all, requested.info, &TrackerRequest::info);
        if (running == all.end()) {
          all.push_back(requested);
        } else if (*running != requested) {
          throw ConfigError{other.field, "'" + other.name + "'",
                            "must have the parameters of '" + requested.info->name +
                                "' that other policies of this run have: routers remember it once"};
        }
      }
    }
  }
  if (!options.decisions) return all;
  if (background != nullptr) add_needs_of(*background, all);
  const DecisionSpec& spec = *options.decisions;
  for (const std::string& name : spec.tracked) {
    const TrackerRequest requested = tracker_of_feature(find_tracked_feature(name), spec, of_policy);
    const auto running = std::ranges::find(all, requested.info, &TrackerRequest::info);
    if (running == all.end()) {
      all.push_back(requested);
    } else if (*running != requested) {
      throw ConfigError{
          "trackers", "'" + requested.info->name + "'",
          "must have the parameters of the policy that routes the warm-up, or the other packets"};
    }
  }
  for (const auto& [name, parameters] : spec.trackers) {
    const TrackerInfo& info = find_tracker(name);
    if (std::ranges::find(all, &info, &TrackerRequest::info) == all.end()) {
      throw ConfigError{"trackers", "'" + name + "'", "must be one that a feature shows"};
    }
  }
  return all;
}

// Positions of the policy's trackers among the running ones; fewer if one of them does not run with the
// parameters that the policy needs.
std::vector<std::uint8_t> positions_in(const std::vector<TrackerRequest>& running,
                                       const RoutingPolicy& policy) {
  std::vector<std::uint8_t> positions;
  for (const TrackerRequest& request : policy.trackers()) {
    const auto at = std::ranges::find(running, request);
    if (at != running.end()) positions.push_back(static_cast<std::uint8_t>(at - running.begin()));
  }
  return positions;
}

std::uint8_t vc_count(const char* field, std::uint32_t given, std::uint8_t required) {
  if (given == 0) return required;
  if (given < required) {
    throw ConfigError{
        field, std::to_string(given),
        "at least " + std::to_string(required) + " for this policy and VC scheme (or 0: as needed)"};
  }
  return static_cast<std::uint8_t>(given);
}

// Null: each policy's own rule. A decision from outside is one step of a packet and is never taken back, so a
// head keeps it after a refusal.
std::optional<AfterRefusal> parse_after_refusal(const std::string& decide_at, bool decisions_from_outside) {
  if (decide_at == "attempt") return AfterRefusal::kNewPath;
  if (decide_at == "retry-same-paths") return AfterRefusal::kSamePath;
  if (decide_at == "by-policy" && !decisions_from_outside) return std::nullopt;
  return AfterRefusal::kKeep;
}

}  // namespace

Blueprint::Blueprint(const Dragonfly& topology_in, const NetworkParams& params, RoutingPolicy& policy_in,
                     const TrafficSource& source_in, const NetworkOptions& options_in,
                     const Workload* workload_in, const std::vector<JobPolicy>& job_policies,
                     RoutingPolicy* background_in, const std::vector<JobPolicy>& later)
    : topology{(require_same_rules(policy_in, policy_in.learner() != nullptr, all_of(job_policies, later)),
                topology_in)},
      learner{policy_in.learner()},
      source{source_in},
      workload{workload_in},
      options{options_in},
      links{link_params(params, topology_in)},
      timing{make_timing(params, links, source_in.step_ps())},
      paths{topology_in,
            VcLadder{parse_vc_scheme(params.vc_scheme),
                     needed_budget(topology_in, policy_in, source_in, options_in, all_of(job_policies, later),
                                   background_in),
                     topology_in.local_path_hops()},
            options_in.seed},
      shared_output{params.output_queue == "shared"},
      timed_start{params.link_start == "timer"},
      cut_through{params.switching == "cut-through"},
      decide_on_arrival{params.decide_at == "arrival"},
      after_refusal{parse_after_refusal(params.decide_at, options_in.decisions.has_value())},
      compares_vcs{params.congestion_metric == "vc"},
      arbitration{parse_arbitration(params.arbitration)},
      transit_first{params.arbitration.starts_with(kTransitFirst)},
      output_buffer{params.output_buffer_packets} {
  if (workload != nullptr && options.lose_when_full) {
    throw ConfigError{"source_queue_full", "'lose'",
                      "must be 'stall': what a program has sent is never lost"};
  }
  if (options.decisions && after_refusal != AfterRefusal::kKeep) {
    // A decision from outside is one step of a packet; there is no place for one that is taken back.
    throw ConfigError{"network.decide_at", "'" + params.decide_at + "'",
                      "must be 'arrival', 'head' or 'by-policy' where an outside policy decides"};
  }
  const std::size_t num_classes = topology.num_link_classes();
  for (std::size_t i = 0; i < num_classes; ++i) input_buffer[i] = links[i].buffer_packets;
  for (std::size_t i = 1; i + 1 < num_classes; ++i) {
    signal_delay = std::max(signal_delay, links[i].latency_ps / timing.quantum_ps);
  }
  signal_delay *= topology.local_path_hops();
  acknowledgement_delay = timing.lookahead + 2 * signal_delay;
  trackers = needed_trackers(policy_in, options, all_of(job_policies, later), background_in);
  if (topology.num_groups() >= kNoGroup) {
    throw ConfigError{"topology.g", std::to_string(topology.num_groups()),
                      "below 65535 groups in a simulation"};
  }
  const VcCounts required = paths.ladder().required();
  vcs[0] = 1;
  for (std::size_t i = 1; i < num_classes; ++i) {
    const bool global = i + 1 == num_classes;
    const std::string field =
        topology.has_meshes() ? std::string{global ? "network.global_vcs" : "network.local_vcs"}
                              : "network.links." + topology.class_name(static_cast<LinkClass>(i)) + ".vcs";
    vcs[i] = vc_count(field.c_str(), links[i].vcs, global ? required.global : required.local);
    queue_stride = std::max(queue_stride, std::uint32_t{vcs[i]});
  }

  number_ports();

  if (options.decisions) {
    decisions = std::make_unique<const DecisionPlan>(*options.decisions, paths, buffer_sizes(),
                                                     timing.quantum_ps, trackers);
  }
  add_deciders(policy_in, job_policies, background_in);
  scope = deciders.front().scope;

  if (learner != nullptr) {
    for (std::size_t i = 1; i < num_classes; ++i) {
      const Tick hop =
          timing.routing_delay + timing.crossbar_latency + timing.start_delay[i] + timing.hop_delay[i];
      hop_times[i] = {
          .latency_ps = links[i].latency_ps, .hop_ps = to_ps(hop), .packet_ps = links[i].packet_ps};
    }
  }

  window = std::clamp<Tick>(kPacketsPerWindow * timing.packet[0] / topology.num_hosts(), 1, timing.lookahead);

  const std::uint32_t usual = usual_hosts_per_partition(topology.num_hosts(), options);
  cut(options.hosts_per_partition > 0 ? options.hosts_per_partition : usual);
}

void Blueprint::number_ports() {
  const Port radix = static_cast<Port>(topology.radix());
  for (Port port = 0; port <= radix; ++port) {
    first_input_vc.push_back(static_cast<std::uint16_t>(input_vcs));
    if (port == radix) break;
    const LinkClass link = topology.port_class(port);
    for (std::uint8_t vc = 0; vc < vcs[index_of(link)]; ++vc) {
      input_index.push_back({.port = port, .vc = vc, .link_class = link});
    }
    input_vcs += vcs[index_of(link)];
  }
  if (input_vcs >= 0xffff) {
    throw ConfigError{"topology.radix", std::to_string(radix), "fewer than 65535 input VCs per router"};
  }
  for (std::size_t i = 1; i < kMostLinkClasses; ++i) buffer_behind[i] = input_buffer[i];
  by_service = arbitration == Arbitration::kLeastRecentlyServed && !transit_first;
  global_class = topology.global_class();
  single_paths = topology.has_single_paths();
  port_shift = static_cast<std::uint32_t>(std::bit_width(radix - 1U));
  input_shift = std::max(kFewInputVcsShift, static_cast<std::uint32_t>(std::bit_width(input_vcs - 1U)));
  ready_words = (input_vcs + 63) / 64;
  Tick longest = timing.crossbar_transfer;
  if (cut_through) longest = std::max({longest, timing.injection_packet, std::ranges::max(timing.packet)});
  if (longest > timing.clock || cut_through) {
    edge_depth =
        static_cast<std::uint32_t>(std::bit_ceil(static_cast<std::uint64_t>(longest / timing.clock) + 3));
  }
  single_cycle_crossbar = edge_depth == 1 && radix <= 64 && arbitration != Arbitration::kRoundRobin;
}

// Into partitions.
void Blueprint::cut(std::uint32_t hosts_per_partition) {
  const std::uint32_t groups = topology.num_groups();
  const std::uint32_t per_partition = std::max(1U, hosts_per_partition / topology.hosts_per_group());
  const std::uint32_t parts = (groups + per_partition - 1) / per_partition;
  for (std::uint32_t i = 0; i <= parts; ++i) {
    partition_first_group.push_back(static_cast<std::uint32_t>(std::uint64_t{groups} * i / parts));
  }
  partition_of_group.resize(groups);
  for (std::uint32_t i = 0; i < parts; ++i) {
    for (std::uint32_t group = partition_first_group[i]; group < partition_first_group[i + 1]; ++group) {
      partition_of_group[group] = static_cast<std::uint16_t>(i);
    }
  }
}

BufferSizes Blueprint::buffer_sizes() const noexcept {
  BufferSizes buffers{.output_packets = output_buffer, .shared_output = shared_output};
  for (std::size_t i = 0; i < topology.num_link_classes(); ++i) {
    buffers.packet_ns[i] =
        static_cast<float>(static_cast<double>(timing.packet[i] * timing.quantum_ps) / kPsPerNs);
    if (i == 0) continue;
    buffers.input_packets = std::max(buffers.input_packets, input_buffer[i]);
    buffers.vcs = std::max(buffers.vcs, std::uint32_t{vcs[i]});
    buffers.port_packets = std::max(buffers.port_packets, input_buffer[i] * vcs[i]);
  }
  buffers.times = zero_load_times();
  return buffers;
}

ZeroLoadTimes Blueprint::zero_load_times() const noexcept {
  const std::size_t global = index_of(topology.global_class());
  const auto in_packets = [&](Tick time) {
    return static_cast<float>(time) / static_cast<float>(timing.packet[global]);
  };
  const auto hop = [&](std::size_t link) {
    const Tick router = timing.routing_delay + timing.clock + timing.crossbar_latency;
    return timing.start_delay[link] + timing.hop_delay[link] + router;
  };
  float local = 0;
  for (std::size_t i = 1; i < global; ++i) local += in_packets(hop(i));
  return {.local_packets = local / static_cast<float>(global - 1),
          .global_packets = in_packets(hop(global)),
          .hosts_packets = in_packets(timing.injection_delay + hop(0))};
}

std::unique_ptr<const ObservationPlan> Blueprint::sight_of(RoutingPolicy& of) const {
  const DecisionSpec* const spec = of.sees();
  if (spec == nullptr) return nullptr;
  auto plan =
      std::make_unique<const ObservationPlan>(*spec, paths, buffer_sizes(), timing.quantum_ps, trackers);
  of.prepare_rows(*plan);
  return plan;
}

AfterRefusal Blueprint::after_refusal_of(const RoutingPolicy& policy) const noexcept {
  return after_refusal.value_or(policy.after_refusal());
}

void Blueprint::add_deciders(RoutingPolicy& first, const std::vector<JobPolicy>& others,
                             RoutingPolicy* beside) {
  const auto made = [this](RoutingPolicy& policy, bool in_core) {
    return Decider{.policy = &policy,
                   .scope = policy.scope(),
                   .after_refusal = after_refusal_of(policy),
                   .trackers = positions_in(trackers, policy),
                   .seen = in_core ? sight_of(policy) : nullptr};
  };
  const bool in_core = !options.decisions || options.warms_up;
  if (workload != nullptr) deciders.reserve(kMostDeciders);  // they stay where they are when others come
  deciders.push_back(made(first, in_core));
  for (const JobPolicy& other : others) deciders.push_back(made(*other.policy, in_core));
  if (beside != nullptr) background.emplace(made(*beside, true));
}

std::vector<std::uint8_t> Blueprint::running_trackers(const std::string& field, const std::string& name,
                                                      const RoutingPolicy& policy) const {
  std::vector<std::uint8_t> positions = positions_in(trackers, policy);
  if (positions.size() == policy.trackers().size()) return positions;
  throw ConfigError{
      field, "'" + name + "'",
      "must need no tracker that does not run already, with the same parameters, in this simulation"};
}

std::uint8_t Blueprint::add_policy(const JobPolicy& other) {
  require_same_rules(*deciders.front().policy, learner != nullptr, {other});
  const PathBudget needed = other.policy->budget().with_local_paths(topology.local_path_hops());
  if (const PathBudget& there = paths.ladder().budget(); union_of(there, needed) != there) {
    throw ConfigError{other.field, "'" + other.name + "'",
                      "must need no other paths than the policies that the simulation was made with: virtual "
                      "channels are there for those"};
  }
  if (deciders.size() == kMostDeciders) {
    throw ConfigError{
        other.field, "'" + other.name + "'",
        "one of the " + std::to_string(kMostDeciders - 1) + " that jobs of this run had before"};
  }
  Decider decider{.policy = other.policy,
                  .scope = other.policy->scope(),
                  .after_refusal = after_refusal_of(*other.policy),
                  .trackers = running_trackers(other.field, other.name, *other.policy),
                  .seen = sight_of(*other.policy)};
  deciders.push_back(std::move(decider));
  return static_cast<std::uint8_t>(deciders.size() - 1);
}

void Blueprint::replace_policy(const std::string& name, RoutingPolicy& other) {
  Decider& first = deciders.front();
  const PathBudget needed = other.budget().with_local_paths(topology.local_path_hops());
  const PathBudget there = paths.ladder().budget();
  if (learner != nullptr || other.learner() != nullptr || needed.any_port != there.any_port ||
      union_of(there, needed) != there) {
    throw ConfigError{
        "policy", "'" + name + "'",
        "must learn nothing and need no other paths than the policies that the simulation was made with "
        "(policy, allowed_policies): virtual channels are there for those"};
  }
  std::vector<std::uint8_t> positions = running_trackers("policy", name, other);
  auto sight = sight_of(other);
  first.policy = &other;
  first.scope = other.scope();
  scope = first.scope;
  first.after_refusal = after_refusal_of(other);
  first.trackers = std::move(positions);
  first.seen = std::move(sight);
  ++policies_before;
}

std::uint32_t Blueprint::most_packets() const noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;  // the most packets that indices allow
  std::uint64_t per_router = 0;
  for (Port port = 0; port < topology.radix(); ++port) {
    const auto link = static_cast<std::size_t>(topology.port_class(port));
    per_router += std::uint64_t{vcs[link]} * input_buffer[link];
    per_router += std::uint64_t{shared_output ? 1U : vcs[link]} * output_buffer;
    if (link == 0)
      per_router += static_cast<std::uint64_t>(timing.hop_delay[0] / timing.packet[0] + 2);  // last link
  }
  return static_cast<std::uint32_t>(std::min(kMost, per_router * topology.num_routers()));
}

}  // namespace dragonfly
