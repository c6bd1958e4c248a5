#include "routing/path_split.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

std::uint32_t PathSplit::draw(std::uint32_t source, std::uint32_t destination,
                              double uniform) const noexcept {
  const std::size_t pair = std::size_t{source} * num_routers + destination;
  const std::uint32_t begin = first[pair];
  const std::uint32_t end = first[pair + 1];
  if (begin == end) return kNil;
  const double drawn = uniform * cumulative[end - 1];
  std::uint32_t path = begin;
  while (path + 1 < end && drawn >= cumulative[path]) ++path;
  return intermediates[path];
}

PathSplit make_path_split(std::uint32_t num_routers, std::vector<PathShare> shares) {
  for (const PathShare& share : shares) {
    const std::uint32_t passed = share.intermediate == kNil ? share.source : share.intermediate;
    for (const std::uint32_t router : {share.source, share.destination, passed}) {
      if (router >= num_routers) {
        throw ConfigError{"split", "router " + std::to_string(router),
                          "routers below " + std::to_string(num_routers)};
      }
    }
    if (!std::isfinite(share.probability) || share.probability <= 0.0) {
      throw ConfigError{"split.probability", std::to_string(share.probability), "finite and above 0"};
    }
  }
  PathSplit split{.num_routers = num_routers, .first = {}, .intermediates = {}, .cumulative = {}};
  const auto pair_of = [num_routers](const PathShare& share) {
    return std::size_t{share.source} * num_routers + share.destination;
  };
  std::ranges::stable_sort(shares, {}, pair_of);
  split.first.reserve(std::size_t{num_routers} * num_routers + 1);
  split.intermediates.reserve(shares.size());
  split.cumulative.reserve(shares.size());
  std::size_t next = 0;
  for (std::size_t pair = 0; pair < std::size_t{num_routers} * num_routers; ++pair) {
    split.first.push_back(static_cast<std::uint32_t>(next));
    double sum = 0.0;
    for (; next < shares.size() && pair_of(shares[next]) == pair; ++next) {
      sum += shares[next].probability;
      split.intermediates.push_back(shares[next].intermediate);
      split.cumulative.push_back(sum);
    }
  }
  split.first.push_back(static_cast<std::uint32_t>(next));
  return split;
}

}  // namespace dragonfly
