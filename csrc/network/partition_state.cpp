#include "network/partition_state.hpp"

#include "topology/dragonfly.hpp"

namespace dragonfly {

PartitionState::PartitionState(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback,
                               OpenDecisions* open, std::uint32_t index)
    : plan_{blueprint},
      index_{index},
      first_router_{blueprint.partition_first_group[index] * blueprint.topology.a()},
      num_routers_{blueprint.partition_first_group[index + 1] * blueprint.topology.a() - first_router_},
      first_host_{first_router_ * blueprint.topology.p()},
      num_hosts_{num_routers_ * blueprint.topology.p()},
      radix_{blueprint.topology.radix()},
      num_outputs_{num_routers_ * radix_},
      wheel_{blueprint.timing.horizon},
      next_clock_edge_{blueprint.timing.clock},
      routers_(num_routers_),
      ready_(static_cast<std::size_t>(num_routers_) * blueprint.input_vcs),
      store_{store},
      packets_{store.packets()},
      paths_{store.paths()},
      messages_{store.messages()},
      feedback_{blueprint, num_outputs_},
      trackers_{blueprint, first_router_, num_routers_},
      overheard_{feedback_.heard() || trackers_.hear_occupancy() || trackers_.hear_forwards()} {
  if (open != nullptr) {
    desk_ = std::make_unique<DecisionDesk>(*blueprint.decisions, *open, first_router_, num_routers_);
  }
  build_ports(feedback);
  trackers_.look_at({.ports = outputs_.data(),
                     .queues = queues_.data(),
                     .queue_stride = plan_.queue_stride,
                     .credits_at_crossbar = plan_.shared_output});
}

void PartitionState::build_ports(FeedbackSignals& feedback) {
  const Dragonfly& topology = plan_.topology;
  outputs_.resize(num_outputs_);
  inputs_.resize(num_outputs_);
  input_stalls_.resize(num_outputs_);
  waiting_vcs_.resize(num_outputs_);
  queues_.resize(static_cast<std::size_t>(num_outputs_) * plan_.queue_stride);
  input_vcs_.resize(static_cast<std::size_t>(num_routers_) * plan_.input_vcs);

  const auto partition_of = [&](std::uint32_t router) {
    return plan_.partition_of_group[topology.group_of(router)];
  };
  const auto first_router_of = [&](std::uint32_t partition) {
    return plan_.partition_first_group[partition] * topology.a();
  };
  for (std::uint32_t router = 0; router < num_routers_; ++router) {
    for (Port port = 0; port < radix_; ++port) {
      const std::uint32_t id = router * radix_ + port;
      const LinkClass link = topology.port_class(port);
      OutputPort& output = outputs_[id];
      InputPort& input = inputs_[id];
      output.router = router;
      output.link_class = link;
      output.vcs = plan_.vcs[static_cast<std::size_t>(link)];
      output.peer_partition = static_cast<std::uint16_t>(index_);
      input.link_class = link;
      input.upstream_partition = static_cast<std::uint16_t>(index_);
      if (link == LinkClass::kHost) {
        input.upstream = num_outputs_ + router * topology.p() + port;
      } else if (const Endpoint far = topology.neighbor(first_router_ + router, port); far.port != kNoPort) {
        const std::uint16_t partition = partition_of(far.router);
        const std::uint32_t local = far.router - first_router_of(partition);
        output.peer_partition = input.upstream_partition = partition;
        output.peer = local * plan_.input_vcs + plan_.first_input_vc[far.port];
        input.upstream = local * radix_ + far.port;
        const auto buffer = static_cast<std::uint16_t>(plan_.input_buffer[static_cast<std::size_t>(link)]);
        for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
          VcQueue& queue = queues_[id * plan_.queue_stride + vc];
          queue.buffer = queue.credits = buffer;
        }
        feedback_.connect(feedback, id, first_router_ + router, port, far);
      }
      const std::uint32_t first = plan_.first_input_vc[port];
      for (std::uint32_t i = first; i < plan_.first_input_vc[port + 1U]; ++i) {
        InputVc& vc = input_vcs_[router * plan_.input_vcs + i];
        vc.router = router;
        vc.port = port;
        vc.index = static_cast<std::uint16_t>(i);
        vc.vc = static_cast<std::uint8_t>(i - first);
      }
    }
  }
}

}  // namespace dragonfly
