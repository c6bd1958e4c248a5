// The host that each task of a job lives on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/dragonfly.hpp"

namespace dragonfly {

inline constexpr std::string_view kPlacements[] = {"consecutive", "random", "random-routers",
                                                   "random-groups"};

// All hosts in the order in which tasks take them:
//   consecutive      by number: task i lives on host i
//   random           shuffled
//   random-routers   routers shuffled, the hosts of each by number
//   random-groups    groups shuffled, the hosts of each by number
// Shuffles follow from (seed, job). Throws ConfigError for another name.
[[nodiscard]] std::vector<std::uint32_t> place_tasks(const Dragonfly& topology, const std::string& placement,
                                                     std::uint64_t seed, std::uint32_t job);

// The hosts of the first `tasks` tasks where all hosts are free. Besides the names above: "groups=k", an even
// share in each of the first k of the shuffled groups. Throws ConfigError if there is no room.
[[nodiscard]] std::vector<std::uint32_t> place_all_tasks(const Dragonfly& topology,
                                                         const std::string& placement, std::uint64_t seed,
                                                         std::uint32_t tasks);

}  // namespace dragonfly
