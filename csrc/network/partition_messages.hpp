// Messages from a partition to the others during a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/prefetch.hpp"
#include "core/time.hpp"
#include "routing/acknowledgement.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// A learner's report on a hop, with the credit for the place that the packet leaves (hop_feedback.hpp).
struct Feedback {
  std::uint32_t row = kNil;  // row of the reader's table; kNil: nothing to report
  float target_ns = 0;
  static constexpr bool kArchivedWhole = true;
};

// A credit in flight to an output port.
struct Credit {
  LowTick when = 0;
  std::uint32_t item = 0;  // id of the port, shifted by kVcBits, and VC
  static constexpr bool kArchivedWhole = true;
};
inline constexpr std::uint32_t kVcBits = 4;

// The items of a list by the partition that they go to, in the order of the list.
class ByReceiver {
 public:
  template <class Item>
  void sort(const std::vector<Item>& items, std::uint32_t num_partitions) {
    order_.resize(items.size());
    if (items.empty()) return;
    ends_.assign(num_partitions + std::size_t{1}, 0);
    for (const Item& item : items) ++ends_[item.to + std::size_t{1}];
    for (std::size_t to = 1; to <= num_partitions; ++to) ends_[to] += ends_[to - 1];
    for (std::uint32_t i = 0; i < items.size(); ++i) order_[ends_[items[i].to]++] = i;
  }
  void clear() noexcept { order_.clear(); }
  // Prefetches the data of of(): first the positions, then the indices.
  void prefetch_messages(std::uint32_t to, std::uint32_t step) const noexcept {
    if (order_.empty()) return;
    prefetch(step == 0 ? &ends_[to] : of(to).data());
  }
  // Indices of the items.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t to) const noexcept {
    if (order_.empty()) return {};
    const std::uint32_t begin = to == 0 ? 0 : ends_[to - 1];
    return {order_.data() + begin, ends_[to] - begin};
  }

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> ends_;  // [partition], in order_
};

// A list for all receivers: a pair of partitions exchanges but a few packets in a window, and a large system
// has tens of thousands of pairs.
struct PartitionMessages {
  // A packet in a cache line of its own: receivers pick theirs.
  struct alignas(64) SentPacket {
    Packet packet;
    PacketTimes times;
    LowTick when = 0;
    std::uint32_t input_vc = 0;       // numbered by the receiver
    std::uint32_t serialization = 0;  // offset of the packet's own bytes
    std::uint32_t to = 0;
    static constexpr bool kArchivedWhole = true;
  };
  static_assert(sizeof(SentPacket) == 64);
  struct SentCredit {
    Credit credit;
    std::uint32_t to = 0;
    static constexpr bool kArchivedWhole = true;
  };
  struct SentAcknowledgement {
    Acknowledgement acknowledgement;
    std::uint32_t to = 0;
    void archive(Archive& archive) { archive(acknowledgement, to); }
  };
  std::vector<SentPacket> packets;
  std::vector<std::byte> serialization;  // PacketStore::pack()
  std::vector<SentCredit> credits;
  std::vector<Feedback> feedback;  // report with each credit, if there is a learner
  std::vector<SentAcknowledgement> acknowledgements;
  std::vector<std::uint32_t>
      messages;  // [to]: messages that jobs which end sent to hosts there; empty without programs
  ByReceiver packets_of, credits_of, acknowledgements_of;  // sorted at the end of the window

  void reserve(std::size_t most) {
    packets.reserve(most);
    credits.reserve(most);
  }
  void sort(std::uint32_t num_partitions) {
    packets_of.sort(packets, num_partitions);
    credits_of.sort(credits, num_partitions);
    acknowledgements_of.sort(acknowledgements, num_partitions);
  }
  // Prefetches the messages to a partition, in three steps, each for the data that the next step reads.
  void prefetch_messages(std::uint32_t to, std::uint32_t step) const noexcept {
    if (step < 2) {
      packets_of.prefetch_messages(to, step);
      credits_of.prefetch_messages(to, step);
      return;
    }
    for (const std::uint32_t i : packets_of.of(to)) prefetch(&packets[i]);
    for (const std::uint32_t i : credits_of.of(to)) prefetch(&credits[i]);
  }
  void clear() noexcept {
    packets.clear();
    serialization.clear();
    credits.clear();
    feedback.clear();
    acknowledgements.clear();
    messages.clear();
    packets_of.clear();
    credits_of.clear();
    acknowledgements_of.clear();
  }
  void archive(Archive& archive) {
    archive(packets, serialization, credits, feedback, acknowledgements, messages);
  }
};

}  // namespace dragonfly
