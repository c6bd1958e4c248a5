#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "routing/channel_walk.hpp"

namespace dragonfly {

// Whether no chain of dependencies leads back to its first channel.
inline bool is_acyclic(const std::vector<ChannelDependency>& dependencies) {
  std::map<Channel, std::vector<Channel>> after;
  std::map<Channel, int> before;
  for (const ChannelDependency& d : dependencies) {
    after[d.held].push_back(d.wanted);
    before[d.held] += 0;
    ++before[d.wanted];
  }
  std::vector<Channel> free;
  for (const auto& [channel, count] : before) {
    if (count == 0) free.push_back(channel);
  }
  std::size_t done = 0;
  for (; done < free.size(); ++done) {
    for (const Channel& next : after[free[done]]) {
      if (--before[next] == 0) free.push_back(next);
    }
  }
  return done == before.size();
}

}  // namespace dragonfly
