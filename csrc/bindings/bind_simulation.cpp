// _core.Simulation and the list of policies.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bindings/archived.hpp"
#include "bindings/columns.hpp"
#include "bindings/members.hpp"
#include "bindings/signals.hpp"
#include "bindings/simulation_setup.hpp"
#include "bindings/statistics_dict.hpp"
#include "core/error.hpp"
#include "routing/channel_walk.hpp"
#include "simulation/simulation.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

py::dict packet_log(Simulation& simulation) {
  const std::vector<LoggedPacket> log = simulation.take_packet_log();
  using P = const LoggedPacket&;
  py::dict out;
  out["src"] = column<std::uint32_t>(log, [](P p) { return p.source; });
  out["dst"] = column<std::uint32_t>(log, [](P p) { return p.destination; });
  out["number"] = column<std::uint32_t>(log, [](P p) { return p.number; });
  out["created_ps"] = column<std::int64_t>(log, [](P p) { return p.created; });
  out["injected_ps"] = column<std::int64_t>(log, [](P p) { return p.injected; });
  out["delivered_ps"] = column<std::int64_t>(log, [](P p) { return p.delivered; });
  out["hops"] = column<std::uint8_t>(log, [](P p) { return p.hops; });
  out["minimal"] = column<bool>(log, [](P p) { return p.minimal; });
  out["path_kind"] = column<std::uint8_t>(log, [](P p) { return p.path_kind; });
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint32_t> routers;
  for (const LoggedPacket& packet : log) {
    routers.insert(routers.end(), packet.routers.begin(), packet.routers.end());
    offsets.push_back(static_cast<std::int64_t>(routers.size()));
  }
  out["route_offsets"] = to_array<std::int64_t>(offsets);
  out["routers"] = to_array<std::uint32_t>(routers);
  return out;
}

// The type of a parameter. "network": true, false or the network's setting; "network-real": a number, or the
// value that follows from the network.
const char* type_of(const ParameterInfo& parameter) {
  if (std::holds_alternative<double>(parameter.default_value))
    return parameter.range.whole ? "whole" : "real";
  if (std::holds_alternative<bool>(parameter.default_value)) return "flag";
  const auto* text = std::get_if<std::string>(&parameter.default_value);
  if (text == nullptr) return "object";
  if (*text != "network") return "name";
  return std::isfinite(parameter.range.low) ? "network-real" : "network";
}

py::list parameter_list(const std::vector<ParameterInfo>& parameters) {
  py::list out;
  for (const ParameterInfo& parameter : parameters) {
    py::dict row;
    const std::string type = type_of(parameter);
    row["name"] = parameter.name;
    row["type"] = type;
    row["default"] = py::none();
    if (const auto* number = std::get_if<double>(&parameter.default_value)) row["default"] = *number;
    if (const auto* flag = std::get_if<bool>(&parameter.default_value)) row["default"] = *flag;
    if (type == "name") row["default"] = std::get<std::string>(parameter.default_value);
    row["unit"] = parameter.unit;
    row["doc"] = parameter.doc;
    write_range(row, parameter.range);
    out.append(row);
  }
  return out;
}

py::list tracker_list() {
  py::list out;
  for (const TrackerInfo& info : tracker_registry()) {
    py::list features;
    py::list shown;
    for (const TrackedFeature& feature : tracked_features()) {
      if (feature.tracker != &info) continue;
      features.append(feature.name);
      py::dict one;
      one["name"] = feature.name;
      one["per"] = feature.per();
      one["knowledge"] = name_of(feature.shown().knowledge);
      shown.append(one);
    }
    py::dict row;
    row["name"] = info.name;
    row["summary"] = info.summary;
    row["features"] = features;
    row["shown"] = shown;
    row["parameters"] = parameter_list(info.parameters);
    out.append(row);
  }
  return out;
}

py::list policy_list() {
  py::list out;
  for (const PolicyInfo& info : policy_registry()) {
    py::dict row;
    row["name"] = info.name;
    row["summary"] = info.summary;
    row["source"] = info.source;
    row["scope"] = info.scope;
    row["action"] = info.action;
    row["features"] = info.features;
    row["aliases"] = info.aliases;
    row["knowledge"] = name_of(knowledge_of(info));
    row["parameters"] = parameter_list(info.parameters);
    out.append(row);
  }
  return out;
}

// The scope of a policy with these parameters, in the words of the batched environment.
std::string policy_scope(const std::string& policy, const py::dict& policy_parameters) {
  const std::string& usual = find_policy(policy).scope;
  if (usual == "all") return usual;  // a learner also receives reports from every router
  switch (make_policy(policy, parameters_of("policy", policy_parameters), {})->scope()) {
    case DecisionScope::kNowhere:
      return usual;
    case DecisionScope::kSource:
      return "source";
    case DecisionScope::kSourceAll:
      return "source-all";
    case DecisionScope::kSourceAround:
      return "source-around";
    case DecisionScope::kMinimalPath:
      return "minimal-path";
    case DecisionScope::kProgressive:
      return "progressive";
    case DecisionScope::kProgressiveBusy:
      return "progressive-busy";
    case DecisionScope::kSourceGroup:
    case DecisionScope::kEvery:
      break;
  }
  return "every";
}

// (dependencies as an (M, 6) array: router, port, VC held; router, port, VC requested; longest path in hops)
py::tuple channel_dependencies(const std::shared_ptr<Dragonfly>& topology, const std::string& policy,
                               const py::dict& policy_parameters, const std::string& vc_scheme) {
  const auto made = make_policy(policy, parameters_of("policy", policy_parameters),
                                {.own_global_links = topology->hosts_meet_global_links()});
  const LocalHops& local_hops = topology->longest_local();
  const PathFollower paths{*topology, VcLadder{parse_vc_scheme(vc_scheme),
                                               made->budget().with_local_paths(local_hops), local_hops.vcs}};
  const ChannelWalk walk = walk_channels(paths, *made);
  py::array_t<std::uint32_t> array({static_cast<py::ssize_t>(walk.dependencies.size()), py::ssize_t{6}});
  std::uint32_t* out = array.mutable_data();
  for (const ChannelDependency& d : walk.dependencies) {
    for (const std::uint32_t value :
         {d.held.router, std::uint32_t{d.held.port}, std::uint32_t{d.held.vc}, d.wanted.router,
          std::uint32_t{d.wanted.port}, std::uint32_t{d.wanted.vc}}) {
      *out++ = value;
    }
  }
  return py::make_tuple(array, walk.longest_path_hops);
}

std::unique_ptr<Simulation> make_simulation(const py::dict& run) {
  SimulationSetup setup = simulation_setup(run);
  const py::gil_scoped_release release;
  return std::make_unique<Simulation>(std::move(setup));
}

py::dict requirements(const py::dict& run) {
  const Requirements needed = requirements_of(simulation_setup(run));
  py::dict out;
  out["local_vcs"] = needed.vcs.local;
  out["global_vcs"] = needed.vcs.global;
  out["partitions"] = needed.partitions;
  out["network_bytes"] = needed.network_bytes;
  out["most_packet_bytes"] = needed.most_packet_bytes;
  return out;
}

// The numbers that each router sends to its group, by the name of the tracker that sends them.
py::dict message_numbers(const std::shared_ptr<Dragonfly>& topology, std::uint32_t global_vcs) {
  py::dict out;
  for (const TrackerInfo& info : tracker_registry()) {
    if (info.message_numbers != nullptr) out[info.name.c_str()] = info.message_numbers(*topology, global_vcs);
  }
  return out;
}

// (of local links, of global links)
py::tuple required_vcs_of(const std::shared_ptr<Dragonfly>& topology, const std::string& policy,
                          const py::dict& policy_parameters, const std::string& vc_scheme) {
  const auto made = make_policy(policy, parameters_of("policy", policy_parameters), {});
  const VcCounts needed = required_vcs(*topology, *made, parse_vc_scheme(vc_scheme));
  return py::make_tuple(needed.local, needed.global);
}

// (routers, rows, ports), a read-only view of the policy's memory; None for policies without tables.
py::object q_table(Simulation& self) {
  if (self.learner() == nullptr) return py::none();
  const QTable& table = self.learner()->table();
  auto* const owner = new std::shared_ptr<float[]>{table.share()};
  const py::capsule base{owner, [](void* p) { delete static_cast<std::shared_ptr<float[]>*>(p); }};
  const TableShape& shape = table.shape();
  const auto row_bytes = static_cast<py::ssize_t>(shape.stride() * sizeof(float));
  py::array_t<float> array(
      {static_cast<py::ssize_t>(shape.routers), static_cast<py::ssize_t>(shape.rows),
       static_cast<py::ssize_t>(shape.ports)},
      {static_cast<py::ssize_t>(shape.rows) * row_bytes, row_bytes, static_cast<py::ssize_t>(sizeof(float))},
      owner->get(), base);
  array.attr("flags").attr("writeable") = false;
  return array;
}

void load_q_table(Simulation& self, const py::array_t<float, py::array::c_style>& values) {
  if (self.learner() == nullptr) throw StateError{"this policy has no tables"};
  const TableShape& shape = self.learner()->table().shape();
  if (values.ndim() != 3 || values.shape(0) != shape.routers || values.shape(1) != shape.rows ||
      values.shape(2) != shape.ports) {
    throw ConfigError{"values", "an array of another shape",
                      "(" + std::to_string(shape.routers) + ", " + std::to_string(shape.rows) + ", " +
                          std::to_string(shape.ports) + ")"};
  }
  self.learner()->load({values.data(), static_cast<std::size_t>(values.size())});
}

}  // namespace

void bind_simulation(py::module_& module) {
  py::class_<Simulation>(module, "Simulation")
      .def(py::init(&make_simulation), py::arg("run"))
      .def(
          "run",
          [](Simulation& self, TimePs ps) {
            without_gil([&](auto keep_going) { return self.run(ps, keep_going); });
          },
          py::arg("ps"))
      .def(
          "drain",
          [](Simulation& self, TimePs max_ps) {
            without_gil([&](auto keep_going) { return self.drain(max_ps, keep_going); });
            return self.empty();
          },
          py::arg("max_ps"))
      .def(
          "run_to_completion",
          [](Simulation& self, TimePs max_ps) {
            RunEnd end = RunEnd::kInterrupted;
            without_gil([&](auto keep_going) {
              end = self.run_to_completion(max_ps, keep_going);
              return end != RunEnd::kInterrupted;
            });
            return end == RunEnd::kComplete;
          },
          py::arg("max_ps"))
      .def_property_readonly("progress", &Simulation::progress)
      .def(
          "set_policy",
          [](Simulation& self, const py::dict& policy) {
            const PolicyChoice choice = policy_choice("policy", policy);
            self.set_policy(choice.name, choice.parameters);
          },
          py::arg("policy"))
      .def(
          "add_policy",
          [](Simulation& self, const std::string& field, const py::dict& policy) {
            return self.add_policy(policy_choice(field, policy));
          },
          py::arg("field"), py::arg("policy"))
      .def(
          "set_job_policies",
          [](Simulation& self, std::uint32_t job, const JobPolicies& policies) {
            self.network().set_job_policies(job, policies);
          },
          py::arg("job"), py::arg("policies"))
      .def("q_table", &q_table)
      .def("load_q_table", &load_q_table, py::arg("values").noconvert())
      .def("save", &archived<Simulation>)
      .def("load", &load_archived<Simulation>, py::arg("state").noconvert())
      .def("resync_source", &Simulation::resync_source)
      .def_property_readonly("clock_ps", &Simulation::clock_ps)
      .def("reset_statistics", &Simulation::reset_statistics)
      .def("statistics", &statistics_dict)
      .def("totals", &totals_dict)
      .def("counters", &counters_dict)
      .def("packet_log", &packet_log)
      .def("trace_hash", &Simulation::trace_hash)
      .def("check_invariants", &Simulation::check_invariants)
      .def_property_readonly("time_ps", &Simulation::time_ps)
      .def_property_readonly("num_partitions", &Simulation::num_partitions);
  module.def("policies", &policy_list);
  module.def("policy_scope", &policy_scope, py::arg("policy"), py::arg("policy_params"));
  module.def("network_rows", &network_rows);
  module.def("network_horizon", &network_horizon, py::arg("network"));
  module.def(
      "check_link_events",
      [](const std::shared_ptr<Dragonfly>& topology, const std::vector<LinkEventRow>& events,
         TimePs notice_ps) { static_cast<void>(link_changes(*topology, events, notice_ps)); },
      py::arg("topology"), py::arg("events"), py::arg("notice_ps"));
  module.attr("longest_horizon") = kLongestHorizon;
  module.attr("most_threads") = kMostThreads;
  module.attr("archive_format") = kArchiveFormat;
  module.def("trackers", &tracker_list);
  module.def("requirements", &requirements, py::arg("run"));
  module.def("message_numbers", &message_numbers, py::arg("topology"), py::arg("global_vcs"));
  module.def("required_vcs", &required_vcs_of, py::arg("topology"), py::arg("policy"),
             py::arg("policy_params"), py::arg("vc_scheme"));
  module.def("channel_dependencies", &channel_dependencies, py::arg("topology"), py::arg("policy"),
             py::arg("policy_params"), py::arg("vc_scheme"));
}

}  // namespace dragonfly
