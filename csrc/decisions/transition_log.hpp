// Decisions with their outcome, and the observations before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/prefetch.hpp"
#include "decisions/growing_buffer.hpp"
#include "decisions/records.hpp"

namespace dragonfly {

class TransitionLog {
 public:
  // `row_bytes`: of an observation with its mask.
  TransitionLog(std::size_t row_bytes, bool keeps) : row_bytes_{row_bytes}, keeps_{keeps} {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return size_ * (sizeof(CompletedDecision) + 2 * row_bytes_);
  }
  [[nodiscard]] const CompletedDecision* heads() const noexcept { return heads_.data(); }
  [[nodiscard]] const std::byte* row(std::size_t i) const noexcept { return rows_.data() + i * row_bytes_; }
  [[nodiscard]] const std::byte* next_row(std::size_t i) const noexcept {
    return next_rows_.data() + i * row_bytes_;
  }
  // Prefetches all of row i.
  void prefetch_row(std::size_t i) const noexcept {
    prefetch(&heads_.data()[i]);
    prefetch(row(i), row_bytes_);
    prefetch(next_row(i), row_bytes_);
  }
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }

  // `next_row`: null if there is no next decision; then it is all zero. Precondition: keeps().
  void add(const CompletedDecision& decision, const std::byte* row, const std::byte* next_row) {
    const std::size_t needed = size_ + 1;
    heads_.reserve(needed, size_);
    rows_.reserve(needed * row_bytes_, size_ * row_bytes_);
    next_rows_.reserve(needed * row_bytes_, size_ * row_bytes_);
    heads_.data()[size_] = decision;
    std::memcpy(rows_.data() + size_ * row_bytes_, row, row_bytes_);
    if (next_row != nullptr) {
      std::memcpy(next_rows_.data() + size_ * row_bytes_, next_row, row_bytes_);
    } else {
      std::memset(next_rows_.data() + size_ * row_bytes_, 0, row_bytes_);
    }
    ++size_;
  }
  void clear() noexcept { size_ = 0; }
  void archive(Archive& archive) {
    archive(keeps_, size_);
    heads_.archive(archive, size_);
    rows_.archive(archive, size_ * row_bytes_);
    next_rows_.archive(archive, size_ * row_bytes_);
  }
  // Keeps no further rows, and frees the memory of earlier rows.
  void stop_keeping() noexcept {
    keeps_ = false;
    size_ = 0;
    heads_ = {};
    rows_ = {};
    next_rows_ = {};
  }

 private:
  std::size_t row_bytes_;
  bool keeps_;
  std::size_t size_ = 0;
  GrowingBuffer<CompletedDecision> heads_;
  GrowingBuffer<std::byte> rows_;
  GrowingBuffer<std::byte> next_rows_;
};

}  // namespace dragonfly
