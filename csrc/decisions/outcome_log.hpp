// Outcomes of decisions without observations: the views of single routers hand these out in every step.
#pragma once

#include <cstddef>

#include "decisions/growing_buffer.hpp"
#include "decisions/records.hpp"

namespace dragonfly {

class OutcomeLog {
 public:
  explicit OutcomeLog(bool keeps) : keeps_{keeps} {}

  [[nodiscard]] bool keeps() const noexcept { return keeps_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(DecisionOutcome); }
  [[nodiscard]] const DecisionOutcome* data() const noexcept { return outcomes_.data(); }

  // Precondition: keeps().
  void add(const DecisionOutcome& outcome) {
    outcomes_.reserve(size_ + 1, size_);
    outcomes_.data()[size_++] = outcome;
  }
  void clear() noexcept { size_ = 0; }
  // Keeps no outcome for the rest of the run, and frees the memory.
  void stop_keeping() noexcept {
    keeps_ = false;
    size_ = 0;
    outcomes_ = {};
  }
  void archive(Archive& archive) {
    archive(keeps_, size_);
    outcomes_.archive(archive, size_);
  }

 private:
  bool keeps_;
  std::size_t size_ = 0;
  GrowingBuffer<DecisionOutcome> outcomes_;
};

}  // namespace dragonfly
