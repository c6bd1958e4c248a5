// Where the packets of one partition wait for answers from outside.
//
// A decision sees the router as it is at its instant and takes effect one routing delay later, so all
// that are raised within one routing delay of the first may be answered together. The partition stops
// before that time is over.
//
// Where the network has a background policy (Blueprint::background), that decides about every packet at
// once. The wanted ones are put on the desk, too, and what was decided about them stands unless somebody
// outside answers: nothing comes of it before the routing delay is over. The others are counted, so that a
// partition stops at the same instants as if all were on the desk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decisions/decision_plan.hpp"
#include "decisions/growing_buffer.hpp"
#include "decisions/hop_reports.hpp"
#include "decisions/open_decisions.hpp"
#include "decisions/records.hpp"
#include "decisions/transition_log.hpp"
#include "decisions/wanted_packets.hpp"
#include "routing/question_writer.hpp"

namespace dragonfly {

// A packet that waits for an answer, as its partition knows it.
struct PendingDecision {
  std::uint32_t packet = kNil;
  std::uint32_t input_vc = kNil;
  std::uint32_t router = 0;
  std::uint16_t group = 0;
  bool forced = false;
  Tick time = 0;
};

// What a packet was about to do before the background policy decided about it.
struct PlanBefore {
  std::uint32_t detour_router = kNil;
  std::uint16_t detour_group = kNoGroup;
  Plan plan = Plan::kMinimal;
  DetourKind detour_kind = DetourKind::kLgl;
  bool non_minimal = false;
};

class DecisionDesk {
 public:
  DecisionDesk(const DecisionPlan& plan, OpenDecisions& open, std::uint32_t first_router,
               std::uint32_t num_routers);

  // Puts the packet of `context` on the desk, or returns false: it has no choice that is reported.
  // Ends the packet's previous decision, if that is what rewards are paid for.
  bool raise(const RouteContext& context, std::uint32_t packet, std::uint32_t input_vc, Port input_port,
             Tick now);
  // With a background policy, before it decides: the same for a wanted packet; others are counted.
  void consider(const RouteContext& context, std::uint32_t packet, std::uint32_t input_vc, Port input_port,
                Tick now);
  // From now on. Other than all only with a background policy.
  void want(const WantedPackets& wanted) noexcept { wanted_ = wanted; }
  [[nodiscard]] bool wants_all() const noexcept { return wanted_.kind == WantedPackets::Kind::kAll; }
  // Of pending decisions only i, or none, is still to be answered: what was decided about the others stands.
  void keep_only(std::uint32_t i);
  void dismiss() noexcept {
    others_ += size_;
    size_ = 0;
  }
  // Whether the background policy has decided, too, about what is pending.
  [[nodiscard]] bool decided_before() const noexcept { return decided_before_; }
  // Forgets what it has decided about pending decision i.
  void undo(std::uint32_t i, Packet& packet) const noexcept;

  // The packet has reached its host; ends its decisions.
  void delivered(std::uint32_t packet, Tick when, Tick latency);

  // Takes the answer to pending decision i: moves the packet's plan and returns where it goes.
  // Precondition: the action is legal. `credit_delays`: by class of link.
  Hop answer(std::uint32_t i, std::int32_t action, Packet& packet, std::span<const Tick> credit_delays);
  // Prefetches what answer() and raise() need of a packet.
  void touch(std::uint32_t packet) const noexcept { open_.touch(packet); }
  // All pending decisions have been answered.
  void clear_pending() noexcept {
    size_ = others_ = 0;
    decided_before_ = false;
  }

  // The completed decisions have been taken; those of the last step can still be read.
  void mark_taken() noexcept { taken_ = true; }
  [[nodiscard]] std::size_t not_taken() const noexcept { return taken_ ? 0 : log_.size(); }
  // From now on completed decisions are kept for one step only, without what was seen.
  void stop_keeping() noexcept { log_.drop_rows(); }
  // Forgets what was paid in the last step, and, unless transitions are kept, what was completed.
  void begin_step() noexcept;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // Whether decisions have been raised since all were answered, and when the first of them was.
  [[nodiscard]] bool waits() const noexcept { return size_ + others_ > 0; }
  [[nodiscard]] Tick first_time() const noexcept { return first_time_; }
  [[nodiscard]] const PendingDecision& pending(std::uint32_t i) const noexcept { return pending_.data()[i]; }
  [[nodiscard]] const std::byte* rows() const noexcept { return rows_.data(); }
  [[nodiscard]] const float* observation(std::uint32_t i) const noexcept {
    return reinterpret_cast<const float*>(rows_.data() + i * row_bytes_);
  }
  [[nodiscard]] const std::uint8_t* mask(std::uint32_t i) const noexcept {
    return reinterpret_cast<const std::uint8_t*>(observation(i) + plan_.layout.num_features());
  }
  [[nodiscard]] const PacketFacts& facts(std::uint32_t i) const noexcept { return facts_.data()[i]; }
  [[nodiscard]] const Candidate* candidates(std::uint32_t i) const noexcept {
    return candidates_.data() + std::size_t{i} * plan_.num_candidates;
  }

  [[nodiscard]] TransitionLog& log() noexcept { return log_; }
  [[nodiscard]] HopReports& reports() noexcept { return reports_; }
  [[nodiscard]] std::size_t first_of_step() const noexcept { return first_of_step_; }
  [[nodiscard]] std::uint64_t delivered_in_step() const noexcept { return delivered_in_step_; }
  [[nodiscard]] Tick latency_in_step() const noexcept { return latency_in_step_; }

  // Bytes of an observation with its mask, padded to whole floats.
  [[nodiscard]] static std::size_t row_bytes(const DecisionPlan& plan) noexcept {
    return plan.layout.num_features() * sizeof(float) + (plan.num_actions + 3U) / 4U * 4U;
  }

 private:
  void make_room();
  void note_time(Tick now) noexcept {
    if (!waits()) first_time_ = now;
  }
  void complete(std::uint32_t packet, std::uint32_t i, Tick leg_end, Tick paid_until, std::int64_t next_id,
                std::int32_t next_agent, const std::byte* next_row);

  const DecisionPlan& plan_;
  OpenDecisions& open_;
  const std::size_t row_bytes_;
  QuestionWriter writer_;

  WantedPackets wanted_;
  std::uint32_t size_ = 0;
  std::uint32_t others_ = 0;  // decisions that nobody outside answers
  Tick first_time_ = 0;
  bool decided_before_ = false;
  GrowingBuffer<PlanBefore> before_;  // as pending_, if decided_before_
  GrowingBuffer<PendingDecision> pending_;
  GrowingBuffer<std::byte> rows_;
  GrowingBuffer<PacketFacts> facts_;
  GrowingBuffer<Candidate> candidates_;

  TransitionLog log_;
  HopReports reports_;
  std::size_t first_of_step_ = 0;
  std::uint64_t delivered_in_step_ = 0;
  Tick latency_in_step_ = 0;
  bool taken_ = false;
};

}  // namespace dragonfly
