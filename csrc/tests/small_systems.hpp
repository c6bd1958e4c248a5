// Small networks under one synthetic pattern, for tests of whole simulations.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "routing/neural/scoring_network.hpp"
#include "simulation/simulation.hpp"
#include "traffic/synthetic_source.hpp"

namespace dragonfly {

inline constexpr TimePs kNs = kPsPerNs;
inline const DragonflyParams kSmall{.p = 2, .a = 4, .h = 2};
// A partition per group.
inline const DragonflyParams kWide{.p = 300, .a = 2, .h = 1};

// Links and buffers as Kang et al., HPDC 2021 have them.
inline NetworkParams usual_network() {
  NetworkParams network;
  each_param(network, [](const char*, auto& value, const AllowedParam& allowed) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::string>) {
      if (!allowed.range.names.empty()) value = allowed.range.names.front();
    } else if (allowed.range.whole) {
      value = static_cast<Value>(allowed.range.low);
    }
  });
  network.injection_packet_ps = network.host_packet_ps = network.local_packet_ps = network.global_packet_ps =
      32'000;
  network.injection_latency_ps = network.ejection_latency_ps = 10'000;
  network.input_latency_ps = network.output_latency_ps = 10'000;
  network.local_latency_ps = 30'000;
  network.global_latency_ps = 300'000;
  network.crossbar_packet_ps = network.router_clock_ps = 3'200;
  network.watchdog_ps = 1'000'000'000;
  network.host_buffer_packets = network.local_buffer_packets = network.global_buffer_packets =
      network.output_buffer_packets = 20;
  network.arbitration = "least-recently-served";
  network.decide_at = "head";
  network.vc_scheme = "stage";
  network.congestion_metric = "port";
  network.nonminimal_avoid_destination_group = true;
  return network;
}

// The decisions and observations of an environment with the usual options.
inline EnvironmentSpec usual_decisions() {
  EnvironmentSpec spec;
  spec.options = {{"reward_scale_ps", 1e6}, {"latency_credit_ps", 1.4e6},
                  {"keep_transitions", 1},  {"keep_outcomes", 0},
                  {"keep_feedback", 0},     {"most_uncollected_bytes", 1 << 28}};
  return spec;
}

// Never interrupted.
inline bool always() { return true; }

// Parameters that a policy needs next to its name: for those that need a network, one that weighs packets and
// kinds of paths.
inline Parameters needed_parameters(const std::string& policy) {
  Parameters needed;
  for (const ParameterInfo& parameter : find_policy(policy).parameters) {
    if (!std::holds_alternative<NetworkPtr>(parameter.default_value)) continue;
    neural::NetworkDescription given;
    given.spec.action = ActionMode::kPath;
    given.spec.scope = DecisionScope::kSourceGroup;
    given.spec.nonminimal_kinds = {NonMinimalKind::kLgl, NonMinimalKind::kG};
    given.per_action = true;
    given.features = {"candidate_packets", "candidate_kind"};
    given.scales = {1, 0};
    given.weights = {{2, 1, {-1, -4}}};
    given.biases = {{1, 1, {0}}};
    needed[parameter.name] =
        std::make_shared<const neural::ScoringNetwork>(make_scoring_network(std::move(given)));
  }
  return needed;
}

inline SimulationSetup small_system(const DragonflyParams& shape, const std::string& policy,
                                    const std::string& traffic, double load,
                                    InjectionKind injection = InjectionKind::kPeriodic) {
  auto topology = std::make_shared<const Dragonfly>(shape);
  PatternPtr pattern = make_pattern(*topology, 1, {traffic, {}});
  const SyntheticParams params{
      .seed = 1, .injection = injection, .packet_ps = 32'000, .trial_ps = 32'000, .first_ps = kNs};
  SimulationSetup all;
  all.network = usual_network();
  all.source = make_synthetic_source({{0, std::move(pattern), load}}, params);
  all.topology = std::move(topology);
  all.policy = policy;
  all.policy_parameters = needed_parameters(policy);
  return all;
}

}  // namespace dragonfly
