// All traffic patterns by name: open-loop ones (a destination for every message, pattern.hpp) and closed-loop
// ones (a program on every host, program.hpp).
//
// To add one: a file csrc/traffic/<name>.cpp with a function `PatternInfo <name>_pattern()`, and its
// line in registry.cpp. docs/extending/pattern.md shows one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/area.hpp"
#include "traffic/arguments.hpp"
#include "traffic/pattern.hpp"
#include "traffic/program.hpp"
#include "traffic/workload.hpp"

namespace dragonfly {

// The system for which a pattern is built. Draws that a pattern makes once (a permutation, the hot hosts)
// come from streams (seed, Purpose::kPattern, part, ...), so the parts of a mixture are independent.
struct PatternContext {
  const Dragonfly& topology;
  std::shared_ptr<const Area> area;
  std::uint64_t seed;
  std::uint32_t* num_parts;      // number of patterns numbered so far
  std::uint32_t part;            // the number of this pattern
  bool uniform_excludes_sender;  // the rule of uniform traffic without an argument
};

using PatternPtr = std::shared_ptr<const TrafficPattern>;
using PatternFactory = PatternPtr (*)(const PatternContext&, const PatternArguments&);
using ProgramFactory = ProgramPtr (*)(const ProgramContext&, const PatternArguments&);

struct PatternParameter {
  std::string name;
  std::string default_value;  // the default as text; empty: must be given
  std::string doc;
};

struct PatternInfo {
  std::string name;
  std::string summary;
  std::string source;   // paper and section
  std::string example;  // a spec string that builds; empty: needs data that no string holds
  std::vector<PatternParameter> parameters;  // others are refused
  PatternFactory factory = nullptr;
  std::string suffix_parameter{};    // "adv+4" sets this parameter to 4
  ProgramFactory program = nullptr;  // closed loop; `placement` is a parameter of all these, added by itself
  [[nodiscard]] bool closed_loop() const noexcept { return program != nullptr; }
};

[[nodiscard]] const std::vector<PatternInfo>& pattern_registry();

// Reads "uniform", "adv+4", "hotspot:hosts=4,fraction=0.2" (a list of hosts as "hosts=1;5;9") and
// "weighted:uniform=0.7,adv+1=0.3". Throws ConfigError; unknown names come with the nearest match.
[[nodiscard]] PatternSpec parse_pattern_spec(std::string_view text);

// Builds a pattern for the whole system. `spec.name` may itself be a spec string; spec.arguments win.
[[nodiscard]] PatternPtr make_pattern(const Dragonfly& topology, std::uint64_t seed, const PatternSpec& spec,
                                      bool uniform_excludes_sender = false);

// Builds a closed-loop pattern as the one job of the whole system.
[[nodiscard]] std::shared_ptr<const Workload> make_workload(const Dragonfly& topology, std::uint64_t seed,
                                                            const PatternSpec& spec,
                                                            std::uint32_t packet_bytes,
                                                            std::uint32_t packet_flits = 1);

// The program that a spec string names, for so many tasks wherever they live.
[[nodiscard]] ProgramPtr make_program(const std::string& spec, std::uint32_t num_tasks,
                                      std::uint32_t packet_bytes, std::uint32_t packet_flits = 1);

// Builds a part of a mixture in its area.
[[nodiscard]] PatternPtr make_part(const PatternContext& parent, std::shared_ptr<const Area> area,
                                   const PatternSpec& spec);

}  // namespace dragonfly
