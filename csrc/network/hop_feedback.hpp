// What learning routers hear of the hops that they chose, as signals with the credits: the part of one
// partition.
//
// The router that a packet reached works out what the one before would have had to expect
// (Answer::target_ns). That waits in the packet until it leaves the buffer, and travels with the credit for
// its place there. Packets of learners take no detours: the travel time and then the report stand in the
// places of one.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "network/blueprint.hpp"
#include "routing/credit_signals.hpp"
#include "routing/question.hpp"

namespace dragonfly {

struct Feedback {
  std::uint32_t row = kNil;  // of the reader's table; kNil: nothing to report
  float target_ns = 0;
};
using FeedbackSignals = CreditSignals<Feedback>;

class HopFeedback {
 public:
  // Credits that may be under way to each port of a router, by port; all 0 without a learner.
  [[nodiscard]] static std::vector<std::uint64_t> most_under_way(const Blueprint& plan);
  // Memory of both ends of the lines of a router.
  [[nodiscard]] static std::uint64_t bytes_per_router(const Blueprint& plan);

  HopFeedback(const Blueprint& plan, std::uint32_t num_ports)
      : plan_{plan},
        learner_{plan.learner},
        out_(learner_ != nullptr ? num_ports : 0U),
        in_(learner_ != nullptr ? num_ports : 0U) {}

  // Whether anybody learns. Without, nothing below may be called but connect().
  [[nodiscard]] bool heard() const noexcept { return learner_ != nullptr; }
  // `id`: a port of this partition, `port` of `router`; `far`: what it is connected to.
  void connect(FeedbackSignals& signals, std::uint32_t id, std::uint32_t router, Port port,
               const Endpoint& far);

  // When the packet reaches a buffer.
  static void note_travel(Packet& packet, Tick now) noexcept {
    packet.detour_router = static_cast<std::uint32_t>(now - packet.arrived);
  }
  // When it was routed there.
  static void note_report(Packet& packet, const Answer& answer) noexcept {
    packet.detour_group = kNoGroup;
    if (!answer.reports) return;
    packet.detour_router = std::bit_cast<std::uint32_t>(answer.target_ns);
    packet.detour_group = 0;
  }
  // When it leaves the buffer of input port `id`. `silent`: it was routed from outside.
  void send(std::uint32_t id, const Packet& packet, bool silent) noexcept {
    Line& line = out_[id];
    Feedback& message = line.end.next();
    line.end.advance();
    message.row = kNil;
    if (packet.detour_group != 0 || packet.plan != Plan::kMinimal || silent) return;
    message = {learner_->row_of(packet, line.group), std::bit_cast<float>(packet.detour_router)};
  }
  // When the credit reaches output port `id`.
  void receive(std::uint32_t id, Tick now) noexcept {
    Line& line = in_[id];
    const Feedback& message = line.end.next();
    line.end.advance();
    if (message.row == kNil) return;
    learner_->learn(line.router, line.port, message.row, message.target_ns, plan_.to_ps(now));
  }
  // Prefetches what receive() is going to need.
  void touch(std::uint32_t id) const noexcept {
    const Line& line = in_[id];
    const std::uint32_t row = line.end.next().row;
    if (row != kNil) learner_->touch(line.router, row);
  }

 private:
  // One end, and who reads: reports are about packets that left that router through that port.
  struct Line {
    FeedbackSignals::End end;
    std::uint32_t router = 0;
    Port port = kNoPort;
    std::uint16_t group = 0;  // of the reader
  };
  [[nodiscard]] static Line line_of(FeedbackSignals& signals, const Dragonfly& topology, std::uint32_t router,
                                    Port port);

  const Blueprint& plan_;
  LearningPolicy* const learner_;
  std::vector<Line> out_;  // [router * radix + port]: what goes with credits of that input
  std::vector<Line> in_;   // [router * radix + port]: what comes with credits to that output
};

}  // namespace dragonfly
