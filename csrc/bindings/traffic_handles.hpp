// What Python holds of traffic: a pattern or a source together with the topology that it was made for, so
// that nobody can run it on another one.
#pragma once

#include <memory>
#include <string>

#include "core/error.hpp"
#include "topology/dragonfly.hpp"
#include "traffic/registry.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

// ConfigError unless the two are wired alike.
inline void require_same_topology(const std::string& what, const Dragonfly& made_for,
                                  const Dragonfly& used_on) {
  if (!made_for.wired_like(used_on))
    throw ConfigError{what, "(made for another topology)", "must be made for this topology"};
}

// _core.Pattern
struct PatternHandle {
  std::shared_ptr<const Dragonfly> topology;
  PatternPtr pattern;
};

// _core.Source: open-loop traffic, or a workload.
struct SourceHandle {
  std::shared_ptr<const Dragonfly> topology;
  std::shared_ptr<const TrafficSource> source;  // of hosts without a program
  std::shared_ptr<const Workload> workload{};   // null: open loop
};

}  // namespace dragonfly
