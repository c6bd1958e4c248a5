// _core.Simulation and the list of policies.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "bindings/members.hpp"
#include "bindings/sealed_class.hpp"
#include "bindings/signals.hpp"
#include "bindings/simulation_setup.hpp"
#include "core/error.hpp"
#include "routing/channel_walk.hpp"
#include "simulation/simulation.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

template <class T, class V>
py::array_t<T> to_array(const std::vector<V>& values) {
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()));
  T* out = array.mutable_data();
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[i]);
  return array;
}

template <class T, class Rows, class Get>
py::array_t<T> column(const Rows& rows, Get get) {
  py::array_t<T> array(static_cast<py::ssize_t>(rows.size()));
  T* out = array.mutable_data();
  for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<T>(get(rows[i]));
  return array;
}

// The middle of each bucket, in ps.
py::array_t<double> bucket_middles(const LatencyHistogram& histogram) {
  const std::size_t buckets = histogram.counts().size();
  py::array_t<double> middles(static_cast<py::ssize_t>(buckets));
  constexpr double kUnit = 1U << DeliveryRecord::kHistogramShift;
  for (std::size_t i = 0; i < buckets; ++i) {
    middles.mutable_data()[i] = (LatencyHistogram::middle_of(i) + 0.5) * kUnit;
  }
  return middles;
}

py::dict series_dict(const Statistics& s) {
  const std::size_t first =
      std::min(static_cast<std::size_t>(s.start_ps / s.series_bin_ps), s.deliveries.series.size());
  const std::vector<SeriesBin> bins(s.deliveries.series.begin() + static_cast<std::ptrdiff_t>(first),
                                    s.deliveries.series.end());
  py::dict series;
  series["generated"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.injected; });
  series["delivered"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.delivered; });
  series["latency_sum_ps"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.latency_ps; });
  series["hops_sum"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.hops; });
  series["arrived"] = column<std::int64_t>(bins, [](const SeriesBin& b) { return b.arrived; });
  series["arrived_latency_sum_ps"] =
      column<std::int64_t>(bins, [](const SeriesBin& b) { return b.arrived_latency_ps; });
  return series;
}

// One row per job: tasks that are not finished, when the last one finished, what came; and of each of its
// operations, in its order.
py::list job_rows(const WorkloadStatistics& s, const Simulation& simulation) {
  py::list rows;
  for (std::uint32_t job = 0; job < s.jobs.size(); ++job) {
    py::dict row;
    row["unfinished"] = s.jobs[job].unfinished;
    row["end_ps"] = simulation.ps_of(s.jobs[job].last_end);
    row["packets_delivered"] = s.jobs[job].packets_delivered;
    const std::vector<OperationRecord> own{
        s.operations.begin() + simulation.workload()->first_operation(job),
        s.operations.begin() + simulation.workload()->first_operation(job + 1)};
    row["counts"] = column<std::int64_t>(own, [](const OperationRecord& o) { return o.count; });
    row["total_ps"] = column<std::int64_t>(own, [](const OperationRecord& o) { return o.total_ps; });
    row["max_ps"] = column<std::int64_t>(own, [](const OperationRecord& o) { return o.max_ps; });
    rows.append(row);
  }
  return rows;
}

void add_workload(py::dict& out, const WorkloadStatistics& s, const Simulation& simulation) {
  out["jobs"] = job_rows(s, simulation);
  out["makespan_ps"] = s.makespan_ps;
  out["messages_sent"] = s.messages.sent;
  out["messages_delivered"] = s.messages.delivered;
  out["message_latency_sum_ps"] = s.messages.latency_ps;
  out["message_latency_min_ps"] = s.messages.delivered > 0 ? s.messages.latency_min_ps : 0;
  out["message_latency_max_ps"] = s.messages.latency_max_ps;
  out["message_latency_histogram"] = to_array<std::int64_t>(s.messages.latencies.counts());
  out["message_latency_bucket_ps"] = bucket_middles(s.messages.latencies);
}

// What `Mark` in Python is made of, as in statistics_dict().
py::dict totals_dict(Simulation& simulation) {
  const Totals totals = [&] {
    const py::gil_scoped_release release;
    return simulation.totals();
  }();
  py::dict out;
  out["now_ps"] = totals.now_ps;
  out["generated"] = totals.generated;
  out["lost"] = totals.lost;
  out["delivered"] = totals.delivered;
  out["latency_sum_ps"] = totals.latency_ps;
  return out;
}

py::dict statistics_dict(Simulation& simulation) {
  const Statistics s = [&] {
    const py::gil_scoped_release release;
    return simulation.statistics();
  }();
  const DeliveryRecord& d = s.deliveries;
  py::dict out;
  out["start_ps"] = s.start_ps;
  out["now_ps"] = s.now_ps;
  out["generated"] = s.generated;
  out["lost"] = d.lost;
  out["injected"] = d.injected;
  out["delivered"] = d.delivered;
  out["in_network"] = s.in_network;
  out["in_source_queues"] = s.in_source_queues;
  out["latency_sum_ps"] = d.latency_ps;
  out["network_latency_sum_ps"] = d.network_latency_ps;
  std::uint64_t hops = 0;
  for (std::size_t i = 0; i < d.hops.size(); ++i) hops += i * d.hops[i];
  out["hops_sum"] = hops;
  out["minimal_delivered"] = d.minimal;
  out["latency_min_ps"] = d.delivered > 0 ? d.latency_min_ps : 0;
  out["latency_max_ps"] = d.latency_max_ps;
  out["latency_histogram"] = to_array<std::int64_t>(d.latencies.counts());
  out["latency_bucket_ps"] = bucket_middles(d.latencies);
  if (s.workload) add_workload(out, *s.workload, simulation);
  out["hop_histogram"] = to_array<std::int64_t>(d.hops);
  out["router_delivered"] = to_array<std::int64_t>(s.router_delivered);
  out["router_injected"] = to_array<std::int64_t>(s.router_injected);
  out["link_packets"] = to_array<std::int64_t>(s.link_packets);
  out["link_stall_ps"] = to_array<std::int64_t>(s.link_stall_ps);
  out["link_queued_packets"] = to_array<std::int64_t>(s.link_queued);
  out["link_occupancy_packets"] = to_array<std::int64_t>(s.link_occupancy);
  py::dict per_class;
  for (std::size_t i = 0; i < s.link_packet_ps.size(); ++i) {
    per_class[py::str(simulation.topology().class_name(static_cast<LinkClass>(i)))] = s.link_packet_ps[i];
  }
  out["link_busy_ps_per_packet"] = per_class;
  out["packet_hops"] = s.packet_hops;
  if (s.series_bin_ps > 0) {
    out["series"] = series_dict(s);
    out["series_bin_ps"] = s.series_bin_ps;
    out["series_start_ps"] = s.start_ps / s.series_bin_ps * s.series_bin_ps;
  }
  if (!d.group_delivered.empty()) {
    const auto g = static_cast<py::ssize_t>(simulation.topology().num_groups());
    out["group_latency_sum_ps"] = to_array<std::int64_t>(d.group_latency_ps).reshape({g, g});
    out["group_delivered"] = to_array<std::int64_t>(d.group_delivered).reshape({g, g});
  }
  return out;
}

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

// The type of a parameter; "network": true, false or as the network says.
const char* type_of(const ParameterInfo& parameter) {
  if (std::holds_alternative<double>(parameter.default_value))
    return parameter.range.whole ? "whole" : "real";
  if (std::holds_alternative<bool>(parameter.default_value)) return "flag";
  const auto* text = std::get_if<std::string>(&parameter.default_value);
  return text == nullptr ? "object" : *text == "network" ? "network" : "name";
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
    row["parameters"] = parameter_list(info.parameters);
    out.append(row);
  }
  return out;
}

// (dependencies as an (M, 6) array: router, port, VC held; router, port, VC wanted; longest path in hops)
py::tuple channel_dependencies(const std::shared_ptr<Dragonfly>& topology, const std::string& policy,
                               const py::dict& policy_parameters, const std::string& vc_scheme) {
  const auto made = make_policy(policy, parameters_of("policy", policy_parameters), {});
  const std::uint32_t local_hops = topology->local_way_hops();
  const PathFollower paths{*topology, VcLadder{parse_vc_scheme(vc_scheme),
                                               made->budget().with_local_ways(local_hops), local_hops}};
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

std::unique_ptr<Simulation> make_simulation(const std::shared_ptr<Dragonfly>& topology,
                                            const py::dict& network, const SourceHandle& source,
                                            const std::string& policy, const py::dict& policy_parameters,
                                            std::uint32_t source_queue_packets, bool lose_when_full,
                                            std::uint64_t seed, std::uint32_t threads,
                                            const py::dict& options) {
  SimulationSetup setup = simulation_setup(topology, network, source, policy, policy_parameters,
                                           source_queue_packets, lose_when_full, seed, threads, options);
  const py::gil_scoped_release release;
  return std::make_unique<Simulation>(std::move(setup));
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
  // A copy: another thread may write to the array between the check and the use.
  const std::vector<float> given(values.data(), values.data() + values.size());
  self.learner()->load(given);
}

}  // namespace

void bind_simulation(py::module_& module) {
  auto simulation = sealed_class<Simulation>(module, "Simulation");
  make_by(simulation, &make_simulation, py::arg("topology").none(false), py::arg("network_params"),
          py::arg("source"), py::arg("policy"), py::arg("policy_params"), py::arg("source_queue_packets"),
          py::arg("lose_when_full"), py::arg("seed"), py::arg("threads"), py::arg("options"));
  simulation
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
      .def_property_readonly("progress", by_reference(&Simulation::progress))
      .def(
          "set_policy",
          [](Simulation& self, const std::string& policy, const py::dict& parameters) {
            self.set_policy(policy, parameters_of("policy", parameters));
          },
          py::arg("policy"), py::arg("policy_params"))
      .def("q_table", &q_table)
      .def("load_q_table", &load_q_table, py::arg("values").noconvert())
      .def("reset_statistics", by_reference(&Simulation::reset_statistics))
      .def("statistics", &statistics_dict)
      .def("totals", &totals_dict)
      .def("packet_log", &packet_log)
      .def("trace_hash", by_reference(&Simulation::trace_hash))
      .def("check_invariants", by_reference(&Simulation::check_invariants))
      .def_property_readonly("time_ps", by_reference(&Simulation::time_ps))
      .def_property_readonly("num_partitions", by_reference(&Simulation::num_partitions));
  module.def("policies", &policy_list);
  module.def("network_rows", &network_rows);
  module.def("trackers", &tracker_list);
  module.def("channel_dependencies", &channel_dependencies, py::arg("topology").none(false),
             py::arg("policy"), py::arg("policy_params"), py::arg("vc_scheme"));
}

}  // namespace dragonfly
