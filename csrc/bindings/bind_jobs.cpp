// Jobs: graphs of operations, where tasks live, and the source that several jobs make together.
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
#include "traffic/goal.hpp"
#include "traffic/graph_program.hpp"
#include "traffic/placement.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

struct GraphHandle {
  std::shared_ptr<const Graph> graph;
};

// The operations of a rank, as Python's Operation has them: kind, partner, amount, label; then stream, the
// operations after whose end and after whose start it comes, which may be left out.
void read_operation(GraphBuilder& builder, const py::sequence& given) {
  const auto field = [&given](std::size_t index) { return given[index].cast<std::int64_t>(); };
  const std::size_t size = given.size();
  const bool is_free = size > 5 && !(given[5].is_none() && py::len(given[6]) == 0);
  const std::uint32_t operation =
      builder.add({.kind = field(0),
                   .partner = field(1),
                   .amount = field(2),
                   .label = builder.number_of(given[3].cast<std::string>()),
                   .stream = size > 4 ? field(4) : 0},
                  is_free ? GraphBuilder::Order::kFree : GraphBuilder::Order::kInList);
  if (!is_free) return;
  for (std::size_t index : {5U, 6U}) {
    if (given[index].is_none()) continue;
    for (const py::handle other : given[index]) {
      builder.comes_after(operation, other.cast<std::int64_t>(), index == 6);
    }
  }
}

std::unique_ptr<GraphHandle> read_graph(const std::string& name, std::uint32_t ranks,
                                        const py::function& operations, std::uint64_t most,
                                        const std::string& iteration) {
  GraphBuilder builder{name, ranks, iteration};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    builder.begin_rank(rank);
    for (const py::handle given : operations(rank)) {
      if (builder.num_operations() == most) {
        throw ConfigError{"program", "'" + name + "'",
                          "must have at most " + std::to_string(most) + " operations on " +
                              std::to_string(ranks) + " hosts"};
      }
      read_operation(builder, py::reinterpret_borrow<py::sequence>(given));
    }
    builder.end_rank();
  }
  const py::gil_scoped_release release;
  return std::make_unique<GraphHandle>(
      GraphHandle{std::make_shared<const Graph>(std::move(builder).build())});
}

// The operations of a rank, as read_operation() reads them.
py::list write_operations(const GraphHandle& self, std::uint32_t rank) {
  const Graph& graph = *self.graph;
  const auto nodes = graph.nodes(rank);
  std::vector<std::array<py::list, 2>> after(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const std::uint32_t next : graph.after(nodes[i])) {
      const std::uint32_t to = next & ~Graph::kOnStart;
      if (!nodes[to].in_list) after[to][to == next ? 0 : 1].append(i);
    }
  }
  py::list operations;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    py::list fields;
    fields.append(static_cast<int>(node.kind));
    fields.append(node.partner);
    fields.append(node.amount);
    fields.append(graph.text(node.label));
    if (!node.in_list || node.stream > 0) fields.append(node.stream);
    if (!node.in_list) {
      fields.append(after[i][0]);
      fields.append(after[i][1]);
    }
    operations.append(fields);
  }
  return operations;
}

ProgramPtr program_of(const py::dict& job, std::uint32_t tasks) {
  const py::object program = member<py::object>(job, "program");
  if (py::isinstance<GraphHandle>(program)) {
    const GraphRun run{.repetitions = member<std::uint32_t>(job, "iterations"),
                       .packet_bytes = member<std::uint32_t>(job, "packet_bytes"),
                       .piece_packets = member<std::uint32_t>(job, "piece_packets"),
                       .jitter = member<double>(job, "jitter"),
                       .seed = member<std::uint64_t>(job, "seed"),
                       .job = member<std::uint32_t>(job, "number")};
    return make_graph_program(py::cast<const GraphHandle&>(program).graph, run);
  }
  return make_program(member<std::string>(job, "program"), tasks, member<std::uint32_t>(job, "packet_bytes"),
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
    for (const std::uint32_t host : job.hosts) {
      if (!topology->host_is_alive(host)) {
        throw ConfigError{"jobs", "host " + std::to_string(host), "must be a host whose router is alive"};
      }
    }
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
  py::class_<GraphHandle>(module, "Graph")
      .def(py::init(&read_graph), py::arg("name"), py::arg("ranks"), py::arg("operations"), py::arg("most"),
           py::arg("iteration"))
      .def_property_readonly("num_ranks", [](const GraphHandle& self) { return self.graph->num_ranks(); })
      .def_property_readonly("num_operations",
                             [](const GraphHandle& self) { return self.graph->num_nodes(); })
      .def_property_readonly("measured", [](const GraphHandle& self) { return self.graph->operations(); })
      .def_property_readonly("nests", [](const GraphHandle& self) { return self.graph->nests(); })
      .def(
          "most_packets",
          [](const GraphHandle& self, std::uint32_t packet_bytes) {
            return self.graph->packets(packet_bytes).most;
          },
          py::arg("packet_bytes"))
      .def("operations", &write_operations, py::arg("rank"))
      .def("__eq__",
           [](const GraphHandle& self, const GraphHandle& other) { return *self.graph == *other.graph; })
      .def("__hash__",
           [](const GraphHandle& self) { return self.graph->num_nodes() ^ self.graph->packets(1).total; });
  module.def(
      "read_goal",
      [](const std::string& path, double calc_ps, double bytes_scale, std::uint32_t ranks_per_host,
         TimePs overhead_ps, std::optional<std::uint64_t> rendezvous_bytes) {
        const py::gil_scoped_release release;
        const GoalOptions options{.calc_ps = calc_ps,
                                  .bytes_scale = bytes_scale,
                                  .ranks_per_host = ranks_per_host,
                                  .overhead_ps = overhead_ps,
                                  .rendezvous_bytes = rendezvous_bytes.value_or(GoalOptions::kEager)};
        return GraphHandle{std::make_shared<const Graph>(read_goal(path, options))};
      },
      py::arg("path"), py::arg("calc_ps"), py::arg("bytes_scale"), py::arg("ranks_per_host"),
      py::arg("overhead_ps"), py::arg("rendezvous_bytes").none(true));
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
