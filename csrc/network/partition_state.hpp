// What all parts of a partition work on: the state of its routers, its packets, its events.
//
// The parts stand on each other like floors; each adds what it alone needs, and knows those below:
//
//   PartitionState <- Deliveries <- SourceHosts <- RouterPorts <- RouterDecisions <- Partition
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/timing_wheel.hpp"
#include "decisions/decision_desk.hpp"
#include "network/blueprint.hpp"
#include "network/hop_feedback.hpp"
#include "network/input_port.hpp"
#include "network/mailbox.hpp"
#include "network/packet_store.hpp"
#include "network/partition_trackers.hpp"
#include "routing/output_port.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

class PartitionState {
 public:
  [[nodiscard]] std::uint32_t first_router() const noexcept { return first_router_; }
  [[nodiscard]] std::uint32_t num_routers() const noexcept { return num_routers_; }
  [[nodiscard]] const std::vector<OutputPort>& output_ports() const noexcept { return outputs_; }
  [[nodiscard]] const std::vector<InputStall>& input_stalls() const noexcept { return input_stalls_; }
  // What its routers remember.
  [[nodiscard]] PartitionTrackers& trackers() noexcept { return trackers_; }
  // Packets in its routers and on its links.
  [[nodiscard]] std::uint64_t in_network() const noexcept { return in_network_; }
  // Memory of the timing wheel that every partition has.
  [[nodiscard]] static std::uint64_t wheel_bytes(Tick horizon) noexcept {
    return TimingWheel<kKinds>::bytes(horizon);
  }

 protected:
  // `open`: null where packets are never routed from outside.
  PartitionState(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback,
                 OpenDecisions* open, std::uint32_t index);

  enum Kind : std::size_t { kEdge, kCredit, kDeparture, kHost, kArrival, kEffect, kKinds };
  // A credit names its sender: output ports first (router * radix + port), then hosts; times 16 plus VC.
  static constexpr std::uint32_t kVcBits = 4;
  // With programs an item of kHost may also be a packet that reaches its host, or the alarm of a host.
  static constexpr std::uint32_t kDeliveryBit = 1U << 31;
  static constexpr std::uint32_t kAlarmBit = 1U << 30;

  // A packet that reached a router, or the head of a buffer, and has no decision there yet.
  struct Undecided {
    std::uint32_t packet;
    std::uint32_t input_vc;
  };

  // Whether a packet may leave the queue of this port only with a credit.
  [[nodiscard]] bool needs_credit(const OutputPort& output) const noexcept {
    return output.link_class != LinkClass::kHost && !plan_.shared_output;
  }

  const Blueprint& plan_;
  const std::uint32_t index_;
  const std::uint32_t first_router_;
  const std::uint32_t num_routers_;
  const std::uint32_t first_host_;
  const std::uint32_t num_hosts_;
  const std::uint32_t radix_;
  const std::uint32_t num_outputs_;

  TimingWheel<kKinds> wheel_;
  Tick now_ = 0;              // start of the present window
  Tick next_clock_edge_ = 0;  // the first multiple of the clock after the present instant
  Tick count_until_ = 0;      // deliveries up to here are counted at once
  std::span<Mailbox> outboxes_{};

  std::vector<OutputPort> outputs_;         // [router * radix + port]
  std::vector<std::uint16_t> waiting_vcs_;  // the same; bit v: somebody may wait for room in VC v
  std::vector<VcQueue> queues_;             // [(router * radix + port) * queue_stride + vc]
  std::vector<InputPort> inputs_;           // [router * radix + port]
  std::vector<InputStall> input_stalls_;    // the same
  std::vector<InputVc> input_vcs_;          // [router * input_vcs + index]
  std::vector<RouterState> routers_;
  std::vector<std::uint16_t> ready_;  // [router * input_vcs + i]: indices of asking input VCs

  PacketStore& store_;
  Packet* const packets_;        // of all partitions
  PathRecord* const paths_;      // [packet], with a packet log
  MessagePart* const messages_;  // [packet], with programs
  std::uint64_t in_network_ = 0;
  std::vector<Undecided> undecided_;

  HopFeedback feedback_;
  PartitionTrackers trackers_;
  bool overheard_ = false;  // somebody listens to credits and grants
  std::unique_ptr<DecisionDesk> desk_;
  bool asking_ = false;  // the desk is asked instead of the policy

 private:
  friend class BookAudit;
  friend class HeadWatch;

  void build_ports(FeedbackSignals& feedback);
};

}  // namespace dragonfly
