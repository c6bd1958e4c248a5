// Converts Python's settings to the setup of a simulation.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/traffic_handles.hpp"
#include "simulation/simulation.hpp"

namespace dragonfly {

inline constexpr std::uint32_t kMostThreads = 1024;
// The rows of NetworkParams with the allowed values.
[[nodiscard]] pybind11::list network_rows();
// The longest delay of any event in a network, in its unit of time (network/params.hpp).
[[nodiscard]] Tick network_horizon(const pybind11::dict& given);
// All throw ConfigError.
[[nodiscard]] Parameters parameters_of(const std::string& owner, const pybind11::dict& given);
// Reads `name` and `parameters`; messages of errors name `field`.
[[nodiscard]] PolicyChoice policy_choice(const std::string& field, const pybind11::dict& given);
// Time in ps, router, port, and whether the link comes back.
using LinkEventRow = std::tuple<TimePs, std::uint32_t, std::uint32_t, bool>;
[[nodiscard]] std::shared_ptr<LinkChanges> link_changes(const Dragonfly& topology,
                                                        const std::vector<LinkEventRow>& rows,
                                                        TimePs notice_ps);
// Reads the record that SimulationConfig.to_core() makes.
[[nodiscard]] SimulationSetup simulation_setup(const pybind11::dict& given);

}  // namespace dragonfly
