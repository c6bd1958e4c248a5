// Jobs: scripts of operations, where tasks live, and the source that several jobs make together.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/members.hpp"
#include "bindings/traffic_handles.hpp"
#include "core/error.hpp"
#include "traffic/placement.hpp"
#include "traffic/script_program.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

struct ScriptHandle {
  std::shared_ptr<const Script> script;
};

template <class T>
std::vector<T> values_of(const py::dict& columns, const char* name) {
  const auto array = member<py::array_t<T, py::array::c_style>>(columns, name);
  return {array.data(), array.data() + array.size()};
}

std::unique_ptr<ScriptHandle> make_script(const std::string& name, const py::dict& columns) {
  ScriptText text{.name = name,
                  .packet_bytes = member<std::uint32_t>(columns, "packet_bytes"),
                  .first = values_of<std::uint64_t>(columns, "first"),
                  .kinds = values_of<std::uint8_t>(columns, "kinds"),
                  .partners = values_of<std::uint32_t>(columns, "partners"),
                  .amounts = values_of<std::int64_t>(columns, "amounts"),
                  .labels = values_of<std::uint32_t>(columns, "labels"),
                  .label_names = member<std::vector<std::string>>(columns, "label_names"),
                  .operation_names = member<std::vector<std::string>>(columns, "operation_names")};
  const py::gil_scoped_release release;
  return std::make_unique<ScriptHandle>(ScriptHandle{std::make_shared<const Script>(std::move(text))});
}

ProgramPtr program_of(const py::dict& job, std::uint32_t tasks) {
  const py::object script = member<py::object>(job, "script");
  if (py::isinstance<ScriptHandle>(script)) {
    const auto& handle = py::cast<const ScriptHandle&>(script);
    const ScriptRun run{.repetitions = member<std::uint32_t>(job, "iterations"),
                        .piece_packets = member<std::uint32_t>(job, "piece_packets"),
                        .jitter = member<double>(job, "jitter"),
                        .seed = member<std::uint64_t>(job, "seed"),
                        .job = member<std::uint32_t>(job, "number")};
    return make_script_program(handle.script, run);
  }
  return make_program(member<std::string>(job, "script"), tasks, member<std::uint32_t>(job, "packet_bytes"),
                      member<std::uint32_t>(job, "packet_flits"));
}

SourceHandle job_source(std::shared_ptr<const Dragonfly> topology,
                        const std::optional<SourceHandle>& background, const std::vector<py::dict>& given) {
  if (background && background->workload) {
    throw ConfigError{"traffic", "closed loop", "must be open loop next to jobs"};
  }
  std::vector<Job> jobs;
  for (const py::dict& one : given) {
    Job job;
    job.hosts = member<std::vector<std::uint32_t>>(one, "hosts");
    job.start_ps = member<TimePs>(one, "start_ps");
    job.policies = member<std::array<std::uint8_t, kLanes>>(one, "policies");
    job.program = program_of(one, static_cast<std::uint32_t>(job.hosts.size()));
    jobs.push_back(std::move(job));
  }
  std::shared_ptr<const TrafficSource> source = std::make_shared<const SilentSource>();
  if (background) source = background->source;
  auto made = std::make_shared<const Workload>(topology->num_hosts(), std::move(jobs));
  return {.topology = std::move(topology), .source = std::move(source), .workload = std::move(made)};
}

}  // namespace

void bind_jobs(py::module_& module) {
  py::class_<ScriptHandle>(module, "Script")
      .def(py::init(&make_script), py::arg("name"), py::arg("columns"))
      .def_property_readonly("num_ranks", [](const ScriptHandle& self) { return self.script->num_ranks(); })
      .def_property_readonly("most_packets",
                             [](const ScriptHandle& self) { return self.script->most_packets(); })
      .def_property_readonly("packets", [](const ScriptHandle& self) { return self.script->packets(); })
      .def_property_readonly("bytes", [](const ScriptHandle& self) { return self.script->bytes(); });
  module.def(
      "check_program",
      [](const std::string& spec, std::uint32_t tasks, std::uint32_t packet_bytes) {
        static_cast<void>(make_program(spec, tasks, packet_bytes));
      },
      py::arg("spec"), py::arg("tasks"), py::arg("packet_bytes"));
  module.def("job_source", &job_source, py::arg("topology"), py::arg("background").none(true),
             py::arg("jobs"));
  module.def(
      "place_tasks",
      [](const Dragonfly& topology, const std::string& placement, std::uint64_t seed, std::uint32_t job) {
        return place_tasks(topology, placement, seed, job);
      },
      py::arg("topology"), py::arg("placement"), py::arg("seed"), py::arg("job"));
}

}  // namespace dragonfly
