// How the row of a question is kept until it is handed out: as it will be shown; or, where everything about
// ports is counts and one shortest way, as half as many bytes, from which the row is made where it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "routing/question_plan.hpp"

namespace dragonfly {

class RowFormat {
 public:
  // The plan must outlive it.
  explicit RowFormat(const QuestionPlan& plan);

  [[nodiscard]] bool packed() const noexcept { return packed_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  // Of rows that are not packed: where features and mask are.
  [[nodiscard]] float* features(std::byte* row) const noexcept { return reinterpret_cast<float*>(row); }
  [[nodiscard]] std::uint8_t* mask(std::byte* row) const noexcept {
    return reinterpret_cast<std::uint8_t*>(row + plan_.layout.num_features() * sizeof(float));
  }
  // Packs one; `minimal`: the port of the shortest way. Precondition: packed().
  void pack(std::byte* row, const RouteContext& context, std::uint64_t legal, Port minimal,
            std::uint32_t recent, Tick now) const noexcept;

  // Writes what is shown: num_features numbers and num_actions flags.
  void unpack(const std::byte* row, float* features, std::uint8_t* mask) const noexcept;

 private:
  // In front of a packed row. Behind it: the features of the decision, then packets in the queues of each
  // port, then those whose credit is not back.
  struct Head {
    std::uint64_t legal = 0;    // bits of actions
    std::uint16_t minimal = 0;  // the action on the shortest way
  };
  static constexpr std::size_t kHeadBytes = 12;  // the features need no more room in between

  [[nodiscard]] Head head_of(const std::byte* row) const noexcept {
    Head head;
    std::memcpy(&head.legal, row, sizeof(head.legal));
    std::memcpy(&head.minimal, row + sizeof(head.legal), sizeof(head.minimal));
    return head;
  }

  const QuestionPlan& plan_;
  bool packed_;
  std::size_t bytes_;
  std::uint32_t decision_bytes_ = 0;
  bool queued_;  // whether it is shown
  bool in_use_;
  const FeatureBlock* minimal_;       // null: not shown
  std::uint32_t first_decision_ = 0;  // the first column that stands for the decision
  std::vector<float> per_packet_;  // [column]: one packet in the unit of occupancies; of all that count them
  std::vector<float> constant_;    // the columns between those and the decision's, but for the shortest way
};

}  // namespace dragonfly
