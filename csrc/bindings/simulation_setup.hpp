// From what Python passes to what a simulation is made of.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "bindings/traffic_handles.hpp"
#include "simulation/simulation.hpp"

namespace dragonfly {

// The rows of NetworkParams with what is allowed.
[[nodiscard]] pybind11::list network_rows();
// All throw ConfigError.
[[nodiscard]] Parameters parameters_of(const std::string& owner, const pybind11::dict& given);
[[nodiscard]] SimulationSetup simulation_setup(
    const std::shared_ptr<Dragonfly>& topology, const pybind11::dict& network, const SourceHandle& source,
    const std::string& policy, const pybind11::dict& policy_parameters, std::uint32_t source_queue_packets,
    bool lose_when_full, std::uint64_t seed, std::uint32_t threads, const pybind11::dict& options);

}  // namespace dragonfly
