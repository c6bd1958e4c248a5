#include "decisions/pending_rows.hpp"

#include <algorithm>

namespace dragonfly {

void PendingRows::make_room() {
  const std::size_t room = std::max<std::size_t>(64, std::size_t{size_} * 2);
  pending_.reserve(room, size_);
  rows_.reserve(room * row_bytes_, size_ * row_bytes_);
  candidates_.reserve(room * plan_.num_candidates, std::size_t{size_} * plan_.num_candidates);
  if (decided_before_) before_.reserve(room, size_);
}

void PendingRows::write_facts(std::uint32_t i, PacketFacts& into) const noexcept {
  const PendingDecision& decision = decision_at(i);
  into.created_ns = plan_.to_ns(decision.created);
  into.arrived_ns = plan_.to_ns(time_until(decision.time, decision.arrived));
  into.source_host = decision.source_host;
  into.destination_host = decision.destination_host;
  into.number = decision.number;
  into.source_router = plan_.paths.topology().router_of_host(decision.source_host);
  into.destination_router = decision.destination_router;
  into.destination_group = decision.destination_group;
  into.input_port = decision.input_port;
  into.minimal_action = decision.minimal_action;
  into.hops = decision.hops;
  into.vc = decision.vc;
  into.minimal = decision.minimal;
  std::ranges::fill(into.unused, std::uint8_t{0});
}

void PendingRows::archive(Archive& archive) {
  archive(wanted_, size_, others_, first_time_, decided_before_);
  if (archive.reads()) {
    const std::size_t room =
        std::max<std::size_t>(64, std::size_t{size_} * 2);  // the capacity that make_room() chooses
    pending_.reserve(room, 0);
    rows_.reserve(room * row_bytes_, 0);
    candidates_.reserve(room * plan_.num_candidates, 0);
    if (decided_before_) before_.reserve(room, 0);
  }
  if (decided_before_) before_.archive(archive, size_);
  pending_.archive(archive, size_);
  rows_.archive(archive, size_ * row_bytes_);
  candidates_.archive(archive, std::size_t{size_} * plan_.num_candidates);
}

bool PendingRows::keep_plan(const Packet& packet) {
  if (!decided_before_) {
    decided_before_ = true;
    make_room();
  }
  if (!wanted_.include(packet)) return false;
  before_.data()[size_] = {.intermediate_router = packet.intermediate_router,
                           .intermediate_group = packet.intermediate_group,
                           .plan = packet.plan,
                           .nonminimal_kind = packet.nonminimal_kind,
                           .non_minimal = packet.non_minimal};
  return true;
}

void PendingRows::undo(std::uint32_t i, Packet& packet) const noexcept {
  const PlanBefore& before = before_.data()[i];
  packet.intermediate_router = before.intermediate_router;
  packet.intermediate_group = before.intermediate_group;
  packet.plan = before.plan;
  packet.nonminimal_kind = before.nonminimal_kind;
  packet.non_minimal = before.non_minimal;
}

void PendingRows::keep_only(std::uint32_t i) {
  const std::uint32_t dropped = size_ - 1;
  if (i > 0) {
    pending_.data()[0] = pending_.data()[i];
    before_.data()[0] = before_.data()[i];
    std::copy_n(rows_.data() + i * row_bytes_, row_bytes_, rows_.data());
    std::copy_n(candidates(i), plan_.num_candidates, candidates_.data());
  }
  size_ = 1;
  others_ += dropped;
}

}  // namespace dragonfly
