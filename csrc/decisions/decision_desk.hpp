// Where the packets of one partition wait for answers from outside.
//
// A decision sees the router as it is at its time and takes effect one routing delay later, so all
// that are raised within one routing delay of the first may be answered together. The partition stops
// before that time is over.
#pragma once

#include <cstdint>
#include <span>

#include "decisions/hop_reports.hpp"
#include "decisions/open_decisions.hpp"
#include "decisions/pending_decisions.hpp"
#include "decisions/transition_log.hpp"
#include "routing/question_writer.hpp"

namespace dragonfly {

class DecisionDesk : public PendingDecisions {
 public:
  DecisionDesk(const DecisionPlan& plan, OpenDecisions& open, std::uint32_t first_router,
               std::uint32_t num_routers);

  // Puts the packet of `context` on the desk, or returns false: it has no choice that is reported.
  // Ends the packet's previous decision, if that is what rewards are rewarded for.
  bool raise(const RouteContext& context, std::uint32_t packet, std::uint32_t input_vc, Port input_port,
             Tick now);
  // With a background policy, before it decides: the same for a wanted packet; others are counted.
  void consider(const RouteContext& context, std::uint32_t packet, std::uint32_t input_vc, Port input_port,
                Tick now);
  // The packet has reached its host; ends its decisions. `counted`: in the mean of the step.
  void delivered(std::uint32_t packet, Tick when, Tick latency, bool counted);

  // Takes the answer to pending decision i: moves the packet's plan and returns where it goes.
  // Precondition: the action is legal. `credit_delays`: by class of link.
  Hop answer(std::uint32_t i, std::int32_t action, Packet& packet, std::span<const Tick> credit_delays);
  // Prefetches what answer() and raise() need of a packet.
  void touch(std::uint32_t packet) const noexcept { open_.touch(packet); }
  // Prefetches the count of questions that raise() needs for a packet to that group.
  void touch_counts(std::uint32_t router, std::uint32_t group) const noexcept {
    writer_.touch_counts(router, group);
  }
  // The completed decisions have been taken; those of the last step can still be read.
  void mark_taken() noexcept { taken_ = true; }
  [[nodiscard]] std::size_t not_taken() const noexcept { return taken_ ? 0 : log_.size(); }
  // From now on completed decisions are kept for one step only, without what was seen.
  void stop_keeping() noexcept { log_.drop_rows(); }
  // Forgets what was rewarded with in the last step, and, unless transitions are kept, what was completed.
  void begin_step() noexcept;

  void archive(Archive& archive) {
    PendingDecisions::archive(archive);
    archive(writer_, log_, reports_, first_of_step_, delivered_in_step_, latency_in_step_, taken_);
  }
  [[nodiscard]] TransitionLog& log() noexcept { return log_; }
  [[nodiscard]] HopReports& reports() noexcept { return reports_; }
  [[nodiscard]] std::size_t first_of_step() const noexcept { return first_of_step_; }
  [[nodiscard]] std::uint64_t delivered_in_step() const noexcept { return delivered_in_step_; }
  [[nodiscard]] Tick latency_in_step() const noexcept { return latency_in_step_; }

 private:
  void complete(std::uint32_t packet, std::uint32_t i, Tick leg_end, Tick paid_until, std::int64_t next_id,
                std::int32_t next_agent, const std::byte* next_row);

  OpenDecisions& open_;
  QuestionWriter writer_;
  TransitionLog log_;
  HopReports reports_;
  std::size_t first_of_step_ = 0;
  std::uint64_t delivered_in_step_ = 0;
  Tick latency_in_step_ = 0;
  bool taken_ = false;
};

}  // namespace dragonfly
