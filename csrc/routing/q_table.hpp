// The estimates of all routers: one row per destination, one column per port between routers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dragonfly {

class QTable {
 public:
  void resize(std::uint32_t routers, std::uint32_t rows, std::uint32_t ports) {
    routers_ = routers;
    rows_ = rows;
    ports_ = ports;
    values_ = std::make_shared<float[]>(size());
  }
  [[nodiscard]] std::uint32_t routers() const noexcept { return routers_; }
  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint32_t ports() const noexcept { return ports_; }
  [[nodiscard]] std::size_t size() const noexcept { return std::size_t{routers_} * rows_ * ports_; }

  // Nanoseconds; ports() numbers.
  [[nodiscard]] float* row(std::uint32_t router, std::uint32_t index) noexcept {
    return values_.get() + (std::size_t{router} * rows_ + index) * ports_;
  }
  [[nodiscard]] const float* row(std::uint32_t router, std::uint32_t index) const noexcept {
    return values_.get() + (std::size_t{router} * rows_ + index) * ports_;
  }
  void touch(std::uint32_t router, std::uint32_t index) const noexcept {
    const float* const first = row(router, index);
    __builtin_prefetch(first, 1);
    __builtin_prefetch(first + ports_ - 1, 1);
  }
  // The lowest port with the smallest value.
  [[nodiscard]] std::uint32_t best(const float* row) const noexcept {
    std::uint32_t best = 0;
    float lowest = row[0];
    for (std::uint32_t i = 1; i < ports_; ++i) {
      if (row[i] < lowest) {
        lowest = row[i];
        best = i;
      }
    }
    return best;
  }
  [[nodiscard]] std::shared_ptr<float[]> share() const noexcept { return values_; }

 private:
  std::uint32_t routers_ = 0;
  std::uint32_t rows_ = 0;
  std::uint32_t ports_ = 0;
  std::shared_ptr<float[]> values_;
};

}  // namespace dragonfly
