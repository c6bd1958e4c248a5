// The extension module dragonfly_env._core: only dispatches to the bind_*.cpp files next to it.
#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace dragonfly {

void bind_errors(py::module_& module);
void bind_topology(py::module_& module);
void bind_traffic(py::module_& module);
void bind_jobs(py::module_& module);
void bind_neural(py::module_& module);
void bind_simulation(py::module_& module);
void bind_environment(py::module_& module);

}  // namespace dragonfly

PYBIND11_MODULE(_core, module) {
  module.doc() = "The simulation core of dragonfly_env (private).";
  dragonfly::bind_errors(module);
  dragonfly::bind_topology(module);
  dragonfly::bind_traffic(module);
  dragonfly::bind_jobs(module);
  dragonfly::bind_neural(module);
  dragonfly::bind_simulation(module);
  dragonfly::bind_environment(module);
}
