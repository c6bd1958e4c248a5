// Traffic that becomes other traffic in the middle of a run.
#pragma once

#include <memory>
#include <vector>

#include "core/time.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

// From which time on hosts send what another source says.
struct SplicedPart {
  TimePs after_ps = 0;
  std::shared_ptr<const TrafficSource> source;
};

// Messages up to and including `after_ps` of the first part are those of `first`, what follows is that part's
// until the next one begins. So what waits in a source queue stays as it was generated, and numbers of
// messages go on. Precondition: the times rise. Throws ConfigError if two sources cannot follow each other:
// where routes are prescribed, or where only one of them keeps its own time.
[[nodiscard]] std::shared_ptr<const TrafficSource> make_spliced_source(
    std::shared_ptr<const TrafficSource> first, std::vector<SplicedPart> parts);

}  // namespace dragonfly
