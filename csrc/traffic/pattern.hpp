// Who talks to whom: a traffic pattern maps (host, message number) to a destination host.
#pragma once

#include <cstdint>

#include "core/ids.hpp"
#include "core/random.hpp"

namespace dragonfly {

// Stateless once built, hence safe to ask from any thread and in any order.
class TrafficPattern {
 public:
  TrafficPattern() = default;
  TrafficPattern(const TrafficPattern&) = delete;
  TrafficPattern& operator=(const TrafficPattern&) = delete;
  virtual ~TrafficPattern() = default;

  // The destination of message number `message` (0, 1, ...) of `source`. `random` is the stream of
  // that message; draw as often as needed. Precondition: sends(source).
  [[nodiscard]] virtual HostId destination(HostId source, std::uint64_t message,
                                           RandomStream& random) const = 0;

  // How many messages the host generates at one instant: numbers k * n .. k * n + n - 1 are a round. The
  // load stays what it is, so rounds start n times as rarely as single messages would.
  [[nodiscard]] virtual std::uint32_t round_messages(HostId /*source*/) const { return 1; }

  // Whether this host generates traffic at all.
  [[nodiscard]] virtual bool sends(HostId /*source*/) const { return true; }
};

}  // namespace dragonfly
