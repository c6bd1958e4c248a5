#include "bindings/simulation_setup.hpp"

#include <tuple>
#include <type_traits>

#include "bindings/members.hpp"
#include "bindings/network_handle.hpp"
#include "core/error.hpp"

namespace py = pybind11;

namespace dragonfly {

Parameters parameters_of(const std::string& owner, const py::dict& given) {
  Parameters parameters;
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    if (value.is_none()) continue;  // the default
    if (py::isinstance<py::bool_>(value)) {
      parameters[name] = py::cast<bool>(value);
    } else if (py::isinstance<py::str>(value)) {
      parameters[name] = py::cast<std::string>(value);
    } else if (py::isinstance<py::int_>(value) || py::isinstance<py::float_>(value)) {
      parameters[name] = py::cast<double>(value);
    } else if (py::isinstance<NetworkHandle>(value)) {
      parameters[name] = py::cast<const NetworkHandle&>(value).network;
    } else {
      throw ConfigError{owner + "." + name, py::repr(value).cast<std::string>().substr(0, 200),
                        "a number, a string, true or false"};
    }
  }
  return parameters;
}

py::list network_rows() {
  py::list rows;
  NetworkParams params;
  each_param(params, [&rows](const char* name, const auto&, const AllowedParam& allowed) {
    py::dict row;
    row["name"] = name;
    write_range(row, allowed.range);
    rows.append(row);
  });
  return rows;
}

namespace {

NetworkParams network_params(const py::dict& given) {
  NetworkParams params;
  std::vector<std::string> known{"links"};
  each_param(params, [&](const char* name, auto& value, const AllowedParam&) {
    value = member<std::decay_t<decltype(value)>>(given, name);
    known.emplace_back(name);
  });
  require_known(given, known);
  // Packet time and latency (ps), buffer (packets per VC), VCs.
  using LinkRow = std::tuple<TimePs, TimePs, std::uint32_t, std::uint32_t>;
  for (const auto& [packet_ps, latency_ps, buffer, vcs] : member<std::vector<LinkRow>>(given, "links")) {
    params.links.push_back({packet_ps, latency_ps, buffer, vcs});
  }
  return params;
}

RecordOptions record_options(const py::dict& options) {
  RecordOptions record;
  for (const auto& [key, value] : options) {
    const auto name = py::cast<std::string>(key);
    if (name == "series_bin_ps") {
      record.series_bin_ps = py::cast<TimePs>(value);
      if (record.series_bin_ps < 0)
        throw ConfigError{"series_bin_ps", std::to_string(record.series_bin_ps), "at least 0"};
    } else if (name == "packet_log") {
      record.packet_log = py::cast<bool>(value);
    } else if (name == "job_policies" || name == "hosts_per_partition") {
      continue;  // see job_policies() and hosts_per_partition()
    } else if (name == "group_latency") {
      record.group_latency = py::cast<bool>(value);
    } else if (name == "host_latency") {
      record.host_latency = py::cast<bool>(value);
    } else {
      throw ConfigError{"options", "'" + name + "'",
                        "series_bin_ps, packet_log, group_latency, host_latency"};
    }
  }
  return record;
}

// For tests: results do not depend on it.
std::uint32_t hosts_per_partition(const py::dict& options) {
  if (!options.contains("hosts_per_partition")) return NetworkOptions{}.hosts_per_partition;
  return member<std::uint32_t>(options, "hosts_per_partition");
}

// (field, name, parameters) of each.
std::vector<PolicyChoice> job_policies(const py::dict& options, const Workload* workload) {
  std::vector<PolicyChoice> choices;
  if (options.contains("job_policies")) {
    using Row = std::tuple<std::string, std::string, py::dict>;
    for (const auto& [field, name, parameters] : member<std::vector<Row>>(options, "job_policies")) {
      choices.push_back({.field = field, .name = name, .parameters = parameters_of(field, parameters)});
    }
  }
  if (choices.size() > 255) throw ConfigError{"job_policies", std::to_string(choices.size()), "at most 255"};
  if (workload == nullptr) return choices;
  for (const Job& job : workload->jobs()) {
    for (const std::uint8_t policy : job.policies) {
      if (policy > choices.size()) {
        throw ConfigError{"job_policies", std::to_string(choices.size()),
                          "at least " + std::to_string(policy)};
      }
    }
  }
  return choices;
}

}  // namespace

SimulationSetup simulation_setup(const std::shared_ptr<Dragonfly>& topology, const py::dict& network,
                                 const SourceHandle& source, const std::string& policy,
                                 const py::dict& policy_parameters, std::uint32_t source_queue_packets,
                                 bool lose_when_full, std::uint64_t seed, std::uint32_t threads,
                                 const py::dict& options) {
  require_same_topology("traffic", *source.topology, *topology);
  if (threads < 1 || threads > 1024) throw ConfigError{"threads", std::to_string(threads), "from 1 to 1024"};
  return {.topology = topology,
          .source = source.source,
          .workload = source.workload,
          .network = network_params(network),
          .policy = policy,
          .policy_parameters = parameters_of("policy", policy_parameters),
          .job_policies = job_policies(options, source.workload.get()),
          .threads = threads,
          .options = {.seed = seed,
                      .source_queue_packets = source_queue_packets,
                      .lose_when_full = lose_when_full,
                      .record = record_options(options),
                      .hosts_per_partition = hosts_per_partition(options)}};
}

}  // namespace dragonfly
