// Walking every path that a policy may take: the raw material of the deadlock proof.
#pragma once

#include <cstdint>
#include <vector>

#include "routing/path_follower.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

// A channel is one VC of one directed link between routers.
struct Channel {
  std::uint32_t router = 0;
  std::uint16_t port = 0;
  std::uint16_t vc = 0;
  auto operator<=>(const Channel&) const = default;
};

// A packet may hold the first channel while it waits for the second.
struct ChannelDependency {
  Channel held;
  Channel wanted;
  auto operator<=>(const ChannelDependency&) const = default;
};

struct ChannelWalk {
  std::vector<ChannelDependency> dependencies;  // sorted, each once
  std::uint32_t longest_path_hops = 0;
};

// Every minimal path, every path with every non-minimal path that the policy may draw (the destination group
// included, for every setting), from every router to every other, at every router where the policy
// decides. Meant for small systems: the work grows with the cube of the number of routers. Throws
// std::logic_error when a path does not arrive within the hops that the policy declares, or uses a VC that
// the ladder does not have.
[[nodiscard]] ChannelWalk walk_channels(const PathFollower& paths, const RoutingPolicy& policy);

}  // namespace dragonfly
