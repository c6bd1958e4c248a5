#include "decisions/pending_decisions.hpp"

#include <algorithm>

namespace dragonfly {

void PendingDecisions::make_room() {
  const std::size_t room = std::max<std::size_t>(64, std::size_t{size_} * 2);
  pending_.reserve(room, size_);
  rows_.reserve(room * row_bytes_, size_ * row_bytes_);
  candidates_.reserve(room * plan_.num_candidates, std::size_t{size_} * plan_.num_candidates);
  if (decided_before_) before_.reserve(room, size_);
}

void PendingDecisions::write_facts(std::uint32_t i, PacketFacts& into) const noexcept {
  const PendingDecision& asked = pending(i);
  into.created_ns = plan_.to_ns(asked.created);
  into.arrived_ns = plan_.to_ns(time_until(asked.time, asked.arrived));
  into.source_host = asked.source_host;
  into.destination_host = asked.destination_host;
  into.number = asked.number;
  into.source_router = plan_.paths.topology().router_of_host(asked.source_host);
  into.destination_router = asked.destination_router;
  into.destination_group = asked.destination_group;
  into.input_port = asked.input_port;
  into.minimal_action = asked.minimal_action;
  into.hops = asked.hops;
  into.vc = asked.vc;
  into.minimal = asked.minimal;
  std::ranges::fill(into.unused, std::uint8_t{0});
}

void PendingDecisions::archive(Archive& archive) {
  archive(wanted_, size_, others_, first_time_, decided_before_);
  if (archive.reads()) {
    const std::size_t room = std::max<std::size_t>(64, std::size_t{size_} * 2);  // as make_room()
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

bool PendingDecisions::keep_plan(const Packet& packet) {
  if (!decided_before_) {
    decided_before_ = true;
    make_room();
  }
  if (!wanted_.include(packet)) return false;
  before_.data()[size_] = {.detour_router = packet.detour_router,
                           .detour_group = packet.detour_group,
                           .plan = packet.plan,
                           .detour_kind = packet.detour_kind,
                           .non_minimal = packet.non_minimal};
  return true;
}

void PendingDecisions::undo(std::uint32_t i, Packet& packet) const noexcept {
  const PlanBefore& before = before_.data()[i];
  packet.detour_router = before.detour_router;
  packet.detour_group = before.detour_group;
  packet.plan = before.plan;
  packet.detour_kind = before.detour_kind;
  packet.non_minimal = before.non_minimal;
}

void PendingDecisions::keep_only(std::uint32_t i) {
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
