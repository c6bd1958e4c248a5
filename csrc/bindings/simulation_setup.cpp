#include "bindings/simulation_setup.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "bindings/members.hpp"
#include "bindings/network_handle.hpp"
#include "core/error.hpp"
#include "traffic/switched_source.hpp"

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

LinkParams link_params(const py::dict& given) {
  return {.packet_ps = member<TimePs>(given, "packet_ps"),
          .latency_ps = member<TimePs>(given, "latency_ps"),
          .buffer_packets = member<std::uint32_t>(given, "buffer_packets"),
          .vcs = member<std::uint32_t>(given, "vcs")};
}

NetworkParams network_params(const py::dict& given) {
  NetworkParams params;
  each_param(params, [&](const char* name, auto& value, const AllowedParam&) {
    value = member<std::decay_t<decltype(value)>>(given, name);
  });
  for (const auto& link : member<std::vector<py::dict>>(given, "links")) {
    params.links.push_back(link_params(link));
  }
  return params;
}

}  // namespace

Tick network_horizon(const py::dict& given) { return horizon_of(network_params(given)); }

namespace {

RecordOptions record_options(const py::dict& given) {
  RecordOptions record;
#define DRAGONFLY_READ(type, name) record.name = member<type>(given, #name);
  DRAGONFLY_RECORD_OPTIONS(DRAGONFLY_READ)
#undef DRAGONFLY_READ
  return record;
}

std::vector<PolicyChoice> policy_choices(const py::dict& given, const char* name) {
  std::vector<PolicyChoice> choices;
  for (const auto& one : member<std::vector<py::dict>>(given, name)) {
    choices.push_back(policy_choice(member<std::string>(one, "field"), one));
  }
  return choices;
}

// The source of a run that may have been forked: "forks" lists the later sources as (time in ps, source).
std::shared_ptr<const TrafficSource> forked_source(const py::dict& given, const SourceHandle& first) {
  if (!given.contains("forks")) return first.source;
  std::vector<SwitchedPart> parts;
  for (const auto& [after_ps, source] :
       member<std::vector<std::pair<TimePs, SourceHandle>>>(given, "forks")) {
    parts.push_back({.after_ps = after_ps, .source = source.source});
  }
  return make_switched_source(first.source, std::move(parts));
}

}  // namespace

std::shared_ptr<LinkChanges> link_changes(const Dragonfly& topology, const std::vector<LinkEventRow>& rows,
                                          TimePs notice_ps) {
  std::vector<LinkEvent> events;
  for (const auto& [time_ps, router, port, up] : rows) {
    const auto number = static_cast<Port>(std::min<std::uint32_t>(port, kNoPort));
    events.push_back({.time_ps = time_ps, .link = {router, number}, .up = up});
  }
  return std::make_shared<LinkChanges>(topology, std::move(events), notice_ps);
}

PolicyChoice policy_choice(const std::string& field, const py::dict& given) {
  return {.field = field,
          .name = member<std::string>(given, "name"),
          .parameters = parameters_of(field, member<py::dict>(given, "parameters"))};
}

SimulationSetup simulation_setup(const py::dict& given) {
  const auto topology = member<std::shared_ptr<Dragonfly>>(given, "topology");
  const auto source = member<SourceHandle>(given, "source");
  PolicyChoice policy = policy_choice("policy", member<py::dict>(given, "policy"));
  SimulationSetup setup{
      .topology = topology,
      .source = forked_source(given, source),
      .workload = source.workload,
      .network = network_params(member<py::dict>(given, "network")),
      .policy = std::move(policy.name),
      .policy_parameters = std::move(policy.parameters),
      .job_policies = policy_choices(given, "job_policies"),
      .later_policies = given.contains("later_policies") ? policy_choices(given, "later_policies")
                                                         : std::vector<PolicyChoice>{},
      .options = {.seed = member<std::uint64_t>(given, "seed"),
                  .source_queue_packets = member<std::uint32_t>(given, "source_queue_packets"),
                  .lose_when_full = member<bool>(given, "lose_when_full"),
                  .record = record_options(given),
                  .threads = member<std::uint32_t>(given, "threads")}};
  if (given.contains("link_events")) {
    setup.options.changes = link_changes(*topology, member<std::vector<LinkEventRow>>(given, "link_events"),
                                         member<TimePs>(given, "event_notice_ps"));
    setup.topology = {setup.options.changes, &setup.options.changes->known()};
  }
  // Set by tests only; results do not depend on the partitions.
  if (given.contains("hosts_per_partition")) {
    setup.options.hosts_per_partition = member<std::uint32_t>(given, "hosts_per_partition");
  }
  return setup;
}

}  // namespace dragonfly
