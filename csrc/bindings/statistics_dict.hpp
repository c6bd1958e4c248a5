// What a simulation has counted, as dictionaries of plain numbers and arrays.
#pragma once

#include <pybind11/pybind11.h>

#include "simulation/simulation.hpp"

namespace dragonfly {

[[nodiscard]] pybind11::dict statistics_dict(Simulation& simulation);
// Those parts of it that say what ports, hosts and jobs did: quick enough to be read often.
[[nodiscard]] pybind11::dict counters_dict(Simulation& simulation);
// The few numbers that `Mark` in Python is made of.
[[nodiscard]] pybind11::dict totals_dict(Simulation& simulation);

}  // namespace dragonfly
