// Small networks under one synthetic pattern, for tests of whole simulations.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "simulation/simulation.hpp"
#include "traffic/synthetic_source.hpp"

namespace dragonfly {

inline constexpr TimePs kNs = kPsPerNs;
inline const DragonflyParams kSmall{.p = 2, .a = 4, .h = 2};
// A partition per group.
inline const DragonflyParams kWide{.p = 300, .a = 2, .h = 1};

// Never interrupted.
inline bool always() { return true; }

inline SimulationSetup small_system(const DragonflyParams& shape, const std::string& policy,
                                    const std::string& traffic, double load,
                                    InjectionKind injection = InjectionKind::kPeriodic) {
  auto topology = std::make_shared<const Dragonfly>(shape);
  PatternPtr pattern = make_pattern(*topology, 1, {traffic, {}});
  const SyntheticParams params{
      .seed = 1, .injection = injection, .packet_ps = 32'000, .trial_ps = 32'000, .first_ps = kNs};
  SimulationSetup all;
  all.source = make_synthetic_source({{0, std::move(pattern), load}}, params);
  all.topology = std::move(topology);
  all.policy = policy;
  return all;
}

}  // namespace dragonfly
