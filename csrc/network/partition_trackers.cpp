#include "network/partition_trackers.hpp"

#include <algorithm>
#include <utility>

namespace dragonfly {

PartitionTrackers::PartitionTrackers(const Blueprint& plan, std::uint32_t first_router,
                                     std::uint32_t num_routers)
    : plan_{plan}, first_router_{first_router} {
  numbers_.policy_trackers = &plan.deciders.front().trackers;
  TrackerSite site{.topology = plan.topology,
                   .first_router = first_router,
                   .num_routers = num_routers,
                   .signal_delay = plan.signal_delay,
                   .clock = plan.timing.clock,
                   .quantum_ps = plan.timing.quantum_ps,
                   .weighs_vcs = plan.weighs_vcs,
                   .idle = plan.idle_times()};
  for (std::size_t link = 1; link < plan.topology.num_link_classes(); ++link) {
    const Timing& timing = plan.timing;
    const Tick there_and_back =
        timing.hop_delay[link] + timing.routing_delay + timing.clock + timing.credit_delay[link];
    site.links[link] = {
        .buffer_packets = plan.links[link].buffer_packets,
        .wire_packets = static_cast<double>(there_and_back) / static_cast<double>(timing.packet[link]),
        .packet_ps = static_cast<double>(plan.to_ps(timing.packet[link]))};
  }
  for (const TrackerRequest& request : plan.trackers) {
    auto tracker = request.info->make(*request.info, request.parameters, site);
    const TrackedEvents hears = tracker->hears();
    std::uint8_t classes = 0;
    for (std::size_t link = 1; link < plan.topology.num_link_classes(); ++link) {
      const bool global = link == index_of(plan.topology.global_class());
      if (!(global ? hears.global_occupancy : hears.local_occupancy)) continue;
      hear_class_[link] = true;
      hear_occupancy_ = true;
      classes |= bit_of(static_cast<LinkClass>(link));
    }
    hear_injections_ = hear_injections_ || hears.injections;
    hear_forwards_ = hear_forwards_ || hears.forwards;
    hear_blocked_heads_ = hear_blocked_heads_ || hears.blocked_heads;
    hear_refused_heads_ = hear_refused_heads_ || hears.refused_heads;
    hear_acknowledgements_ = hear_acknowledgements_ || hears.acknowledgements;
    if (hears.window_ps > 0) {
      windows_.push_back({static_cast<std::uint32_t>(numbers_.trackers.size()), hears.window_ps});
      next_window_ = std::min(next_window_, plan.to_tick(hears.window_ps));
    }
    if (hears.acknowledgements) far_.push_back(tracker.get());
    hears_.push_back(hears);
    hears_classes_.push_back(classes);
    numbers_.trackers.push_back(std::move(tracker));
  }
  if (!hear_occupancy()) return;
  changed_.assign(num_routers, 0);
  changed_routers_.reserve(num_routers);
}

void PartitionTrackers::archive(Archive& archive) {
  std::uint64_t count = numbers_.trackers.size();
  archive(count);
  archive.require(count == numbers_.trackers.size(), "routers remember other things");
  for (const auto& tracker : numbers_.trackers) tracker->archive(archive);
  archive(numbers_.now, acknowledgements_, changed_routers_, next_window_);
  archive.fixed(changed_);
  for (const std::uint32_t router : changed_routers_) {
    archive.require(router < changed_.size(), "a router does not exist");
  }
  for (Window& window : windows_) archive(window.ended);
}

void PartitionTrackers::packet_injected(std::uint32_t router, const Packet& packet) {
  for (std::size_t i = 0; i < hears_.size(); ++i) {
    if (hears_[i].injections) numbers_.trackers[i]->packet_injected(first_router_ + router, packet);
  }
}

void PartitionTrackers::packet_forwarded(std::uint32_t router, Port host_port, const Packet& packet,
                                         Tick now) {
  for (std::size_t i = 0; i < hears_.size(); ++i) {
    if (!hears_[i].forwards) continue;
    numbers_.trackers[i]->packet_forwarded(first_router_ + router, host_port, packet, now);
  }
}

void PartitionTrackers::head_refused(std::uint32_t router, Port host_port, const Packet& packet, Refusal why,
                                     Tick now) {
  for (std::size_t i = 0; i < hears_.size(); ++i) {
    if (!hears_[i].refused_heads) continue;
    numbers_.trackers[i]->head_refused(first_router_ + router, host_port, packet, why, now);
  }
}

void PartitionTrackers::head_blocked(std::uint32_t router, Port input, const Packet& packet) {
  for (std::size_t i = 0; i < hears_.size(); ++i) {
    if (hears_[i].blocked_heads) numbers_.trackers[i]->head_blocked(first_router_ + router, input, packet);
  }
}

void PartitionTrackers::hear(const Acknowledgement& acknowledgement) {
  for (std::size_t i = 0; i < hears_.size(); ++i) {
    if (hears_[i].acknowledgements) numbers_.trackers[i]->packet_acknowledged(acknowledgement);
  }
}

void PartitionTrackers::end_windows(Tick now) {
  next_window_ = Blueprint::kNeverTick;
  for (Window& window : windows_) {
    const auto ended = static_cast<std::uint64_t>(plan_.to_ps(now) / window.length_ps);
    if (ended > window.ended) numbers_.trackers[window.tracker]->windows_ended(ended - window.ended);
    window.ended = ended;
    const TimePs next_ps = static_cast<TimePs>(ended + 1) * window.length_ps;
    next_window_ = std::min(next_window_, plan_.to_tick(next_ps));
  }
}

void PartitionTrackers::settle(const PortBlocks& outputs, Tick now) {
  numbers_.now = now;
  for (const std::uint32_t router : changed_routers_) {
    const std::uint8_t classes = std::exchange(changed_[router], std::uint8_t{0});
    for (std::size_t i = 0; i < hears_classes_.size(); ++i) {
      if ((hears_classes_[i] & classes) == 0) continue;
      numbers_.trackers[i]->occupancy_changed(first_router_ + router, outputs.of_router(router), now);
    }
  }
  changed_routers_.clear();
}

}  // namespace dragonfly
