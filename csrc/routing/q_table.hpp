// The estimates of all routers: one row per destination, one column per port between routers. An infinite
// value closes a port: it is chosen only where it is the minimal one and all others are closed, too, and
// nothing is learnt about it. Ports without a link are always closed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/archive.hpp"
#include "core/large_pages.hpp"
#include "core/prefetch.hpp"

namespace dragonfly {

struct TableShape {
  std::uint32_t routers = 0;
  std::uint32_t rows = 0;
  std::uint32_t ports = 0;

  // Floats from one row to the next: whole vectors of four. (A row per cache line is slower: the tables then
  // crowd out the rest of the router.)
  [[nodiscard]] std::uint32_t stride() const noexcept { return (ports + 3U) / 4U * 4U; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return std::size_t{routers} * rows * stride() * sizeof(float);
  }
};

class QTable {
 public:
  // All values are infinite, and those behind the last port stay so: best() looks at whole rows.
  void resize(const TableShape& shape) {
    shape_ = shape;
    stride_ = shape.stride();
    const std::size_t size = std::size_t{shape.routers} * shape.rows * stride_;
    LargePages<float> memory;
    values_ = {memory.allocate(size),
               [size](float* values) { LargePages<float>{}.deallocate(values, size); }};
    std::uninitialized_fill_n(values_.get(), size, std::numeric_limits<float>::infinity());
  }
  [[nodiscard]] const TableShape& shape() const noexcept { return shape_; }

  // Nanoseconds; shape().ports numbers.
  [[nodiscard]] float* row(std::uint32_t router, std::uint32_t index) noexcept {
    return values_.get() + (std::size_t{router} * shape_.rows + index) * stride_;
  }
  [[nodiscard]] const float* row(std::uint32_t router, std::uint32_t index) const noexcept {
    return values_.get() + (std::size_t{router} * shape_.rows + index) * stride_;
  }
  void prefetch_row(std::uint32_t router, std::uint32_t index) const noexcept {
    const float* const first = row(router, index);
    prefetch(first);
    prefetch(first + stride_ - 1);
  }
  // The lowest port with the smallest value; 0 if all are infinite. Safe for any row: NaN is never smallest.
  // Without branches, because a branch on the port cannot be predicted.
  [[nodiscard]] std::uint32_t best(const float* row) const noexcept {
    const auto* const lanes = reinterpret_cast<const Lanes*>(row);
    constexpr float kNone = std::numeric_limits<float>::infinity();
    Lanes lowest = {kNone, kNone, kNone, kNone};
    for (std::uint32_t i = 0; i < stride_ / 4U; ++i) lowest = lanes[i] < lowest ? lanes[i] : lowest;
    float value = lowest[0];
    for (int i = 1; i < 4; ++i) value = lowest[i] < value ? lowest[i] : value;
    if (value == kNone) return 0;
    Numbers port = {0, 1, 2, 3};
    Numbers first = {kNoPorts, kNoPorts, kNoPorts, kNoPorts};
    for (std::uint32_t i = 0; i < stride_ / 4U; ++i, port += 4) {
      const Numbers here = lanes[i] == value ? port : Numbers{kNoPorts, kNoPorts, kNoPorts, kNoPorts};
      first = here < first ? here : first;
    }
    return static_cast<std::uint32_t>(std::min(std::min(first[0], first[1]), std::min(first[2], first[3])));
  }
  // Archives the values. Precondition: resize() was called.
  void archive(Archive& archive) { archive.block(values_.get(), shape_.bytes() / sizeof(float)); }
  [[nodiscard]] std::shared_ptr<float[]> share() const noexcept { return values_; }

 private:
  using Lanes = float __attribute__((vector_size(16)));
  using Numbers = std::int32_t __attribute__((vector_size(16)));
  static constexpr std::int32_t kNoPorts = std::numeric_limits<std::int32_t>::max();

  TableShape shape_;
  std::uint32_t stride_ = 0;
  std::shared_ptr<float[]> values_;
};

}  // namespace dragonfly
