// Decisions whose outcome is known, with what was seen before and after.
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
  explicit TransitionLog(std::size_t row_bytes) : row_bytes_{row_bytes} {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return size_ * (sizeof(CompletedDecision) + sizeof(double) + (keeps_rows_ ? 2 * row_bytes_ : 0));
  }
  [[nodiscard]] const CompletedDecision* heads() const noexcept { return heads_.data(); }
  [[nodiscard]] CompletedDecision* heads() noexcept { return heads_.data(); }
  [[nodiscard]] double* rewards() noexcept { return rewards_.data(); }
  [[nodiscard]] const std::byte* row(std::size_t i) const noexcept { return rows_.data() + i * row_bytes_; }
  [[nodiscard]] const std::byte* next_row(std::size_t i) const noexcept {
    return next_rows_.data() + i * row_bytes_;
  }
  // Prefetches all of row i.
  void touch(std::size_t i) const noexcept {
    prefetch(&heads_.data()[i]);
    if (!keeps_rows_) return;
    prefetch(row(i), row_bytes_);
    prefetch(next_row(i), row_bytes_);
  }
  void keep_rows(bool keep) noexcept { keeps_rows_ = keep; }
  [[nodiscard]] bool keeps_rows() const noexcept { return keeps_rows_; }

  // `next_row`: null when the packet was delivered; then it is all zero.
  void add(const CompletedDecision& decision, const std::byte* row, const std::byte* next_row) {
    const std::size_t needed = size_ + 1;
    if (needed > heads_.capacity()) {
      heads_.reserve(needed, size_);
      rewards_.reserve(heads_.capacity(), size_);
    }
    heads_.data()[size_] = decision;
    if (keeps_rows_) {
      rows_.reserve(needed * row_bytes_, size_ * row_bytes_);
      next_rows_.reserve(needed * row_bytes_, size_ * row_bytes_);
      std::memcpy(rows_.data() + size_ * row_bytes_, row, row_bytes_);
      if (next_row != nullptr) {
        std::memcpy(next_rows_.data() + size_ * row_bytes_, next_row, row_bytes_);
      } else {
        std::memset(next_rows_.data() + size_ * row_bytes_, 0, row_bytes_);
      }
    }
    ++size_;
  }
  void clear() noexcept { size_ = 0; }
  void archive(Archive& archive) {
    archive(keeps_rows_, size_);
    heads_.archive(archive, size_);
    rewards_.archive(archive, size_);
    if (!keeps_rows_) return;
    rows_.archive(archive, size_ * row_bytes_);
    next_rows_.archive(archive, size_ * row_bytes_);
  }
  // From now on no observations are kept, and the memory of those that were is given back.
  void drop_rows() noexcept {
    keeps_rows_ = false;
    rows_ = {};
    next_rows_ = {};
  }

 private:
  std::size_t row_bytes_;
  bool keeps_rows_ = true;
  std::size_t size_ = 0;
  GrowingBuffer<CompletedDecision> heads_;
  GrowingBuffer<double> rewards_;
  GrowingBuffer<std::byte> rows_;
  GrowingBuffer<std::byte> next_rows_;
};

}  // namespace dragonfly
