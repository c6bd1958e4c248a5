// A graph of operations as a program that hosts run.
#pragma once

#include <cstdint>
#include <memory>

#include "traffic/graph.hpp"
#include "traffic/program.hpp"

namespace dragonfly {

struct GraphRun {
  static constexpr std::uint32_t kEndless = 0;

  std::uint32_t repetitions = 1;  // kEndless: until the run ends
  std::uint32_t packet_bytes = 1;
  std::uint32_t piece_packets = 1;  // messages are sent in pieces of so many, in turn over all that are open
  double jitter = 0;                // standard deviation of computing times, as a share of their mean
  std::uint64_t seed = 1;
  std::uint32_t job = 0;  // its number: jobs of one seed draw differently
};

// A task per rank. Its operations: whole repetitions; those of the graph; if some are measured inside others,
// the time in any of them.
// Precondition: no host sends more than kMostPacketsOfHost.
[[nodiscard]] ProgramPtr make_graph_program(std::shared_ptr<const Graph> graph, const GraphRun& run);

}  // namespace dragonfly
