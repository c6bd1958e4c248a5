// Numbers of packets that the hosts of a router have lately given to the router, by destination group.
#pragma once

#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/time.hpp"

namespace dragonfly {

// Counts for the routers of one partition, numbered from 0.
class ArrivalCounts {
 public:
  ArrivalCounts(std::uint32_t num_routers, std::uint32_t num_groups, Tick period)
      : groups_{num_groups}, period_{period}, recent_(std::size_t{num_routers} * num_groups) {}

  void add(std::uint32_t router, std::uint32_t group, Tick now) noexcept {
    Recent& recent = recent_[std::size_t{router} * groups_ + group];
    recent = at(recent, now);
    ++recent.present;
  }
  // Arrivals in the present period and the period before.
  [[nodiscard]] std::uint32_t count(std::uint32_t router, std::uint32_t group, Tick now) const noexcept {
    const Recent recent = at(recent_[std::size_t{router} * groups_ + group], now);
    return recent.last + recent.present;
  }
  void archive(Archive& archive) { archive.fixed(recent_); }

 private:
  struct Recent {
    std::uint32_t period = 0;
    std::uint32_t present = 0;
    std::uint32_t last = 0;
    static constexpr bool kArchivedWhole = true;
  };

  [[nodiscard]] Recent at(Recent recent, Tick now) const noexcept {
    const auto period = static_cast<std::uint32_t>(now / period_);
    if (period == recent.period) return recent;
    return {.period = period, .present = 0, .last = recent.period + 1 == period ? recent.present : 0U};
  }

  std::uint32_t groups_;
  Tick period_;
  std::vector<Recent> recent_;  // [router * groups + group]
};

}  // namespace dragonfly
