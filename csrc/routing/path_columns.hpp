// The columns of trackers for candidate paths: those of all fields per path, computed once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/pick.hpp"
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
  // Numbers that all paths of a decision share.
  struct Links {
    explicit Links(const RouteContext& context) noexcept
        : group{context.group()},
          routers{context.topology().a()},
          ports{context.topology().h()},
          first_router{context.topology().router_at(group, context.topology().first_global_router())},
          first_port{context.topology().first_global_port()},
          destination{context.packet().destination_router},
          destination_group{context.packet().destination_group} {}
    // The position of a global link of the group: Wiring::global_position().
    [[nodiscard]] std::uint32_t position_of(const Endpoint& link) const noexcept {
      return (link.router - first_router) * ports + (link.port - first_port);
    }
    std::uint32_t group;
    std::uint32_t routers;  // routers of a group
    std::uint32_t ports;    // global ports of a router
    std::uint32_t first_router;
    Port first_port;
    std::uint32_t destination;
    std::uint32_t destination_group;
  };

  [[nodiscard]] static bool leaves_at_once(const RouteContext& context, const Candidate& candidate) noexcept;
  void look_at_links(const RouteContext& context, const Links& links, const Wiring::LinkEnds& end_of,
                     const Candidate& candidate, std::size_t path);
  void look_at_first_hop(const RouteContext& context, const Candidate& candidate, std::size_t path);
  void look_at_remote_hops(const RouteContext& context, const Candidate& candidate, std::size_t path);
  void set_first_hop(std::size_t path, std::uint32_t position, std::uint32_t vc) noexcept {
    set(path, TrackedPer::kGroupLink, position);
    set(path, TrackedPer::kFirstGlobalHop, position * kMostVcsOfLink + vc);
  }
  // Columns 0: there are no such hops.
  void set_remote_hops(std::size_t path, std::uint32_t between, std::uint32_t last) noexcept {
    set(path, TrackedPer::kBetweenLinks, pick(between != 0, between, kNoColumn));
    set(path, TrackedPer::kLastLinkType, pick(last != 0, last, kNoColumn));
  }
  void set(std::size_t path, TrackedPer per, std::uint32_t column) noexcept {
    at_[static_cast<std::size_t>(per)][path] = column;
  }

  std::size_t num_paths_;
  std::array<std::array<std::uint32_t, kMostPaths>, static_cast<std::size_t>(TrackedPer::kDestination) + 1>
      at_;
};

}  // namespace dragonfly
