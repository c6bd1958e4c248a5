// A neural network as Python holds it, for a policy.
#pragma once

#include "core/parameters.hpp"

namespace dragonfly {

// _core.ScoringNetwork
struct NetworkHandle {
  NetworkPtr network;  // never null
};

}  // namespace dragonfly
