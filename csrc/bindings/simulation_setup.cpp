#include "bindings/simulation_setup.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "bindings/members.hpp"
#include "bindings/network_handle.hpp"
#include "core/error.hpp"
#include "traffic/spliced_source.hpp"

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
    } else if (py::isinstance<PathSplitHandle>(value)) {
      parameters[name] = py::cast<const PathSplitHandle&>(value).split;
    } else {
      throw ConfigError{owner + "." + name, py::repr(value).cast<std::string>().substr(0, 200),
                        "a number, a string, true or false"};
    }
  }
  return parameters;
}

void check_threads(std::uint32_t threads) {
  if (threads < 1 || threads > kMostThreads) {
    throw ConfigError{"threads", std::to_string(threads), "from 1 to " + std::to_string(kMostThreads)};
  }
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

LinkParams link_params(const py::dict& given) {
  require_known(given, {"packet_ps", "latency_ps", "buffer_packets", "vcs"});
  return {.packet_ps = member<TimePs>(given, "packet_ps"),
          .latency_ps = member<TimePs>(given, "latency_ps"),
          .buffer_packets = member<std::uint32_t>(given, "buffer_packets"),
          .vcs = member<std::uint32_t>(given, "vcs")};
}

NetworkParams network_params(const py::dict& given) {
  NetworkParams params;
  std::vector<std::string> known{"links"};
  each_param(params, [&](const char* name, auto& value, const AllowedParam&) {
    value = member<std::decay_t<decltype(value)>>(given, name);
    known.emplace_back(name);
  });
  require_known(given, known);
  for (const auto& link : member<std::vector<py::dict>>(given, "links")) {
    params.links.push_back(link_params(link));
  }
  return params;
}

RecordOptions record_options(const py::dict& given) {
  RecordOptions record;
#define DRAGONFLY_READ(type, name) record.name = member<type>(given, #name);
  DRAGONFLY_RECORD_OPTIONS(DRAGONFLY_READ)
#undef DRAGONFLY_READ
  if (record.series_bin_ps < 0)
    throw ConfigError{"series_bin_ps", std::to_string(record.series_bin_ps), "at least 0"};
  return record;
}

std::vector<PolicyChoice> job_policies(const py::dict& given, const Workload* workload) {
  std::vector<PolicyChoice> choices;
  for (const auto& one : member<std::vector<py::dict>>(given, "job_policies")) {
    choices.push_back(policy_choice(member<std::string>(one, "field"), one));
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

// Of a run that may have been forked: "forks", what it has sent since, as (time in ps, source).
std::shared_ptr<const TrafficSource> forked_source(const py::dict& given, const SourceHandle& first,
                                                   const Dragonfly& topology) {
  if (!given.contains("forks")) return first.source;
  std::vector<SplicedPart> parts;
  TimePs before = 0;
  for (const auto& [after_ps, source] :
       member<std::vector<std::pair<TimePs, SourceHandle>>>(given, "forks")) {
    require_same_topology("traffic", *source.topology, topology);
    if (after_ps < before) throw ConfigError{"forks", std::to_string(after_ps), "times that never fall"};
    before = after_ps;
    parts.push_back({.after_ps = after_ps, .source = source.source});
  }
  return make_spliced_source(first.source, std::move(parts));
}

std::vector<PolicyChoice> later_policies(const py::dict& given) {
  std::vector<PolicyChoice> choices;
  if (!given.contains("later_policies")) return choices;
  for (const auto& one : member<std::vector<py::dict>>(given, "later_policies")) {
    choices.push_back(policy_choice(member<std::string>(one, "field"), one));
  }
  return choices;
}

}  // namespace

PolicyChoice policy_choice(const std::string& field, const py::dict& given) {
  require_known(given, {"field", "name", "parameters"});
  return {.field = field,
          .name = member<std::string>(given, "name"),
          .parameters = parameters_of(field, member<py::dict>(given, "parameters"))};
}

SimulationSetup simulation_setup(const py::dict& given, const std::vector<std::string>& beside) {
  std::vector<std::string> known{"topology",       "network",
                                 "source",         "policy",
                                 "job_policies",   "source_queue_packets",
                                 "lose_when_full", "seed",
                                 "threads",        "hosts_per_partition"};
#define DRAGONFLY_NAME(type, name) known.emplace_back(#name);
  DRAGONFLY_RECORD_OPTIONS(DRAGONFLY_NAME)
#undef DRAGONFLY_NAME
  known.insert(known.end(), {"later_policies", "forks"});
  known.insert(known.end(), beside.begin(), beside.end());
  require_known(given, known);
  const auto topology = member<std::shared_ptr<Dragonfly>>(given, "topology");
  if (topology == nullptr) throw ConfigError{"topology", "None", "must be given"};
  const auto source = member<SourceHandle>(given, "source");
  require_same_topology("traffic", *source.topology, *topology);
  PolicyChoice policy = policy_choice("policy", member<py::dict>(given, "policy"));
  SimulationSetup setup{
      .topology = topology,
      .source = forked_source(given, source, *topology),
      .workload = source.workload,
      .network = network_params(member<py::dict>(given, "network")),
      .policy = std::move(policy.name),
      .policy_parameters = std::move(policy.parameters),
      .job_policies = job_policies(given, source.workload.get()),
      .later_policies = later_policies(given),
      .options = {.seed = member<std::uint64_t>(given, "seed"),
                  .source_queue_packets = member<std::uint32_t>(given, "source_queue_packets"),
                  .lose_when_full = member<bool>(given, "lose_when_full"),
                  .record = record_options(given),
                  .threads = member<std::uint32_t>(given, "threads")}};
  check_threads(setup.options.threads);
  // For tests: results do not depend on it.
  if (given.contains("hosts_per_partition")) {
    setup.options.hosts_per_partition = member<std::uint32_t>(given, "hosts_per_partition");
  }
  return setup;
}

}  // namespace dragonfly
