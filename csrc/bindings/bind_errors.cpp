// Python classes for the C++ errors; each class also derives from a built-in one.
#include <pybind11/pybind11.h>

#include "core/error.hpp"

namespace py = pybind11;

namespace dragonfly {

void bind_errors(py::module_& module) {
  py::register_exception<ConfigError>(module, "ConfigError", PyExc_ValueError);
  py::register_exception<StateError>(module, "StateError", PyExc_RuntimeError);
  py::register_exception<DeadlockError>(module, "DeadlockError", PyExc_RuntimeError);
  py::register_exception<IllegalActionError>(module, "IllegalActionError", PyExc_ValueError);
}

}  // namespace dragonfly
