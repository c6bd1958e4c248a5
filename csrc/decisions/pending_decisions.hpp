// Decisions of the packets of one partition that an outside policy makes.
//
// A decision sees the router at the time of the decision and takes effect one routing delay later. So all
// decisions that are raised within one routing delay of the first may be made together. The partition stops
// before that time is over.
#pragma once

#include <cstdint>
#include <span>

#include "decisions/arrival_counts.hpp"
#include "decisions/hop_reports.hpp"
#include "decisions/open_decisions.hpp"
#include "decisions/outcome_log.hpp"
#include "decisions/pending_rows.hpp"
#include "decisions/router_tallies.hpp"
#include "decisions/transition_log.hpp"
#include "routing/observation_writer.hpp"

namespace dragonfly {

class PendingDecisions : public PendingRows {
 public:
  PendingDecisions(const DecisionPlan& plan, OpenDecisions& open, std::uint32_t first_router,
                   std::uint32_t num_routers);

  // Begins the rewards: earlier events are forgotten.
  void begin(Tick now) noexcept { tallies_.begin(now); }
  // A host of that router has given it a packet.
  void injected(std::uint32_t router, const Packet& packet, Tick now) noexcept {
    tallies_.injected(router);
    arrivals_.add(router - first_router_, packet.destination_group, now);
  }
  // Makes the packet of `context` wait for a decision, or returns false if it has no choice that is reported.
  // With hop rewards the packet's previous decision ends now.
  bool raise(const RouteContext& context, std::uint32_t packet, std::uint32_t input_vc, Port input_port,
             Tick now);
  // Called before a background policy decides: raises a wanted packet's decision, and counts other decisions.
  void consider(const RouteContext& context, std::uint32_t packet, std::uint32_t input_vc, Port input_port,
                Tick now);
  // The packet has reached its host; ends its decisions.
  void delivered(std::uint32_t packet_index, const Packet& packet, Tick created, Tick when);
  // The episode ends before the packet is delivered: its decisions are handed out as truncated.
  void truncate(std::uint32_t packet_index, Tick now);
  // The router that holds a packet without a pending decision, and the time since when (router_tallies.hpp).
  struct Holder {
    std::uint32_t router;
    Tick since;
  };
  [[nodiscard]] Holder holder(std::uint32_t packet_index, const Packet& packet, Tick created) const noexcept;

  // Applies the action for pending decision i: changes the packet's plan and returns its next hop.
  // Precondition: the action is legal. `paths`: of the packet. `credit_delays`: by class of link.
  Hop apply(std::uint32_t i, std::int32_t action, Packet& packet, const PathFollower& paths,
            std::span<const Tick> credit_delays);
  // Prefetches the records of a packet that apply() and raise() need.
  void prefetch_packet(std::uint32_t packet) const noexcept { open_.prefetch_packet(packet); }
  // Prefetches the count of decisions that raise() needs for a packet to that group.
  void prefetch_counts(std::uint32_t router, std::uint32_t group) const noexcept {
    writer_.prefetch_counts(router, group);
  }
  // From now on completed decisions are not kept.
  void stop_keeping() noexcept { log_.stop_keeping(); }

  void archive(Archive& archive) {
    PendingRows::archive(archive);
    archive(writer_, log_, outcomes_, reports_, tallies_, arrivals_);
  }
  [[nodiscard]] TransitionLog& log() noexcept { return log_; }
  [[nodiscard]] OutcomeLog& outcomes() noexcept { return outcomes_; }
  [[nodiscard]] HopReports& reports() noexcept { return reports_; }
  [[nodiscard]] RouterTallies& tallies() noexcept { return tallies_; }
  [[nodiscard]] const ArrivalCounts& arrivals() const noexcept { return arrivals_; }

 private:
  // The end of decision i of a packet; null: there is no next decision.
  struct NextDecision {
    std::int64_t id;
    std::int32_t agent;
    const std::byte* row;
  };
  void complete(std::uint32_t packet_index, std::uint32_t i, Tick end, const NextDecision* next,
                bool truncated = false);

  OpenDecisions& open_;
  ObservationWriter writer_;
  TransitionLog log_;
  OutcomeLog outcomes_;
  HopReports reports_;
  RouterTallies tallies_;
  ArrivalCounts arrivals_;
  std::uint32_t first_router_;
};

}  // namespace dragonfly
