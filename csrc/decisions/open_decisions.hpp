// Decisions that wait for their outcome, kept by packet: whoever has the packet may read and end them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/prefetch.hpp"
#include "core/reserved_array.hpp"
#include "decisions/records.hpp"

namespace dragonfly {

class OpenDecisions {
 public:
  // `row_bytes`: of an observation with its mask; 0: not kept. `notes_hops`: whether hop() may be used.
  OpenDecisions(std::size_t packets, std::uint32_t most_per_packet, std::size_t row_bytes, bool notes_hops)
      : most_{most_per_packet},
        row_bytes_{row_bytes},
        heads_{packets * most_per_packet},
        rows_{packets * most_per_packet * row_bytes},
        hops_{notes_hops ? packets : 0U} {}

  [[nodiscard]] std::uint32_t count(std::uint32_t packet) const noexcept {
    return heads_.data()[std::size_t{packet} * most_].open;
  }
  [[nodiscard]] const OpenDecision& head(std::uint32_t packet, std::uint32_t i) const noexcept {
    return heads_.data()[std::size_t{packet} * most_ + i];
  }
  [[nodiscard]] const std::byte* row(std::uint32_t packet, std::uint32_t i) const noexcept {
    return rows_.data() + (std::size_t{packet} * most_ + i) * row_bytes_;
  }
  // Of a packet that has left the network it is as of none.
  [[nodiscard]] HopNote& hop(std::uint32_t packet) noexcept { return hops_.data()[packet]; }
  void touch(std::uint32_t packet) const noexcept { prefetch(&heads_.data()[std::size_t{packet} * most_]); }

  // Precondition: fewer than most_per_packet are open. `row`: null where none are kept.
  void add(std::uint32_t packet, const OpenDecision& decision, const std::byte* row) noexcept {
    OpenDecision* const first = heads_.data() + std::size_t{packet} * most_;
    const std::uint32_t count = first->open;
    const std::size_t at = std::size_t{packet} * most_ + count;
    heads_.data()[at] = decision;
    first->open = count + 1;
    if (row != nullptr) std::memcpy(rows_.data() + at * row_bytes_, row, row_bytes_);
  }
  void clear(std::uint32_t packet) noexcept { heads_.data()[std::size_t{packet} * most_].open = 0; }

 private:
  std::uint32_t most_;
  std::size_t row_bytes_;
  ReservedArray<OpenDecision> heads_;
  ReservedArray<std::byte> rows_;
  ReservedArray<HopNote> hops_;
};

}  // namespace dragonfly
