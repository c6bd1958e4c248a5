// Different patterns for different sets of hosts.
#pragma once

#include <vector>

#include "traffic/registry.hpp"

namespace dragonfly {

struct HostSetPattern {
  PatternSpec spec;
  std::vector<std::uint32_t> hosts;
};

// Hosts in no set do not send. `confined`: the hosts of a set are an area of their own (traffic/area.hpp)
// and talk only to one another; otherwise each pattern draws from the whole area of the mixture.
// Throws ConfigError if a host is in two sets or outside the mixture's own area.
[[nodiscard]] PatternPtr make_host_mixture(const PatternContext& context,
                                           const std::vector<HostSetPattern>& sets, bool confined);

}  // namespace dragonfly
