// Traffic that becomes other traffic in the middle of a run.
#pragma once

#include <memory>
#include <vector>

#include "core/time.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

// A source, and the time from which hosts send its messages.
struct SwitchedPart {
  TimePs after_ps = 0;
  std::shared_ptr<const TrafficSource> source;
};

// Messages up to and including `after_ps` of the first part are those of `first`; later messages are those of
// the last part that has begun. So messages that wait in a source queue stay as they were generated, and
// numbers of messages go on. Precondition: the times rise. Throws ConfigError if two sources cannot follow
// each other: with prescribed routes, or if only one of them keeps its own time.
[[nodiscard]] std::shared_ptr<const TrafficSource> make_switched_source(
    std::shared_ptr<const TrafficSource> first, std::vector<SwitchedPart> parts);

}  // namespace dragonfly
