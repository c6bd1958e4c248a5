#include "network/blueprint.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
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

std::uint8_t vc_count(const char* field, std::uint32_t given, std::uint8_t required) {
  if (required > kMostVcsOfLink) {
    throw ConfigError{field, std::to_string(required) + " needed by this policy",
                      "at most " + std::to_string(kMostVcsOfLink) +
                          ": dead local links make paths longer, so let fewer fail, or take another policy"};
  }
  if (given == 0) return required;
  if (given < required) {
    throw ConfigError{
        field, std::to_string(given),
        "at least " + std::to_string(required) + " for this policy and VC scheme (or 0: as needed)"};
  }
  return static_cast<std::uint8_t>(given);
}

OutsideDecisions outside_of(const NetworkOptions& options) noexcept {
  return {.decisions = options.decisions, .after_warm_up = options.warms_up};
}

// The budget with the prescribed routes of a trace, which may take any non-minimal path.
PathBudget with_routes(PathBudget budget, const Dragonfly& topology, const RouteNeeds& routes) {
  if (routes.longest == 0) return budget;
  budget.nonminimal = true;
  budget.intermediate_router = true;
  budget.reconsiders = budget.reconsiders || routes.leaves_late;
  budget.local_nonminimal = budget.local_nonminimal || routes.local_nonminimal;
  budget.any_port = budget.any_port || routes.any_port || !topology.has_meshes();
  budget.longest_path = std::max(budget.longest_path, static_cast<std::uint8_t>(routes.longest));
  return budget;
}

}  // namespace

Blueprint::Blueprint(const Dragonfly& topology_in, const NetworkParams& params, RoutingPolicy& policy_in,
                     const TrafficSource& source_in, const NetworkOptions& options_in,
                     const Workload* workload_in, const std::vector<JobPolicy>& job_policies,
                     RoutingPolicy* background_in, const std::vector<JobPolicy>& later)
    : topology{topology_in},
      deciders{topology_in,     policy_in, job_policies, background_in, later, outside_of(options_in),
               params.decide_at},
      source{source_in},
      workload{workload_in},
      options{options_in},
      links{link_params(params, topology_in)},
      timing{make_timing(params, links, source_in.step_ps())},
      paths{topology_in,
            VcLadder{parse_vc_scheme(params.vc_scheme),
                     with_routes(deciders.budget, topology_in, source_in.route_needs()),
                     topology_in.longest_local().vcs},
            options_in.seed},
      shared_output{params.output_queue == "shared"},
      timed_start{params.link_start == "timer"},
      cut_through{params.switching == "cut-through"},
      decide_on_arrival{params.decide_at == "arrival"},
      compares_vcs{params.congestion_metric == "vc"},
      arbitration{parse_arbitration(params.arbitration)},
      transit_first{params.arbitration.starts_with(kTransitFirst)},
      output_buffer{params.output_buffer_packets} {
  if (workload != nullptr && options.lose_when_full) {
    throw ConfigError{"source_queue_full", "'lose'",
                      "must be 'stall': what a program has sent is never lost"};
  }
  const std::size_t num_classes = topology.num_link_classes();
  for (std::size_t i = 0; i < num_classes; ++i) input_buffer[i] = links[i].buffer_packets;
  for (std::size_t i = 1; i + 1 < num_classes; ++i) {
    signal_delay = std::max(signal_delay, links[i].latency_ps / timing.quantum_ps);
  }
  signal_delay *= topology.local_path_hops();
  acknowledgement_delay = timing.lookahead + 2 * signal_delay;
  if (topology.num_groups() >= kNoGroup) {
    throw ConfigError{"topology.g", std::to_string(topology.num_groups()),
                      "below 65535 groups in a simulation"};
  }
  const VcCounts required = options.changes == nullptr ? paths.ladder().required()
                                                       : number_versions(parse_vc_scheme(params.vc_scheme));
  vcs[0] = 1;
  for (std::size_t i = 1; i < num_classes; ++i) {
    const bool global = i + 1 == num_classes;
    const std::string field =
        topology.is_all_to_all() ? std::string{global ? "network.global_vcs" : "network.local_vcs"}
                                 : "network.links." + topology.class_name(static_cast<LinkClass>(i)) + ".vcs";
    vcs[i] = vc_count(field.c_str(), links[i].vcs, global ? required.global : required.local);
    queue_stride = std::max(queue_stride, std::uint32_t{vcs[i]});
  }

  number_ports();

  deciders.plan_rows(paths, buffer_sizes(), timing.quantum_ps, outside_of(options));

  if (deciders.learner != nullptr) {
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

// Each time that a packet is routed again it climbs a ladder of its own, above the one before.
VcCounts Blueprint::number_versions(VcScheme scheme) {
  const LinkChanges& changes = *options.changes;
  if (shared_output) {
    throw ConfigError{"events", "with network.output_queue = 'shared'",
                      "need output queues per VC: a packet in a shared queue holds a credit of its link"};
  }
  if (source.route_needs().longest > 0) {
    throw ConfigError{"events", "with prescribed routes", "need a trace whose messages have no routes"};
  }
  PathBudget shortest{.any_port = paths.ladder().budget().any_port};
  shortest = shortest.with_local_paths(topology.longest_local());
  const std::uint32_t positions = topology.longest_local().vcs;
  const VcCounts first = paths.ladder().required();
  VcCounts more = VcLadder{scheme, shortest, positions}.required();
  const std::uint32_t times = changes.most_reroutes();
  // The hop over the dead link was not taken: it needs no VC where hops number them.
  const bool by_hops = scheme == VcScheme::kHop || shortest.any_port;
  if (by_hops) more = {static_cast<std::uint8_t>(more.local - 1), static_cast<std::uint8_t>(more.global - 1)};
  const std::uint32_t most = std::max(first.local + times * more.local, first.global + times * more.global);
  if (most > kMostVcsOfLink) {
    throw ConfigError{"events", std::to_string(times) + " times at which links fail",
                      "need " + std::to_string(most) +
                          " virtual channels of a link with this policy, at most " +
                          std::to_string(kMostVcsOfLink) + ": let links fail at fewer different times"};
  }
  for (std::uint32_t state = 0; state < changes.num_states(); ++state) {
    VcLadder ladder = paths.ladder();
    for (std::uint32_t again = 0; again <= times; ++again) {
      if (again > 0) ladder = VcLadder{scheme, shortest, positions, ladder.required()};
      paths_by_version.emplace_back(changes.machine(state), ladder, options.seed);
    }
  }
  return {static_cast<std::uint8_t>(first.local + times * more.local),
          static_cast<std::uint8_t>(first.global + times * more.global)};
}

void Blueprint::know(std::uint32_t state) {
  options.changes->know(state);
  version = options.changes->version(state);
  deciders.list_links();
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
  slow_links();
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

// The rate of a degraded link is rounded to ticks per packet.
void Blueprint::slow_links() {
  if (topology.degraded().empty()) return;
  more_ticks.resize(std::size_t{topology.num_routers()} << port_shift);
  for (const auto& [end, rate] : topology.degraded()) {
    const auto packet = static_cast<double>(timing.packet[index_of(topology.port_class(end.port))]);
    const auto more = static_cast<Tick>(std::llround(packet / rate - packet));
    more_ticks[std::size_t{end.router} << port_shift | end.port] = more;
    most_more_ticks = std::max(most_more_ticks, more);
  }
  timing.horizon += 2 * most_more_ticks;
  if (timing.horizon > kLongestHorizon) {
    throw ConfigError{"failed", "a packet of " + std::to_string(most_more_ticks) + " more units of time",
                      "at most " + std::to_string(kLongestHorizon) +
                          " with all delays: give degraded links a larger share of their rate"};
  }
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
