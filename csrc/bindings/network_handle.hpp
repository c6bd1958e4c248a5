// What Python holds of a neural network, or of the probabilities of paths, for a policy.
#pragma once

#include "core/parameters.hpp"

namespace dragonfly {

// _core.ScoringNetwork
struct NetworkHandle {
  NetworkPtr network;  // never null
};

// _core.PathSplit
struct PathSplitHandle {
  PathSplitPtr split;  // never null
};

}  // namespace dragonfly
