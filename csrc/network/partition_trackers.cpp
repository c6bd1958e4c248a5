#include "network/partition_trackers.hpp"

#include <algorithm>
#include <utility>

namespace dragonfly {

PartitionTrackers::PartitionTrackers(const Blueprint& plan, std::uint32_t first_router,
                                     std::uint32_t num_routers)
    : first_router_{first_router}, global_class_{plan.global_class} {
  numbers_.policy_trackers = &plan.deciders.policies.front().trackers;
  TrackerSite site{.topology = plan.topology,
                   .first_router = first_router,
                   .num_routers = num_routers,
                   .signal_delay = plan.signal_delay,
                   .routing_delay = plan.timing.routing_delay,
                   .clock = plan.timing.clock,
                   .quantum_ps = plan.timing.quantum_ps,
                   .compares_vcs = plan.compares_vcs,
                   .idle = plan.zero_load_times()};
  for (std::size_t link = 1; link < plan.topology.num_link_classes(); ++link) {
    const Timing& timing = plan.timing;
    const Tick there_and_back =
        timing.hop_delay[link] + timing.routing_delay + timing.clock + timing.credit_delay[link];
    site.links[link] = {
        .buffer_packets = plan.links[link].buffer_packets,
        .wire_packets = static_cast<double>(there_and_back) / static_cast<double>(timing.packet[link]),
        .packet_ps = static_cast<double>(plan.to_ps(timing.packet[link])),
        .latency = plan.links[link].latency_ps / timing.quantum_ps,
        .vcs = plan.vcs[link]};
  }
  for (const TrackerRequest& request : plan.deciders.trackers) {
    site.sends_messages = request.messages;
    auto tracker = request.info->make(*request.info, request.parameters, site);
    const TrackedEvents events = tracker->events();
    if (events.global_occupancy) of_occupancy_.push_back(tracker.get());
    if (events.injections) of_injections_.push_back(tracker.get());
    if (events.forwards) of_forwards_.push_back(tracker.get());
    if (events.refused_heads) of_refused_heads_.push_back(tracker.get());
    if (events.acknowledgements) of_acknowledgements_.push_back(tracker.get());
    if (events.messages) sending_.push_back(tracker.get());
    numbers_.trackers.push_back(std::move(tracker));
  }
  if (!sending_.empty()) next_message_ = next_due_ = 0;
  if (!on_occupancy()) return;
  changed_.assign(num_routers, 0);
  changed_routers_.reserve(num_routers);
}

void PartitionTrackers::archive(Archive& archive) {
  for (const auto& tracker : numbers_.trackers) tracker->archive(archive);
  archive(numbers_.now, acknowledgements_, next_message_, next_due_, changed_routers_);
  archive.fixed(changed_);
}

void PartitionTrackers::packet_injected(std::uint32_t router, const Packet& packet) {
  for (RouterTracker* const tracker : of_injections_)
    tracker->packet_injected(first_router_ + router, packet);
}

void PartitionTrackers::packet_forwarded(std::uint32_t router, Port host_port, const Packet& packet,
                                         Tick now) {
  for (RouterTracker* const tracker : of_forwards_) {
    tracker->packet_forwarded(first_router_ + router, host_port, packet, now);
  }
}

void PartitionTrackers::head_refused(std::uint32_t router, Port host_port, const Packet& packet, Refusal why,
                                     Tick now) {
  for (RouterTracker* const tracker : of_refused_heads_) {
    tracker->head_refused(first_router_ + router, host_port, packet, why, now);
  }
}

void PartitionTrackers::send_and_receive(Tick now) {
  if (next_message_ <= now) {
    next_message_ = kNever;
    for (RouterTracker* const tracker : sending_) {
      next_message_ = std::min(next_message_, tracker->send_messages(now));
    }
  }
  while (acknowledgements_.next_due() <= now) {
    const Acknowledgement* const later = acknowledgements_.behind_first(kTouchedAhead);
    if (later != nullptr) {
      for (const RouterTracker* const tracker : of_acknowledgements_) {
        tracker->prefetch_numbers(later->source_router, later->destination_router);
      }
    }
    on_acknowledgement(acknowledgements_.take());
  }
  find_next();
}

void PartitionTrackers::on_acknowledgement(const Acknowledgement& acknowledgement) {
  for (RouterTracker* const tracker : of_acknowledgements_) tracker->packet_acknowledged(acknowledgement);
}

void PartitionTrackers::settle(const PortBlocks& outputs, Tick now) {
  numbers_.now = now;
  for (const std::uint32_t router : changed_routers_) {
    changed_[router] = 0;
    for (RouterTracker* const tracker : of_occupancy_) {
      tracker->occupancy_changed(first_router_ + router, outputs.of_router(router), now);
    }
  }
  changed_routers_.clear();
}

}  // namespace dragonfly
