#include "network/partition_state.hpp"

#include <algorithm>

#include "network/hosts.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

namespace {

// More than loads up to 1 have in the network.
constexpr std::size_t kPacketsPerHost = 32;

// The horizon of the queue of departures, and of packets and credits from other partitions.
Tick departure_horizon(const Blueprint& plan) noexcept {
  const Timing& timing = plan.timing;
  const Tick packet = std::ranges::max(timing.packet) + plan.most_more_ticks;
  return timing.crossbar_latency + 2 * packet + std::max(timing.ejection_credit, packet);
}
Tick messages_horizon(const Blueprint& plan) noexcept {
  const std::size_t global = index_of(plan.topology.global_class());
  return std::max(plan.timing.hop_delay[global], plan.timing.credit_delay[global]) + plan.window +
         plan.most_more_ticks;
}

}  // namespace

PartitionState::PartitionState(const Blueprint& blueprint, std::uint32_t index_in)
    : plan{blueprint},
      timing{blueprint.timing},
      index{index_in},
      first_router{blueprint.topology.first_router(blueprint.partition_first_group[index])},
      num_routers{blueprint.topology.first_router(blueprint.partition_first_group[index + 1]) - first_router},
      first_host{blueprint.topology.first_host(first_router)},
      num_hosts{blueprint.topology.first_host(first_router + num_routers) - first_host},
      next_edge{1},
      ports{num_routers, blueprint.topology.radix(), blueprint.queue_stride},
      output_stalls(ports.size()),
      inputs(ports.size()),
      input_stalls(ports.size()),
      input_vcs(std::size_t{num_routers} << blueprint.input_shift),
      requested(input_vcs.size()),
      ready(std::size_t{num_routers} * blueprint.ready_words),
      served(num_routers),
      group_of(num_routers),
      first_waiting(std::size_t{ports.size()} * blueprint.queue_stride, kNoInputVc),
      next_waiting(input_vcs.size(), kNoInputVc),
      edge_words{(num_routers + 63) / 64},
      edges(std::size_t{edge_words} * blueprint.edge_depth),
      edge_planned(blueprint.edge_depth),
      credits(blueprint.topology.num_link_classes()),
      feedback(blueprint.deciders.learner != nullptr ? credits.size() : 0),
      arrivals(blueprint.topology.num_link_classes()),
      departures(kDepartures, SlotLists{departure_horizon(blueprint), ports.size()}),
      hosts_due{timing.horizon, num_hosts},
      effects{timing.routing_delay, input_vcs.size()},
      sent_packets{messages_horizon(blueprint)},
      sent_credits{messages_horizon(blueprint)},
      busy{timing.horizon},
      router_injected(num_routers, 0),
      router_delivered(num_routers, 0),
      trackers{blueprint, first_router, num_routers},
      view{.paths = blueprint.paths,
           .tracked = trackers.numbers(),
           .seed = blueprint.options.seed,
           .quantum_ps = timing.quantum_ps,
           .buffers = blueprint.buffer_behind.data(),
           .credits_at_crossbar = blueprint.shared_output},
      keys(blueprint.input_vcs) {
  const std::uint32_t radix = blueprint.topology.radix();
  if (!blueprint.single_cycle_crossbar) {
    input_free.resize(ports.size());
    output_free.resize(ports.size());
  }
  if (blueprint.edge_depth > 1) router_edge.resize(num_routers, kNever);
  if (blueprint.arbitration == Arbitration::kRoundRobin) {
    last_requests.resize(ports.size());
    last_inputs.resize(std::size_t{ports.size()} * 2);
    requests.resize(radix);
    best_requests.assign(radix, kNil);
  }
  store.with_through = blueprint.shared_output || timing.crossbar_latency > 0;
  store.with_paths = blueprint.options.record.packet_log;
  store.with_messages = blueprint.workload != nullptr;
  store.with_versions = blueprint.options.changes != nullptr;
  if (blueprint.deciders.outside) {
    const DecisionPlan& plan_of_decisions = *blueprint.deciders.outside;
    store.open.emplace(plan_of_decisions.most_open,
                       plan_of_decisions.environment.flag("keep_transitions") ? plan_of_decisions.rows.bytes()
                                                                              : std::size_t{0},
                       plan_of_decisions.environment.flag("keep_feedback"));
    pending = std::make_unique<PendingDecisions>(plan_of_decisions, *store.open, first_router, num_routers);
  }
  reserve();
  if (blueprint.options.record.group_latency) {
    const std::size_t groups = blueprint.topology.num_groups();
    record.group_latency_ps.assign(groups * groups, 0);
    record.group_delivered.assign(groups * groups, 0);
  }
  if (blueprint.options.record.host_latency) record.hosts.assign(blueprint.topology.num_hosts());
  build_ports();
  trackers.look_at({.ports = &ports,
                    .buffers = blueprint.buffer_behind.data(),
                    .credits_at_crossbar = blueprint.shared_output});
  build_hosts(*this);
}

// Room that takes no memory before it is used: lists that grow by being copied leave holes in large systems.
void PartitionState::reserve() {
  const std::size_t packets = std::size_t{num_hosts} * kPacketsPerHost;
  store.reserve(packets);
  sent_to.reserve(packets);
  const Tick per_link = plan.window / timing.packet[index_of(plan.global_class)] + 2;
  const std::size_t sent = std::size_t{num_routers} * plan.topology.h() * static_cast<std::size_t>(per_link);
  messages_out.reserve(sent);
  credit_pool.reserve(2 * sent);
  unused_credits.reserve(2 * sent);
}

void PartitionState::build_ports() {
  const Dragonfly& topology = plan.topology;
  for (std::uint32_t router = 0; router < num_routers; ++router) {
    group_of[router] = static_cast<std::uint16_t>(topology.group_of(first_router + router));
    for (Port port = 0; port < topology.radix(); ++port) {
      const std::uint32_t id = port_id(router, port);
      const LinkClass link = topology.port_class(port);
      OutputPort& output = ports[id];
      output.link_class = link;
      output.vcs = plan.vcs[index_of(link)];
      output.degraded = plan.more_ticks_at(first_router + router, port) > 0;
      output.peer_partition = static_cast<std::uint16_t>(index);
      std::uint32_t upstream = kNil;
      if (link == LinkClass::kHost) {
        if (topology.has_hosts(first_router + router)) {
          upstream = topology.first_host(first_router + router) - first_host + port;
        }
      } else {
        for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
          output.queues()[vc].credits = static_cast<std::uint16_t>(buffer_behind(output));
        }
        if (const Endpoint far = topology.neighbor(first_router + router, port); far.port != kNoPort) {
          const std::uint32_t group = topology.group_of(far.router);
          const std::uint16_t partition = plan.partition_of_group[group];
          const std::uint32_t local =
              far.router - topology.first_router(plan.partition_first_group[partition]);
          output.peer_partition = partition;
          output.peer = (local << plan.input_shift) + plan.first_input_vc[far.port];
          inputs[id] = {.partition = partition, .group = static_cast<std::uint16_t>(group)};
          upstream = port_id(local, far.port) << kVcBits;
        }
      }
      const std::uint32_t first = (router << plan.input_shift) + plan.first_input_vc[port];
      for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
        input_vcs[first + vc].upstream =
            link == LinkClass::kHost || upstream == kNil ? upstream : upstream | vc;
      }
    }
  }
}

bool PartitionState::waits_for_room(std::uint32_t input_vc) const {
  const std::uint32_t router = router_of_input(input_vc);
  const std::uint32_t first = router << plan.input_shift;
  const std::uint16_t to = requested[input_vc];
  std::uint16_t at = first_waiting[std::size_t{port_id(router, port_of(to))} * plan.queue_stride + vc_of(to)];
  while (at != kNoInputVc && first + at != input_vc) at = next_waiting[first + at];
  return at != kNoInputVc;
}

bool PartitionState::silent() const noexcept {
  const auto empty = [](const auto& ring) { return ring.empty(); };
  return in_network == 0 && busy.none() && host_credits.empty() && to_hosts.empty() &&
         std::ranges::all_of(credits, empty) && std::ranges::all_of(arrivals, empty);
}

std::uint64_t PartitionState::queue_bytes(const Blueprint& plan) noexcept {
  return kDepartures * TimeSlots::bytes(departure_horizon(plan)) + TimeSlots::bytes(plan.timing.horizon) +
         TimeSlots::bytes(plan.timing.routing_delay) + 2 * TimeSlots::bytes(messages_horizon(plan)) +
         BusyTimes::bytes(plan.timing.horizon);
}

}  // namespace dragonfly
