// The end of a packet: how it is counted, and whose index is free again. Part of a partition.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "network/delivery_record.hpp"
#include "network/partition_state.hpp"

namespace dragonfly {

class Deliveries : public PartitionState {
 public:
  // Counts the deliveries up to and including `now` that were still under way to their hosts.
  void settle(Tick now);
  [[nodiscard]] const DeliveryRecord& record() const noexcept { return record_; }
  [[nodiscard]] std::vector<LoggedPacket> take_log() { return std::exchange(record_.log, {}); }
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_hash_; }
  // Since the start, not since the last reset.
  [[nodiscard]] std::uint64_t injected_ever() const noexcept { return injected_ever_; }
  [[nodiscard]] std::uint64_t delivered_ever() const noexcept { return delivered_ever_; }
  // Since the last reset, by router.
  [[nodiscard]] const std::vector<std::uint64_t>& router_injected() const noexcept {
    return router_injected_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& router_delivered() const noexcept {
    return router_delivered_;
  }
  // Packets that have left their last router and do not count as delivered yet.
  [[nodiscard]] std::uint64_t under_way_to_hosts() const;

 protected:
  Deliveries(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback, OpenDecisions* open,
             std::uint32_t index);

  void reset_counts();
  // Packets that were generated up to and including this instant are counted no more.
  void count_after(Tick instant) noexcept { counted_after_ = instant; }
  // A packet leaves its last router and will be at its host at `delivered`.
  void eject(std::uint32_t packet, Tick delivered);
  // Counts a packet that has reached its host, and forgets it.
  void deliver(std::uint32_t packet, Tick delivered);
  // A packet has left its source queue.
  void count_injection(std::uint32_t router, Tick created, Tick now) {
    ++in_network_;
    ++injected_ever_;
    if (created <= counted_after_) return;
    ++record_.injected;
    ++router_injected_[router];
    if (plan_.options.record.series_bin_ps > 0) count_in_series(now);
  }
  void count_lost(std::uint32_t packets) noexcept { record_.lost += packets; }
  [[nodiscard]] std::uint32_t new_packet() {
    if (free_packets_.empty()) store_.refill(free_packets_);
    const std::uint32_t packet = free_packets_.back();
    free_packets_.pop_back();
    return packet;
  }
  void give_back_packets() { store_.give_back(free_packets_); }

 private:
  struct LateDelivery {
    std::uint32_t packet;
    Tick delivered;
  };

  // Tells its source router, which hears of it later.
  void acknowledge(const Packet& packet, Tick delivered);
  void count_delivery(std::uint32_t packet, TimePs delivered);
  void await_delivery(std::uint32_t packet, Tick delivered);
  void count_in_series(Tick injected);

  std::vector<std::uint32_t> free_packets_;
  std::vector<LateDelivery> late_;
  DeliveryRecord record_;
  std::vector<std::uint64_t> router_injected_;
  std::vector<std::uint64_t> router_delivered_;
  Tick counted_after_ = -1;
  std::uint64_t trace_hash_ = 0;
  std::uint64_t injected_ever_ = 0;
  std::uint64_t delivered_ever_ = 0;
};

}  // namespace dragonfly
