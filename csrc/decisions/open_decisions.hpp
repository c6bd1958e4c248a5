// Decisions that wait for their outcome, kept by packet: only the partition that has the packet may read and
// end these decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/large_pages.hpp"
#include "core/prefetch.hpp"
#include "decisions/records.hpp"
#include "decisions/serialization.hpp"

namespace dragonfly {

class OpenDecisions {
 public:
  // `row_bytes`: of an observation with its mask; 0: not kept. `notes_hops`: whether hop() may be used.
  OpenDecisions(std::uint32_t most_per_packet, std::size_t row_bytes, bool notes_hops)
      : most_{most_per_packet}, row_bytes_{row_bytes}, notes_hops_{notes_hops} {}

  // Room for so many packets.
  void resize(std::size_t packets) {
    heads_.resize(packets * most_);
    rows_.resize(packets * most_ * row_bytes_);
    if (notes_hops_) hops_.resize(packets);
  }

  [[nodiscard]] std::uint32_t count(std::uint32_t packet) const noexcept {
    return heads_[std::size_t{packet} * most_].open;
  }
  [[nodiscard]] const OpenDecision& head(std::uint32_t packet, std::uint32_t i) const noexcept {
    return heads_[std::size_t{packet} * most_ + i];
  }
  [[nodiscard]] const std::byte* row(std::uint32_t packet, std::uint32_t i) const noexcept {
    return rows_.data() + (std::size_t{packet} * most_ + i) * row_bytes_;
  }
  // The note on the packet's last hop; empty after the packet has left the network.
  [[nodiscard]] HopNote& hop(std::uint32_t packet) noexcept { return hops_[packet]; }
  void prefetch_packet(std::uint32_t packet) const noexcept {
    prefetch(heads_.data() + std::size_t{packet} * most_);
  }

  // Precondition: fewer than most_per_packet are open. `row`: null where none are kept.
  void add(std::uint32_t packet, const OpenDecision& decision, const std::byte* row) noexcept {
    const std::size_t first = std::size_t{packet} * most_;
    const std::uint32_t count = heads_[first].open;
    const std::size_t at = first + count;
    heads_[at] = decision;
    heads_[first].open = count + 1;
    if (row != nullptr) std::memcpy(rows_.data() + at * row_bytes_, row, row_bytes_);
  }
  void clear(std::uint32_t packet) noexcept { heads_[std::size_t{packet} * most_].open = 0; }

  // Call after resize(). Empty entries are left out: few packets have several decisions open, many have none.
  void archive(Archive& archive) {
    for (std::size_t first = 0; first < heads_.size(); first += most_) {
      std::uint32_t open = heads_[first].open;
      archive(open);
      archive.block(heads_.data() + first, open);
      heads_[first].open = open;
      archive.block(rows_.data() + first * row_bytes_, open * row_bytes_);
    }
    archive.fixed(hops_);
  }

  // Serializes the decisions of a packet that goes to another partition.
  void pack(std::uint32_t packet, std::vector<std::byte>& into) const {
    const std::uint32_t open = count(packet);
    append(into, open);
    append_bytes(into, heads_.data() + std::size_t{packet} * most_, open * sizeof(OpenDecision));
    append_bytes(into, row(packet, 0), open * row_bytes_);
    if (notes_hops_) append(into, hops_[packet]);
  }
  const std::byte* unpack(std::uint32_t packet, const std::byte* from) {
    std::uint32_t open = 0;
    from = take(from, open);
    const std::size_t first = std::size_t{packet} * most_;
    std::memcpy(static_cast<void*>(heads_.data() + first), from, open * sizeof(OpenDecision));
    heads_[first].open = open;
    from += open * sizeof(OpenDecision);
    if (open > 0 && row_bytes_ > 0) std::memcpy(rows_.data() + first * row_bytes_, from, open * row_bytes_);
    from += open * row_bytes_;
    return notes_hops_ ? take(from, hops_[packet]) : from;
  }

 private:
  std::uint32_t most_;
  std::size_t row_bytes_;
  bool notes_hops_;
  LargeVector<OpenDecision> heads_;
  LargeVector<std::byte> rows_;
  std::vector<HopNote> hops_;
};

}  // namespace dragonfly
