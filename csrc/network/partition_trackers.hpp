// The trackers of one partition, and the routers that have news for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "network/blueprint.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

class PartitionTrackers {
 public:
  PartitionTrackers(const Blueprint& plan, std::uint32_t first_router, std::uint32_t num_routers);

  void look_at(const PartitionPorts& ports) {
    for (const auto& tracker : numbers_.trackers) tracker->look_at(ports);
  }

  // Whether any tracker runs.
  [[nodiscard]] bool any() const noexcept { return !numbers_.trackers.empty(); }
  [[nodiscard]] bool on_occupancy() const noexcept { return !of_occupancy_.empty(); }
  [[nodiscard]] bool on_injections() const noexcept { return !of_injections_.empty(); }
  [[nodiscard]] bool on_forwards() const noexcept { return !of_forwards_.empty(); }
  [[nodiscard]] bool on_refused_heads() const noexcept { return !of_refused_heads_.empty(); }
  [[nodiscard]] bool on_acknowledgements() const noexcept { return !of_acknowledgements_.empty(); }

  // Routers are numbered within the partition. The occupancy of a port has changed: see settle().
  void occupancy_changed(std::uint32_t router, LinkClass link) {
    if (!on_occupancy() || link != global_class_) return;
    if (changed_[router] == 0) changed_routers_.push_back(router);
    changed_[router] = 1;
  }
  void packet_injected(std::uint32_t router, const Packet& packet);
  void packet_forwarded(std::uint32_t router, Port host_port, const Packet& packet, Tick now);
  void head_refused(std::uint32_t router, Port host_port, const Packet& packet, Refusal why, Tick now);

  // Prefetches the numbers that a decision about a packet at this router needs.
  void prefetch_numbers(std::uint32_t router, std::uint32_t destination_router) const noexcept {
    for (const auto& tracker : numbers_.trackers) tracker->prefetch_numbers(router, destination_router);
  }

  // Adds an acknowledgement to a router of this partition; not due in the present window.
  void acknowledge(const Acknowledgement& sent) { acknowledgements_.add(sent); }

  // A window of the partition begins.
  void open_window() {
    acknowledgements_.open_window();
    find_next();
  }

  // Begins a time: messages are sent, and acknowledgements arrive.
  void begin_time(Tick now) {
    if (next_due_ <= now) send_and_receive(now);
  }
  // All that happens in it but decisions has happened. `outputs`: of the partition.
  void settle(const PortBlocks& outputs, Tick now);

  void archive(Archive& archive);

  // Numbers for the decisions of the time that was settled last.
  [[nodiscard]] TrackedNumbers& numbers() noexcept { return numbers_; }

 private:
  static constexpr std::size_t kTouchedAhead = 8;

  void send_and_receive(Tick now);
  void on_acknowledgement(const Acknowledgement& acknowledgement);
  void find_next() noexcept { next_due_ = std::min(next_message_, acknowledgements_.next_due()); }

  std::uint32_t first_router_;
  LinkClass global_class_;
  TrackedNumbers numbers_;
  std::vector<RouterTracker*> sending_;  // trackers that send messages
  // The trackers that are notified of each kind of event.
  std::vector<RouterTracker*> of_occupancy_;
  std::vector<RouterTracker*> of_injections_;
  std::vector<RouterTracker*> of_forwards_;
  std::vector<RouterTracker*> of_refused_heads_;
  std::vector<RouterTracker*> of_acknowledgements_;
  AcknowledgementsInFlight acknowledgements_;
  Tick next_message_ = kNever;         // the first time at which a tracker sends messages
  Tick next_due_ = kNever;             // next_message_, or the arrival of an acknowledgement
  std::vector<std::uint8_t> changed_;  // [router]: whether an occupancy changed at this time
  std::vector<std::uint32_t> changed_routers_;
};

}  // namespace dragonfly
