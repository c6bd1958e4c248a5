// Reports on hops for the routers that chose them: one report per hop, sent when the packet leaves the input
// buffer behind the hop, with the credit for that place. Learners in the core receive the same reports
// (routing/learning.hpp).
//
// Causality. A report that reaches a router x no later than a decision of x has been added before that
// decision is handed out, however partitions run ahead of each other. It was sent one credit delay earlier,
// either by a router of the same partition, which has passed that time, or over a global link, whose credit
// delay is no shorter than a window, hence in an earlier window, which all partitions have completed. And a
// packet leaves a buffer at the earliest at the clock edge after its decision has been made (also without a
// routing delay), so the next router's decision has been handed out before the report.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decisions/growing_buffer.hpp"
#include "decisions/open_decisions.hpp"
#include "decisions/records.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

class HopReports {
 public:
  // `first_port`: the port of action 0.
  HopReports(OpenDecisions& open, std::uint32_t first_port, bool keeps)
      : open_{open}, first_port_{first_port}, keeps_{keeps} {}

  [[nodiscard]] bool keeps() const noexcept { return keeps_; }
  // Keeps no report for the rest of the run, and gives the memory back.
  void stop_keeping() noexcept {
    keeps_ = false;
    clear();
    reports_ = {};
  }

  // The packet's router has raised a decision for it. Precondition, as of all below: keeps().
  void raised(std::uint32_t packet_index) noexcept { open_.hop(packet_index).raised = true; }

  // The packet leaves the input buffer of its router, which it reached from `port` of router `from`; the
  // report gets there at `when`.
  void left(std::uint32_t packet_index, const Packet& packet, std::uint32_t from, Port port, Tick when) {
    const HopNote& note = open_.hop(packet_index);
    if (!note.chosen) return;
    const auto id = [&](std::uint32_t hops) { return decision_id(packet.source_host, packet.number, hops); };
    reports_.reserve(size_ + 1, size_);
    reports_.data()[size_++] = {.id = id(packet.hops - 1U),
                                .next_id = note.raised ? id(packet.hops) : std::int64_t{-1},
                                .travel = static_cast<Tick>(packet.arrived - note.arrived),
                                .when = when,
                                .agent = static_cast<std::int32_t>(from),
                                .port = static_cast<std::int32_t>(port - first_port_)};
  }
  // Makes the present router the router before. Called after left(), and for packets from their hosts.
  void move_on(std::uint32_t packet_index, const Packet& packet) noexcept {
    HopNote& note = open_.hop(packet_index);
    note = {.arrived = packet.arrived, .chosen = note.raised, .raised = false};
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(HopReport); }
  [[nodiscard]] const HopReport* data() const noexcept { return reports_.data(); }
  void clear() noexcept { size_ = 0; }
  void archive(Archive& archive) {
    archive(keeps_, size_);
    reports_.archive(archive, size_);
  }

 private:
  OpenDecisions& open_;
  std::uint32_t first_port_;
  bool keeps_;
  std::size_t size_ = 0;
  GrowingBuffer<HopReport> reports_;
};

}  // namespace dragonfly
