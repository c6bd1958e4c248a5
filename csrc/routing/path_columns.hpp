// The columns of trackers for candidate paths: those of all fields per path, computed once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "routing/route_context.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

class PathColumns {
 public:
  static constexpr std::uint32_t kMostPaths = 16;
  // Properties beyond the candidate itself, which take time to compute.
  struct Wanted {
    bool first_hop = false;    // the hop by which the path leaves the group
    bool remote_hops = false;  // local hops in the intermediate group, and the hop to the destination router
  };
  [[nodiscard]] static Wanted wanted_by(TrackedPer per) noexcept;

  // Precondition: at most kMostPaths.
  PathColumns(const RouteContext& context, std::span<const Candidate> candidates, Wanted wanted);

  // The columns of a field per path, or per link of the group, one for each path; kNoColumn if a path has no
  // such thing. Precondition: wanted.
  [[nodiscard]] std::span<const std::uint32_t> of(TrackedPer per) const noexcept {
    return {at_[static_cast<std::size_t>(per)].data(), num_paths_};
  }

 private:
  void look_at_first_hops(const RouteContext& context, std::span<const Candidate> candidates);
  void look_at_remote_hops(const RouteContext& context, std::span<const Candidate> candidates);
  void set_all(TrackedPer per, std::uint32_t column) noexcept {
    std::fill_n(at_[static_cast<std::size_t>(per)].data(), num_paths_, column);
  }
  void set(std::size_t path, TrackedPer per, std::uint32_t column) noexcept {
    at_[static_cast<std::size_t>(per)][path] = column;
  }

  std::size_t num_paths_;
  std::array<std::array<std::uint32_t, kMostPaths>, static_cast<std::size_t>(TrackedPer::kDestination) + 1>
      at_;
};

}  // namespace dragonfly
