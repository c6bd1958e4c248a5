// The rows that a policy of the core sees: for all decisions of one time in one partition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "routing/observation_writer.hpp"

namespace dragonfly {

class ObservationTable {
 public:
  ObservationTable(const ObservationPlan& plan, std::uint32_t first_router, std::uint32_t num_routers)
      : plan_{plan}, writer_{plan, first_router, num_routers} {}

  // Adds a row, unless there is no choice.
  bool add(const RouteContext& context, Tick now) {
    const DecisionStatus status = status_of(plan_.spec, context);
    if (status != DecisionStatus::kFree) return false;
    if (size_ == room_) grow();
    PlannedHop planned;
    if (!writer_.write(context, status, now, features_.data() + std::size_t{size_} * num_features(),
                       mask_.data() + std::size_t{size_} * plan_.num_actions,
                       candidates_.data() + std::size_t{size_} * plan_.num_candidates, planned)) {
      return false;
    }
    ++size_;
    return true;
  }
  void clear() noexcept { size_ = 0; }
  // Between two times the rows are scratch; the counts of the writer are not.
  void archive(Archive& archive) { archive(writer_); }

  // The rows; valid until the next row is added.
  [[nodiscard]] ObservationRows rows() const noexcept {
    return {.features = features_.data(),
            .mask = mask_.data(),
            .candidates = candidates_.data(),
            .num_features = num_features(),
            .num_actions = plan_.num_actions,
            .num_candidates = plan_.num_candidates};
  }

 private:
  [[nodiscard]] std::uint32_t num_features() const noexcept { return plan_.layout.num_features(); }
  void grow() {
    room_ = std::max(64U, room_ * 2);
    features_.resize(std::size_t{room_} * num_features());
    mask_.resize(std::size_t{room_} * plan_.num_actions);
    candidates_.resize(std::size_t{room_} * plan_.num_candidates);
  }

  const ObservationPlan& plan_;
  ObservationWriter writer_;
  std::uint32_t size_ = 0;
  std::uint32_t room_ = 0;
  std::vector<float> features_;
  std::vector<std::uint8_t> mask_;
  std::vector<Candidate> candidates_;
};

}  // namespace dragonfly
