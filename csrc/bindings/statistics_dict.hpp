// Statistics of a simulation as dictionaries of plain numbers and arrays.
#pragma once

#include <pybind11/pybind11.h>

#include "simulation/simulation.hpp"

namespace dragonfly {

[[nodiscard]] pybind11::dict statistics_dict(Simulation& simulation);
// Returns the statistics of ports, hosts and jobs alone, quickly enough to be read often.
[[nodiscard]] pybind11::dict counters_dict(Simulation& simulation);
// The few numbers that `Mark` in Python is made of.
[[nodiscard]] pybind11::dict totals_dict(Simulation& simulation);

}  // namespace dragonfly
