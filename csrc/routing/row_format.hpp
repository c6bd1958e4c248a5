// The format in which the row of a decision is kept until it is handed out: as it will be shown; or, if all
// columns of ports are counts and there is one shortest path, in half as many bytes, from which the row is
// made at its destination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "routing/observation_plan.hpp"

namespace dragonfly {

class RowFormat {
 public:
  // The plan must outlive the format.
  explicit RowFormat(const ObservationPlan& plan);

  [[nodiscard]] bool packed() const noexcept { return packed_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  // Places of features and mask in rows that are not packed.
  [[nodiscard]] float* features(std::byte* row) const noexcept { return reinterpret_cast<float*>(row); }
  [[nodiscard]] std::uint8_t* mask(std::byte* row) const noexcept {
    return reinterpret_cast<std::uint8_t*>(row + plan_.layout.num_features() * sizeof(float));
  }
  // Packs a row; `minimal`: the port of the shortest path. Precondition: packed().
  void pack(std::byte* row, const RouteContext& context, std::uint64_t legal, Port minimal,
            std::uint32_t recent, Tick now) const noexcept;

  // Writes num_features numbers and num_actions flags.
  void unpack(const std::byte* row, float* features, std::uint8_t* mask) const noexcept;

 private:
  // Head of a packed row. Behind it: the features of the decision, then packets in the queues of each
  // port, then packets whose credit has not returned.
  struct Head {
    std::uint64_t legal = 0;    // bits of actions
    std::uint16_t minimal = 0;  // the action on the shortest path
  };
  static constexpr std::size_t kHeadBytes = 12;  // the features need no more room in between

  [[nodiscard]] Head head_of(const std::byte* row) const noexcept {
    Head head;
    std::memcpy(&head.legal, row, sizeof(head.legal));
    std::memcpy(&head.minimal, row + sizeof(head.legal), sizeof(head.minimal));
    return head;
  }

  const ObservationPlan& plan_;
  bool packed_;
  std::size_t bytes_;
  std::uint32_t decision_bytes_ = 0;
  bool queued_;  // whether it is shown
  bool in_use_;
  const FeatureBlock* minimal_;       // null: not shown
  std::uint32_t first_decision_ = 0;  // the first column of the decision
  std::vector<float> per_packet_;     // [column that counts packets]: one packet in the unit of occupancies
  std::vector<float> constant_;  // the columns between those and the decision's, but for the shortest path
};

}  // namespace dragonfly
