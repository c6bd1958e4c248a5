#include "traffic/placement.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "core/random.hpp"

namespace dragonfly {

namespace {

constexpr std::string_view kGroups = "groups=";

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

std::vector<std::uint32_t> all_hosts_in_order(const Dragonfly& topology, const std::string& placement,
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

}  // namespace

std::vector<std::uint32_t> place_tasks(const Dragonfly& topology, const std::string& placement,
                                       std::uint64_t seed, std::uint32_t job) {
  std::vector<std::uint32_t> hosts = all_hosts_in_order(topology, placement, seed, job);
  if (topology.num_dead_routers() > 0) {
    std::erase_if(hosts, [&](std::uint32_t host) { return !topology.host_is_alive(host); });
  }
  return hosts;
}

std::vector<std::uint32_t> place_all_tasks(const Dragonfly& topology, const std::string& placement,
                                           std::uint64_t seed, std::uint32_t tasks) {
  constexpr std::uint32_t kJob = 0;
  const std::size_t most_tasks = place_tasks(topology, "consecutive", seed, kJob).size();
  if (tasks > most_tasks) {
    throw ConfigError{"placement", std::to_string(tasks) + " ranks",
                      "at most one per host, " + std::to_string(most_tasks)};
  }
  std::uint32_t groups = 0;
  if (!placement.starts_with(kGroups)) {
    std::vector<std::uint32_t> hosts = place_tasks(topology, placement, seed, kJob);
    hosts.resize(tasks);
    return hosts;
  }
  if (topology.num_dead_routers() > 0) {
    throw ConfigError{"placement", "'" + placement + "'",
                      "must be another placement where routers have failed: groups differ in their hosts"};
  }
  const char* const end = placement.data() + placement.size();
  const auto parsed = std::from_chars(placement.data() + kGroups.size(), end, groups);
  const std::uint32_t room = topology.hosts_per_group();
  const std::uint32_t most = std::min(tasks, topology.num_groups());
  if (parsed.ec != std::errc{} || parsed.ptr != end || groups == 0 || groups > most) {
    throw ConfigError{"placement", "'" + placement + "'", "1 to " + std::to_string(most) + " groups"};
  }
  if (std::uint64_t{groups} * room < tasks) {
    throw ConfigError{"placement", "'" + placement + "'",
                      "a group has room for " + std::to_string(room) + " ranks"};
  }
  const std::vector<std::uint32_t> order = place_tasks(topology, "random-groups", seed, kJob);
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t i = 0; i < groups; ++i) {
    const std::uint32_t share = tasks / groups + (i < tasks % groups ? 1 : 0);
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(std::size_t{i} * room);
    hosts.insert(hosts.end(), first, first + share);
  }
  return hosts;
}

}  // namespace dragonfly
