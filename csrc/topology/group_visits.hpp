// The groups that a list of linked routers passes, one after the other, and the local hops in each.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace dragonfly {

struct GroupVisits {
  static constexpr std::uint32_t kMost = 3;  // visits whose hops are counted: as many as planned paths make

  std::uint32_t count = 1;
  std::array<std::uint32_t, kMost> local_hops{};

  // Whether the list has more visits, or more local hops in one of them, than a planned path of full meshes.
  [[nodiscard]] bool exceed_planned_paths() const noexcept {
    return count > kMost || std::ranges::any_of(local_hops, [](std::uint32_t hops) { return hops > 2; });
  }
  // Whether the list makes two local hops in its first group, and then leaves it (PAR).
  [[nodiscard]] bool leave_late() const noexcept { return count > 1 && local_hops[0] == 2; }
};

// Precondition: a router at least. `a`: routers per group.
[[nodiscard]] inline GroupVisits group_visits(std::span<const std::uint32_t> routers,
                                              std::uint32_t a) noexcept {
  GroupVisits visits;
  for (std::size_t i = 1; i < routers.size(); ++i) {
    if (routers[i] / a != routers[i - 1] / a) {
      ++visits.count;
    } else if (visits.count <= GroupVisits::kMost) {
      ++visits.local_hops[visits.count - 1];
    }
  }
  return visits;
}

}  // namespace dragonfly
