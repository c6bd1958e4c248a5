// Times of the parts of a path on idle links.
#pragma once

namespace dragonfly {

// Times in packets that a global link could carry meanwhile.
struct ZeroLoadTimes {
  float local_packets = 1;   // from router to router: the mean of the classes of local links
  float global_packets = 1;  // from router to router by a global link
  float hosts_packets = 1;   // from the source queue to its router, and from the last router to the host
};

}  // namespace dragonfly
