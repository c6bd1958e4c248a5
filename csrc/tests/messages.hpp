// Small networks under a few messages that a test names.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/small_systems.hpp"
#include "traffic/trace_source.hpp"

namespace dragonfly {

struct Planned {
  TimePs time;
  std::uint32_t source;
  std::uint32_t destination;
  std::uint32_t packets = 1;
};

inline SimulationSetup messages(const std::vector<Planned>& list, const DragonflyParams& shape = kSmall) {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> source;
  std::vector<std::uint32_t> destination;
  std::vector<std::uint32_t> packets;
  for (const Planned& message : list) {
    time.push_back(message.time);
    source.push_back(message.source);
    destination.push_back(message.destination);
    packets.push_back(message.packets);
  }
  SimulationSetup all;
  all.network = usual_network();
  all.topology = std::make_shared<const Dragonfly>(shape);
  all.source = make_trace_source(*all.topology, {time, source, destination, packets});
  return all;
}

}  // namespace dragonfly
