// The extension module dragonfly_env._core: only dispatches to the bind_*.cpp files beside it.
#include <pybind11/pybind11.h>

PYBIND11_MODULE(_core, module) { module.doc() = "The simulation core of dragonfly_env (private)."; }
