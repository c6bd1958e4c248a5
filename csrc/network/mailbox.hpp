// What one partition sends to another during a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/time.hpp"
#include "routing/acknowledgement.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// What learners hear of a hop, with the credit for the place that the packet leaves (hop_feedback.hpp).
struct Feedback {
  std::uint32_t row = kNil;  // of the reader's table; kNil: nothing to report
  float target_ns = 0;
  static constexpr bool kArchivedWhole = true;
};

// A credit on its way to an output port.
struct Credit {
  LowTick when = 0;
  std::uint32_t item = 0;  // id of the port, shifted by kVcBits, and VC
  static constexpr bool kArchivedWhole = true;
};
inline constexpr std::uint32_t kVcBits = 4;

struct Mailbox {
  struct SentPacket {
    Packet packet;
    PacketTimes times;
    LowTick when = 0;
    std::uint32_t input_vc = 0;  // numbered by the receiver
    void archive(Archive& archive) { archive(packet, times, when, input_vc); }
  };
  std::vector<SentPacket> packets;
  std::vector<std::byte> baggage;  // of all of them: PacketStore::pack()
  std::vector<Credit> credits;
  std::vector<Feedback> feedback;  // of each of them, with a learner
  std::vector<Acknowledgement> acknowledgements;
  std::uint32_t messages = 0;  // that jobs that end have sent to hosts of the receiver: an announcement

  void archive(Archive& archive) { archive(packets, baggage, credits, feedback, acknowledgements, messages); }
};

}  // namespace dragonfly
