// Handles of traffic for Python: a pattern or a source together with the topology that it was made for.
#pragma once

#include <memory>

#include "topology/dragonfly.hpp"
#include "traffic/registry.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

// _core.Pattern
struct PatternHandle {
  std::shared_ptr<const Dragonfly> topology;
  PatternPtr pattern;
};

// _core.Source: open-loop traffic, or a workload.
struct SourceHandle {
  std::shared_ptr<const Dragonfly> topology;
  std::shared_ptr<const TrafficSource> source;  // source of the hosts without a program
  std::shared_ptr<const Workload> workload{};   // null: open loop
};

}  // namespace dragonfly
