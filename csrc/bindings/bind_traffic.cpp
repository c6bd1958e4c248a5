// _core.Pattern and _core.Source: sender, receiver, size and time of every message. Python's traffic.py wraps
// them.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/columns.hpp"
#include "bindings/members.hpp"
#include "bindings/traffic_handles.hpp"
#include "core/error.hpp"
#include "traffic/synthetic_source.hpp"
#include "traffic/trace_source.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style>;

// Deeper mixtures are refused, so that a list that holds itself cannot overflow the stack.
constexpr int kMaxDepth = 16;

PatternArguments arguments_of(const py::dict& arguments, int depth);

PatternPart part_of(const py::dict& given, int depth) {
  PatternPart part;
  part.spec.name = member<std::string>(given, "pattern");
  if (given.contains("arguments")) {
    part.spec.arguments = arguments_of(member<py::dict>(given, "arguments"), depth + 1);
  }
  if (given.contains("hosts")) part.hosts = member<Integers>(given, "hosts");
  if (given.contains("weight")) part.weight = member<double>(given, "weight");
  return part;
}

template <class T>
T cast_to(const std::string& field, const py::handle& value, const char* allowed) {
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw ConfigError{field, py::repr(value).cast<std::string>().substr(0, 200), allowed};
  }
}

ArgumentValue value_of(const std::string& field, const py::handle& value, int depth) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return cast_to<std::int64_t>(field, value, "is too large");
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<Array<double>>(value)) {
    const auto array = py::cast<Array<double>>(value);
    return Matrix{.rows = static_cast<std::uint64_t>(array.shape(0)),
                  .columns = static_cast<std::uint64_t>(array.shape(1)),
                  .values = {array.data(), array.data() + array.size()}};
  }
  if (py::isinstance<py::list>(value)) {
    const auto list = py::cast<py::list>(value);
    if (!list.empty() && py::isinstance<py::dict>(list[0])) {
      std::vector<PatternPart> parts;
      for (const py::handle item : list) parts.push_back(part_of(py::cast<py::dict>(item), depth));
      return parts;
    }
    return cast_to<Integers>(field, value, "must be a list of integers");
  }
  if (py::isinstance<Array<std::int64_t>>(value)) return value.cast<Integers>();
  throw ConfigError{field, py::repr(value).cast<std::string>().substr(0, 200),
                    "must be a bool, int, float, str, list of integers, 1-D int64 array, 2-D float64 array "
                    "or list of dicts"};
}

PatternArguments arguments_of(const py::dict& arguments, int depth) {
  if (depth > kMaxDepth) {
    throw ConfigError{"traffic", "(nested mixtures)", "at most " + std::to_string(kMaxDepth) + " deep"};
  }
  PatternArguments result;
  for (const auto& [key, value] : arguments) {
    const auto name = py::str(key).cast<std::string>();
    result.set(name, value_of(name, value, depth));
  }
  return result;
}

PatternHandle make(std::shared_ptr<const Dragonfly> topology, std::uint64_t seed, std::string name,
                   const py::dict& arguments, bool uniform_excludes_sender) {
  const PatternSpec spec{.name = std::move(name), .arguments = arguments_of(arguments, 0)};
  const py::gil_scoped_release release;
  PatternPtr pattern = make_pattern(*topology, seed, spec, uniform_excludes_sender);
  return {.topology = std::move(topology), .pattern = std::move(pattern)};
}

py::dict dict_of(const PatternArguments& arguments);

struct ToPython {
  py::object operator()(const Matrix&) const { return py::none(); }  // a spec string never holds a matrix
  py::object operator()(const std::vector<PatternPart>& parts) const {
    py::list list;
    for (const PatternPart& part : parts) {
      py::dict entry;
      entry["pattern"] = part.spec.name;
      entry["arguments"] = dict_of(part.spec.arguments);
      entry["weight"] = part.weight;
      list.append(entry);
    }
    return list;
  }
  py::object operator()(const auto& plain) const { return py::cast(plain); }
};

py::dict dict_of(const PatternArguments& arguments) {
  py::dict dict;
  for (const auto& [name, value] : arguments.items()) dict[py::str(name)] = std::visit(ToPython{}, value);
  return dict;
}

// A spec string as name and arguments.
py::tuple parse_pattern(const std::string& text) {
  const PatternSpec spec = parse_pattern_spec(text);
  return py::make_tuple(spec.name, dict_of(spec.arguments));
}

std::uint32_t destination(const PatternHandle& handle, std::uint32_t host, std::uint64_t message,
                          std::uint64_t seed) {
  const HostId source{host};
  RandomStream random{seed, Purpose::kDestination, source.value, message};
  return handle.pattern->destination(source, message, random).value;
}

// The load that each host receives if every host sends its share of a load of 1.
py::array_t<double> received(const PatternHandle& handle) {
  std::vector<double> sent(handle.topology->num_hosts());
  for (std::uint32_t host = 0; host < sent.size(); ++host) sent[host] = handle.pattern->share(HostId{host});
  std::vector<double> result(sent.size(), 0.0);
  handle.pattern->add_received(sent, result);
  return to_array<double>(result);
}

// [source host or router, destination router] the load between their hosts in the long run if every host
// sends its share of a load of 1. Routers without hosts have rows and columns of 0.
py::array_t<double> demand(const PatternHandle& handle, bool by_host) {
  const Dragonfly& topology = *handle.topology;
  const std::uint32_t rows = by_host ? topology.num_hosts() : topology.num_routers();
  const std::uint32_t columns = topology.num_routers();
  py::array_t<double> result({rows, columns});
  std::fill_n(result.mutable_data(), std::size_t{rows} * columns, 0.0);
  double* row = result.mutable_data();
  const py::gil_scoped_release release;
  std::vector<double> sent(topology.num_hosts(), 0.0);
  std::vector<double> received(topology.num_hosts());
  for (std::uint32_t i = 0; i < rows; ++i, row += columns) {
    if (!by_host && !topology.has_hosts(i)) continue;
    const std::uint32_t first = by_host ? i : topology.first_host(i);
    const std::uint32_t senders = by_host ? 1 : topology.p();
    for (std::uint32_t host = first; host < first + senders; ++host)
      sent[host] = handle.pattern->share(HostId{host});
    std::ranges::fill(received, 0.0);
    handle.pattern->add_received(sent, received);
    std::fill_n(sent.begin() + first, senders, 0.0);
    for (std::uint32_t host = 0; host < received.size(); ++host)
      row[topology.router_of_host(host)] += received[host];
  }
  return result;
}

SourceHandle synthetic_source(std::shared_ptr<const Dragonfly> topology,
                              const std::vector<std::tuple<TimePs, const PatternHandle*, double>>& steps,
                              const std::string& process, std::uint64_t seed, std::uint32_t message_packets,
                              TimePs packet_ps, TimePs trial_ps, TimePs first_ps,
                              const std::string& periodic_intervals) {
  std::vector<TrafficStep> checked;
  for (const auto& [start_ps, handle, load] : steps) {
    checked.push_back({.start_ps = start_ps, .pattern = handle->pattern, .load = load});
  }
  const SyntheticParams params{.num_hosts = topology->num_hosts(),
                               .seed = seed,
                               .injection = parse_injection(process),
                               .message_packets = message_packets,
                               .packet_ps = packet_ps,
                               .trial_ps = trial_ps,
                               .first_ps = first_ps,
                               .intervals = parse_periodic_intervals(periodic_intervals)};
  std::shared_ptr<const TrafficSource> source = make_synthetic_source(std::move(checked), params);
  return {.topology = std::move(topology), .source = std::move(source)};
}

SourceHandle workload(std::shared_ptr<const Dragonfly> topology, std::uint64_t seed, std::string name,
                      const py::dict& arguments, std::uint32_t packet_bytes, std::uint32_t packet_flits) {
  const PatternSpec spec{.name = std::move(name), .arguments = arguments_of(arguments, 0)};
  const py::gil_scoped_release release;
  auto made = make_workload(*topology, seed, spec, packet_bytes, packet_flits);
  return {.topology = std::move(topology),
          .source = std::make_shared<const SilentSource>(),
          .workload = std::move(made)};
}

template <class T>
std::span<const T> span_of(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

SourceHandle trace_source(std::shared_ptr<const Dragonfly> topology, const Array<std::int64_t>& time_ps,
                          const Array<std::uint32_t>& src, const Array<std::uint32_t>& dst,
                          const Array<std::uint32_t>& packets,
                          const std::optional<Array<std::int64_t>>& route_offsets,
                          const std::optional<Array<std::uint32_t>>& routes) {
  TraceColumns columns{.time_ps = span_of(time_ps),
                       .source = span_of(src),
                       .destination = span_of(dst),
                       .packets = span_of(packets)};
  if (routes.has_value()) {
    columns.route_offsets = span_of(*route_offsets);
    columns.routes = span_of(*routes);
  }
  const py::gil_scoped_release release;  // the caller's arguments keep the arrays alive
  std::shared_ptr<const TrafficSource> source = make_trace_source(*topology, columns);
  return {.topology = std::move(topology), .source = std::move(source)};
}

// The first `count` messages of a host, or fewer if it has fewer.
py::tuple source_schedule(const SourceHandle& handle, std::uint32_t host, std::size_t count) {
  const HostId id{host};
  std::vector<std::int64_t> times;
  std::vector<std::uint32_t> destinations;
  SourceCursor cursor;
  handle.source->start(id, cursor);
  while (times.size() < count && cursor.time_ps < kNever) {
    times.push_back(cursor.time_ps);
    destinations.push_back(handle.source->describe(id, cursor).destination.value);
    handle.source->advance(id, cursor);
  }
  return py::make_tuple(
      py::array_t<std::int64_t>(static_cast<py::ssize_t>(times.size()), times.data()),
      py::array_t<std::uint32_t>(static_cast<py::ssize_t>(destinations.size()), destinations.data()));
}

py::list patterns() {
  py::list result;
  for (const PatternInfo& info : pattern_registry()) {
    py::list parameters;
    for (const PatternParameter& parameter : info.parameters) {
      py::dict entry;
      entry["name"] = parameter.name;
      entry["default"] = parameter.default_value;
      entry["doc"] = parameter.doc;
      parameters.append(entry);
    }
    py::dict entry;
    entry["name"] = info.name;
    entry["summary"] = info.summary;
    entry["source"] = info.source;
    entry["example"] = info.example;
    entry["closed_loop"] = info.closed_loop();
    entry["parameters"] = parameters;
    result.append(entry);
  }
  return result;
}

}  // namespace

void bind_traffic(py::module_& module) {
  py::classh<PatternHandle>(module, "Pattern")
      .def("destination", &destination, py::arg("host"), py::arg("message"), py::arg("seed"))
      .def(
          "sends",
          [](const PatternHandle& handle, std::uint32_t host) { return handle.pattern->sends(HostId{host}); },
          py::arg("host"))
      .def(
          "share",
          [](const PatternHandle& handle, std::uint32_t host) { return handle.pattern->share(HostId{host}); },
          py::arg("host"))
      .def("received", &received)
      .def("demand", &demand, py::arg("by_host") = false);
  py::classh<SourceHandle>(module, "Source");
  module.def("make_pattern", &make, py::arg("topology"), py::arg("seed"), py::arg("name"),
             py::arg("arguments"), py::arg("uniform_excludes_sender") = false);
  module.def("parse_pattern", &parse_pattern, py::arg("spec"));
  module.def("synthetic_source", &synthetic_source, py::arg("topology"), py::arg("steps"), py::arg("process"),
             py::arg("seed"), py::arg("message_packets"), py::arg("packet_ps"), py::arg("trial_ps"),
             py::arg("first_ps"), py::arg("periodic_intervals") = "exact");
  module.def("workload", &workload, py::arg("topology"), py::arg("seed"), py::arg("name"),
             py::arg("arguments"), py::arg("packet_bytes"), py::arg("packet_flits") = 1);
  module.def("trace_source", &trace_source, py::arg("topology"), py::arg("time_ps").noconvert(),
             py::arg("src").noconvert(), py::arg("dst").noconvert(), py::arg("packets").noconvert(),
             py::arg("route_offsets").noconvert(), py::arg("routes").noconvert());
  module.def("source_schedule", &source_schedule, py::arg("source"), py::arg("host"), py::arg("count"));
  module.def("patterns", &patterns);
}

}  // namespace dragonfly
