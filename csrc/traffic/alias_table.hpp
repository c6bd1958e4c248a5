// Draws from fixed discrete distributions, one draw each in constant time.
// Source: Walker 1977; built as in Vose, "A linear algorithm for generating random numbers with a
// given distribution", IEEE Transactions on Software Engineering 1991.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace dragonfly {

// Several distributions ("rows") in one store. Values of weight 0 take no room and are never drawn.
class AliasTables {
 public:
  using Weighted = std::pair<std::uint32_t, double>;  // value and weight > 0

  // Adds a row. An empty one cannot be drawn from.
  void add_row(const std::vector<Weighted>& weighted) {
    double total = 0.0;
    for (const auto& entry : weighted) total += entry.second;
    const std::size_t first = entries_.size();
    std::vector<double> height;  // 1 = as full as an entry gets
    std::vector<std::size_t> low;
    std::vector<std::size_t> high;
    for (const auto& [value, weight] : weighted) {
      height.push_back(weight / total * static_cast<double>(weighted.size()));
      (height.back() < 1.0 ? low : high).push_back(height.size() - 1);
      entries_.push_back({.threshold = UINT64_MAX, .value = value, .alias = value});
    }
    while (!low.empty() && !high.empty()) {
      const std::size_t poor = low.back();
      const std::size_t rich = high.back();
      low.pop_back();
      entries_[first + poor].threshold = static_cast<std::uint64_t>(height[poor] * 0x1.0p64);
      entries_[first + poor].alias = weighted[rich].first;
      height[rich] -= 1.0 - height[poor];
      if (height[rich] < 1.0) {
        high.pop_back();
        low.push_back(rich);
      }
    }
    starts_.push_back(entries_.size());
  }

  [[nodiscard]] bool empty(std::uint32_t row) const noexcept { return starts_[row] == starts_[row + 1]; }

  // Precondition: !empty(row).
  [[nodiscard]] std::uint32_t draw(std::uint32_t row, RandomStream& random) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const std::size_t first = starts_[row];
    // The whole part picks the entry, the fraction decides between it and its alias.
    const Wide scaled = static_cast<Wide>(random.next_u64()) * (starts_[row + 1] - first);
    const Entry& entry = entries_[first + static_cast<std::size_t>(scaled >> 64)];
    return static_cast<std::uint64_t>(scaled) < entry.threshold ? entry.value : entry.alias;
  }

  // Calls visit(value, probability) for the values of a row; a value may come several times.
  template <class Visit>
  void for_each(std::uint32_t row, Visit&& visit) const {
    const double each = 1.0 / static_cast<double>(starts_[row + 1] - starts_[row]);
    for (std::size_t i = starts_[row]; i < starts_[row + 1]; ++i) {
      const double own = entries_[i].alias == entries_[i].value
                             ? 1.0
                             : static_cast<double>(entries_[i].threshold) * 0x1.0p-64;
      visit(entries_[i].value, each * own);
      if (own < 1.0) visit(entries_[i].alias, each * (1.0 - own));
    }
  }

 private:
  struct Entry {
    std::uint64_t threshold;  // probability of `value`, times 2^64
    std::uint32_t value;
    std::uint32_t alias;
  };

  std::vector<Entry> entries_;
  std::vector<std::size_t> starts_ = {0};
};

}  // namespace dragonfly
