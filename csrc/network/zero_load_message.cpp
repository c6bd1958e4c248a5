#include "network/zero_load_message.hpp"

#include <algorithm>
#include <cstddef>

namespace dragonfly {

Tick ZeroLoadMessage::ticks(std::uint32_t source, std::uint32_t destination, std::uint32_t packets,
                            Tick begun) const noexcept {
  const Dragonfly& topology = plan_.topology;
  const Timing& timing = plan_.timing;
  const auto next_edge = [&](Tick time) { return (time / timing.clock + 1) * timing.clock; };
  const Tick crossbar = (timing.crossbar_transfer + timing.clock - 1) / timing.clock * timing.clock;
  Tick pace = std::max({timing.injection_packet, timing.packet[0], crossbar});
  Tick edge = next_edge(begun + timing.injection_start_delay + timing.injection_delay + timing.routing_delay);
  const std::uint32_t last = topology.router_of_host(destination);
  for (std::uint32_t router = topology.router_of_host(source); router != last;) {
    const Port port = topology.minimal_port(router, last);
    const auto link = static_cast<std::size_t>(topology.port_class(port));
    const Tick more = plan_.more_ticks_at(router, port);
    edge = next_edge(edge + timing.crossbar_latency + timing.start_delay[link] + timing.hop_delay[link] +
                     more + timing.routing_delay);
    pace = std::max(pace, timing.packet[link] + more);
    router = topology.neighbor(router, port).router;
  }
  const Tick out = timing.crossbar_latency + timing.start_delay[0] + timing.hop_delay[0];
  return edge + out - begun + static_cast<Tick>(packets - 1) * pace;
}

}  // namespace dragonfly
