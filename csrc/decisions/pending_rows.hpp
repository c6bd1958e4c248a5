// Pending decisions of one partition, with their observations, and the choice of packets whose decisions
// wait.
//
// If the network has a background policy (Blueprint::background), it decides about every packet at once.
// Decisions of wanted packets are added here, too; the background policy's choice holds if no outside policy
// acts on the packet, because the choice takes effect only after the routing delay. Decisions of other
// packets are counted, so that a partition stops at the same times as if all decisions waited here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/prefetch.hpp"
#include "decisions/decision_plan.hpp"
#include "decisions/growing_buffer.hpp"
#include "decisions/packet_selection.hpp"
#include "decisions/records.hpp"

namespace dragonfly {

// A packet that waits for a decision, as it was when the decision was raised.
struct PendingDecision {
  std::uint32_t packet = kNil;  // number of the packet in its partition
  std::uint32_t input_vc = kNil;
  std::uint32_t router = 0;
  std::uint32_t source_host = 0;
  std::uint32_t number = 0;
  std::uint32_t destination_host = 0;
  std::uint32_t destination_router = 0;
  LowTick arrived = 0;
  Tick created = 0;
  Tick time = 0;
  std::uint16_t group = 0;
  std::uint16_t destination_group = 0;
  std::int16_t input_port = 0;
  std::int16_t minimal_action = 0;  // always legal
  std::uint8_t hops = 0;
  std::uint8_t vc = 0;
  bool minimal = true;  // never sent off the minimal path so far
  bool forced = false;

  [[nodiscard]] std::int64_t id() const noexcept { return decision_id(source_host, number, hops); }
  void archive(Archive& archive) {
    archive(packet, input_vc, router, source_host, number, destination_host, destination_router, arrived,
            created, time, group, destination_group, input_port, minimal_action, hops, vc, minimal, forced);
  }
};
static_assert(sizeof(PendingDecision) == 64);

// The packet's plan before the background policy decided about it.
struct PlanBefore {
  std::uint32_t intermediate_router = kNil;
  std::uint16_t intermediate_group = kNoGroup;
  Plan plan = Plan::kMinimal;
  NonMinimalKind nonminimal_kind = NonMinimalKind::kLgl;
  bool non_minimal = false;
  void archive(Archive& archive) {
    archive(intermediate_router, intermediate_group, plan, nonminimal_kind, non_minimal);
  }
};

class PendingRows {
 public:
  // Selects the packets whose decisions are added from now on. Needs a background policy unless all are.
  void select(const PacketSelection& wanted) noexcept { wanted_ = wanted; }
  [[nodiscard]] bool selects_all() const noexcept { return wanted_.kind == PacketSelection::Kind::kAll; }
  // Keeps only decision i, or none, to be made outside: the background policy's choices hold for the others.
  void keep_only(std::uint32_t i);
  void dismiss() noexcept {
    others_ += size_;
    size_ = 0;
  }
  // Whether the background policy has also made the pending decisions.
  [[nodiscard]] bool decided_before() const noexcept { return decided_before_; }
  // Restores the plan from before the background policy's decision i.
  void undo(std::uint32_t i, Packet& packet) const noexcept;
  // Clears the decisions, after all of them have been made.
  void clear_pending() noexcept {
    size_ = others_ = 0;
    decided_before_ = false;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // Whether decisions have been raised since the last were made; first_time() is the time of the first.
  [[nodiscard]] bool waits() const noexcept { return size_ + others_ > 0; }
  [[nodiscard]] Tick first_time() const noexcept { return first_time_; }
  [[nodiscard]] const PendingDecision& decision_at(std::uint32_t i) const noexcept {
    return pending_.data()[i];
  }
  // Row i, in the format of DecisionPlan::rows.
  [[nodiscard]] const std::byte* row(std::uint32_t i) const noexcept { return rows_.data() + i * row_bytes_; }
  // Writes directly to the destination, which is most likely in no cache.
  void write_facts(std::uint32_t i, PacketFacts& into) const noexcept;
  [[nodiscard]] const Candidate* candidates(std::uint32_t i) const noexcept {
    return candidates_.data() + std::size_t{i} * plan_.num_candidates;
  }
  // Prefetches all of decision i.
  void prefetch_row(std::uint32_t i) const noexcept {
    prefetch(row(i), row_bytes_);
    prefetch(&pending_.data()[i]);
    prefetch(candidates(i), plan_.num_candidates * sizeof(Candidate));
  }

 protected:
  void archive(Archive& archive);
  explicit PendingRows(const DecisionPlan& plan) : plan_{plan}, row_bytes_{plan.rows.bytes()} { make_room(); }

  // Doubles the room for decisions.
  void make_room();
  void note_time(Tick now) noexcept {
    if (!waits()) first_time_ = now;
  }
  // Called before the background policy decides about a packet; returns whether the packet is wanted. The
  // plan of a wanted packet is kept for undo(), should its decision be the next to be raised.
  [[nodiscard]] bool keep_plan(const Packet& packet);

  const DecisionPlan& plan_;
  const std::size_t row_bytes_;
  PacketSelection wanted_;
  std::uint32_t size_ = 0;
  std::uint32_t others_ = 0;  // decisions that no outside policy makes
  Tick first_time_ = 0;
  bool decided_before_ = false;
  GrowingBuffer<PlanBefore> before_;  // entry i belongs to pending_[i]; empty unless decided_before_
  GrowingBuffer<PendingDecision> pending_;
  GrowingBuffer<std::byte> rows_;
  GrowingBuffer<Candidate> candidates_;
};

}  // namespace dragonfly
