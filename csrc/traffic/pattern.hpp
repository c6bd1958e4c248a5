// A traffic pattern maps (host, message number) to a destination host.
#pragma once

#include <cstdint>
#include <span>

#include "core/ids.hpp"
#include "core/random.hpp"

namespace dragonfly {

// Stateless once built, hence safe to call from any thread and in any order.
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

  // The destinations of messages first, first + 1, ...: one for each of `random`.
  virtual void destinations(HostId source, std::uint64_t first, std::span<RandomStream> random,
                            std::span<std::uint32_t> into) const {
    for (std::size_t i = 0; i < random.size(); ++i) into[i] = destination(source, first + i, random[i]).value;
  }

  // Number of messages that the host generates at one time: numbers k * n .. k * n + n - 1 are a round. The
  // load stays the same, so rounds start n times as rarely as single messages would.
  [[nodiscard]] virtual std::uint32_t round_messages(HostId /*source*/) const { return 1; }

  // The share of the load that this host offers, in [0, 1]. 0: it never sends.
  [[nodiscard]] virtual double share(HostId /*source*/) const { return 1.0; }
  [[nodiscard]] bool sends(HostId source) const { return share(source) > 0.0; }

  // Adds to received[d] the load that host d receives in the long run if every host s sends sent[s] by this
  // pattern. Both have an entry for every host of the system; sent[s] is 0 where the pattern does not send.
  virtual void add_received(std::span<const double> sent, std::span<double> received) const = 0;
};

}  // namespace dragonfly
