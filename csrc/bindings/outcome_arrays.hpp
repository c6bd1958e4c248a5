// Outcomes of decisions as arrays that Python owns: the rows of one network after those of another.
#pragma once

#include <pybind11/pybind11.h>

#include "simulation/routing_environment.hpp"

namespace dragonfly {

// Whether transitions, outcomes, or reports on hops, of any network piled up so much that they are no longer
// kept.
[[nodiscard]] bool overflowed(RoutingEnvironment& self);
[[nodiscard]] bool outcomes_overflowed(RoutingEnvironment& self);
[[nodiscard]] bool reports_overflowed(RoutingEnvironment& self);
// The fields of Transitions, Outcomes and HopFeedback in their order. The first throws StateError if they are
// not kept.
[[nodiscard]] pybind11::tuple transitions(RoutingEnvironment& self);
[[nodiscard]] pybind11::tuple outcomes(RoutingEnvironment& self);
[[nodiscard]] pybind11::tuple reports(RoutingEnvironment& self);
// Tallies of every router since the start of the episode: rewards in ps, packets generated, packets
// delivered. Router numbers continue from one network to the next.
[[nodiscard]] pybind11::tuple tallies(RoutingEnvironment& self);

}  // namespace dragonfly
