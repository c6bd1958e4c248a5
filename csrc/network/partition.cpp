#include "network/partition.hpp"

#include <algorithm>
#include <utility>

namespace dragonfly {

Partition::Partition(const Blueprint& blueprint, PacketStore& store, FeedbackLines& feedback,
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
      feedback_out_(blueprint.learner != nullptr ? num_outputs_ : 0U),
      feedback_in_(blueprint.learner != nullptr ? num_outputs_ : 0U),
      trackers_{blueprint, first_router_, num_routers_},
      around_{.paths = blueprint.paths,
              .tracked = trackers_.numbers(),
              .seed = blueprint.options.seed,
              .quantum_ps = blueprint.timing.quantum_ps,
              .queue_stride = blueprint.queue_stride,
              .credits_at_crossbar = blueprint.shared_output},
      overheard_{blueprint.learner != nullptr || trackers_.hear_occupancy() || trackers_.hear_forwards()},
      router_injected_(num_routers_, 0),
      router_delivered_(num_routers_, 0) {
  keys_.resize(blueprint.input_vcs);
  if (open != nullptr) {
    desk_ = std::make_unique<DecisionDesk>(*blueprint.decisions, *open, first_router_, num_routers_);
  }
  if (blueprint.options.record.group_latency) {
    const std::size_t groups = blueprint.topology.num_groups();
    record_.group_latency_ps.assign(groups * groups, 0);
    record_.group_delivered.assign(groups * groups, 0);
  }
  build_ports(feedback);
  trackers_.look_at({.ports = outputs_.data(),
                     .queues = queues_.data(),
                     .queue_stride = plan_.queue_stride,
                     .credits_at_crossbar = plan_.shared_output});
  if (blueprint.workload != nullptr) {
    programs_ = std::make_unique<HostPrograms>(*blueprint.workload, first_host_, num_hosts_,
                                               blueprint.timing.quantum_ps);
  }
  build_hosts();
}

void Partition::build_ports(FeedbackLines& feedback) {
  const Dragonfly& topology = plan_.topology;
  outputs_.resize(num_outputs_);
  inputs_.resize(num_outputs_);
  if (plan_.arbitration == Arbitration::kRoundRobin) last_inputs_.resize(num_outputs_);
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
        if (plan_.learner != nullptr) {
          const std::uint32_t own = first_router_ + router;
          feedback_in_[id] = feedback.end(own, port, topology.group_of(own));
          feedback_out_[id] = feedback.end(far.router, far.port, topology.group_of(far.router));
        }
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

void Partition::open_window(Tick end, Tick horizon, std::span<Mailbox* const> inboxes,
                            std::span<Mailbox> outboxes) {
  outboxes_ = outboxes;
  count_until_ = programs_ == nullptr ? horizon : -1;  // programs hear of a delivery when it happens
  settle(horizon);
  for (Mailbox* box : inboxes) {
    for (const Mailbox::Item& sent : box->packets) {
      wheel_.push(kArrival, box->window_start + sent.delay, sent.item);
    }
    for (const Mailbox::Item& sent : box->credits) {
      wheel_.push(kCredit, box->window_start + sent.delay, sent.item);
    }
    in_network_ += box->packets.size();
    box->packets.clear();
    box->credits.clear();
  }
  for (Mailbox& box : outboxes) box.window_start = now_;
  while (!far_hosts_.empty() && far_hosts_.top().when < end) {
    wheel_.push(kHost, far_hosts_.top().when, far_hosts_.top().host);
    far_hosts_.pop();
  }
  cursor_ = now_;
  window_end_ = end;
}

bool Partition::go_on() {
  const Tick delay = plan_.timing.routing_delay;
  // Without a delay an answer may make something happen before the next event that is known now.
  if (asking_ && delay == 0 && desk_->size() > 0) return false;
  for (Tick due = wheel_.next_due(cursor_, window_end_); due < window_end_;
       due = wheel_.next_due(cursor_, window_end_)) {
    if (asking_ && desk_->size() > 0 && due >= desk_->first_time() + delay) return false;
    step(due);
    cursor_ = due + 1;
    if (asking_ && delay == 0 && desk_->size() > 0) return false;
  }
  if (now_ == window_end_) return true;
  store_.give_back(free_packets_);
  now_ = window_end_;
  cursor_ = now_;
  return true;
}

std::uint32_t Partition::new_packet() {
  if (free_packets_.empty()) store_.refill(free_packets_);
  const std::uint32_t packet = free_packets_.back();
  free_packets_.pop_back();
  return packet;
}

void Partition::reset_statistics(Tick now) {
  record_.clear();
  if (programs_ != nullptr) programs_->record().clear();
  std::ranges::fill(router_injected_, 0);
  std::ranges::fill(router_delivered_, 0);
  for (OutputPort& output : outputs_) {
    output.sent = 0;
    output.stalled = 0;
    if (output.blocked_since >= 0) output.blocked_since = now;
  }
}

std::vector<LoggedPacket> Partition::take_log() { return std::exchange(record_.log, {}); }

}  // namespace dragonfly
