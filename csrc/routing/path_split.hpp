// Fixed probabilities of paths: what share of the packets between two routers takes which path.
#pragma once

#include <cstdint>
#include <vector>

namespace dragonfly {

// One path of a demand: by way of an intermediate router, or (kNil) the shortest one.
struct PathShare {
  std::uint32_t source = 0;  // router
  std::uint32_t destination = 0;
  std::uint32_t intermediate = 0;
  double probability = 0.0;  // relative to the other paths of the same demand
};

// The paths of every pair of routers, in the order of the pairs.
struct PathSplit {
  std::uint32_t num_routers = 0;             // 0: no pair has any
  std::vector<std::uint32_t> first;          // [source * num_routers + destination], and the end
  std::vector<std::uint32_t> intermediates;  // [path]
  std::vector<double> cumulative;            // [path] of its pair: the sum of probabilities up to it

  // The intermediate router of a path drawn by `uniform` in [0, 1); kNil: the shortest path, which pairs
  // without a path take, too.
  [[nodiscard]] std::uint32_t draw(std::uint32_t source, std::uint32_t destination,
                                   double uniform) const noexcept;
};

// Throws ConfigError for routers out of range and for probabilities that are not finite and above 0.
[[nodiscard]] PathSplit make_path_split(std::uint32_t num_routers, std::vector<PathShare> shares);

}  // namespace dragonfly
