#include "traffic/placement.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "core/random.hpp"

namespace dragonfly {

namespace {

// Fisher-Yates; the position names the draw.
std::vector<std::uint32_t> shuffled(std::uint32_t size, std::uint64_t seed, std::uint32_t job) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t last = size - 1; last > 0; --last) {
    RandomStream random{seed, Purpose::kPlacement, job, last};
    std::swap(order[last], order[random.below(last + 1)]);
  }
  return order;
}

// The hosts by number, but their blocks in a random order.
template <class BlockOf>
std::vector<std::uint32_t> shuffled_blocks(std::uint32_t num_hosts, std::uint32_t num_blocks,
                                           std::uint64_t seed, std::uint32_t job, BlockOf block_of) {
  const std::vector<std::uint32_t> order = shuffled(num_blocks, seed, job);
  std::vector<std::uint32_t> rank(num_blocks);
  for (std::uint32_t i = 0; i < num_blocks; ++i) rank[order[i]] = i;
  std::vector<std::uint32_t> hosts(num_hosts);
  std::iota(hosts.begin(), hosts.end(), 0U);
  std::ranges::stable_sort(hosts, {}, [&](std::uint32_t host) { return rank[block_of(host)]; });
  return hosts;
}

}  // namespace

std::vector<std::uint32_t> place_tasks(const Dragonfly& topology, const std::string& placement,
                                       std::uint64_t seed, std::uint32_t job) {
  const std::uint32_t hosts = topology.num_hosts();
  if (placement == "consecutive") {
    std::vector<std::uint32_t> order(hosts);
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }
  if (placement == "random") return shuffled(hosts, seed, job);
  const auto router_of = [&](std::uint32_t host) { return topology.router_of_host(host); };
  if (placement == "random-routers") {
    return shuffled_blocks(hosts, topology.num_routers(), seed, job, router_of);
  }
  if (placement == "random-groups") {
    return shuffled_blocks(hosts, topology.num_groups(), seed, job,
                           [&](std::uint32_t host) { return topology.group_of(router_of(host)); });
  }
  throw ConfigError{"placement", "'" + placement + "'",
                    suggestion(placement, {std::begin(kPlacements), std::end(kPlacements)})};
}

}  // namespace dragonfly
