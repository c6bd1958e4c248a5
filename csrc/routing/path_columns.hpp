// Where trackers keep what they know of a candidate path: the columns of all fields per path, worked out
// once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "routing/route_context.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

class PathColumns {
 public:
  // What is looked at beyond the candidate itself, which costs something.
  struct Wanted {
    bool first_hop = false;    // the hop by which the path leaves the group
    bool remote_hops = false;  // local hops behind the group, and the last one
  };
  [[nodiscard]] static Wanted wanted_by(TrackedPer per) noexcept;

  PathColumns() noexcept { at_.fill(kNoColumn); }  // of no path
  PathColumns(const RouteContext& context, const Candidate& candidate, Wanted wanted);

  // Of a field per path, or per link of the group; kNoColumn if the path has no such thing.
  [[nodiscard]] std::uint32_t of(TrackedPer per) const noexcept { return at_[static_cast<std::size_t>(per)]; }

 private:
  void set(TrackedPer per, std::uint32_t column) noexcept { at_[static_cast<std::size_t>(per)] = column; }
  void look_at_first_hop(const RouteContext& context, const Candidate& candidate);
  void look_at_remote_hops(const RouteContext& context, const Detour& detour) noexcept;

  std::array<std::uint32_t, static_cast<std::size_t>(TrackedPer::kDestinationRouter) + 1> at_;
};

}  // namespace dragonfly
