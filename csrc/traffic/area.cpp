#include "traffic/area.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

namespace {

std::vector<std::uint32_t> live_hosts(const Dragonfly& topology) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < topology.num_hosts(); ++host) {
    if (topology.host_is_alive(host)) hosts.push_back(host);
  }
  return hosts;
}

}  // namespace

Area::Area(const Dragonfly& topology)
    : whole_{true},
      size_{topology.num_hosts()},
      num_groups_{topology.num_groups()},
      hosts_per_group_{topology.hosts_per_group()},
      hosts_per_group_divisor_{topology.hosts_per_group()} {
  if (topology.num_dead_routers() > 0) *this = Area{topology, live_hosts(topology)};
}

Area::Area(const Dragonfly& topology, std::vector<std::uint32_t> hosts)
    : whole_{false},
      size_{static_cast<std::uint32_t>(hosts.size())},
      num_groups_{0},
      hosts_per_group_{topology.hosts_per_group()},
      hosts_per_group_divisor_{topology.hosts_per_group()},
      hosts_{std::move(hosts)},
      index_of_(topology.num_hosts(), Id<void>::kNoneValue),
      group_index_(topology.num_groups(), Id<void>::kNoneValue) {
  if (hosts_.empty()) throw ConfigError("hosts", "[]", "an area needs at least one host");
  std::sort(hosts_.begin(), hosts_.end());
  if (hosts_.back() >= topology.num_hosts()) {
    throw ConfigError("hosts", std::to_string(hosts_.back()),
                      "host numbers go from 0 to " + std::to_string(topology.num_hosts() - 1));
  }
  for (std::uint32_t index = 0; index < size_; ++index) {
    const std::uint32_t host = hosts_[index];
    if (index > 0 && hosts_[index - 1] == host) {
      throw ConfigError("hosts", std::to_string(host), "is in the list more than once");
    }
    if (!topology.host_is_alive(host)) {
      throw ConfigError("hosts", std::to_string(host), "must be the number of a host whose router is alive");
    }
    index_of_[host] = index;
    const std::uint32_t group = hosts_per_group_divisor_.divide(host);
    if (group_index_[group] == Id<void>::kNoneValue) {
      group_index_[group] = num_groups_++;
      starts_.push_back(index);
    }
  }
  starts_.push_back(size_);
}

}  // namespace dragonfly
