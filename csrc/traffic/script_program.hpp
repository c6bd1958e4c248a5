// A script as a program that hosts run.
#pragma once

#include <cstdint>
#include <memory>

#include "traffic/program.hpp"
#include "traffic/script.hpp"

namespace dragonfly {

struct ScriptRun {
  static constexpr std::uint32_t kEndless = 0;

  std::uint32_t repetitions = 1;    // kEndless: until the run ends
  std::uint32_t piece_packets = 1;  // messages are sent in pieces of so many, in turn over all that are open
  double jitter = 0;                // standard deviation of computing times, as a share of their mean
  std::uint64_t seed = 1;
  std::uint32_t job = 0;  // its number: jobs of one seed draw differently
};

// A task per rank.
// Throws ConfigError if a host would send more packets than can be numbered.
[[nodiscard]] ProgramPtr make_script_program(std::shared_ptr<const Script> script, const ScriptRun& run);

}  // namespace dragonfly
