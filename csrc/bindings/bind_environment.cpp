// _core.RoutingEnvironment: batches of decisions as arrays that are views of the core's memory.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/archived.hpp"
#include "bindings/decision_spec.hpp"
#include "bindings/network_handle.hpp"
#include "bindings/outcome_arrays.hpp"
#include "bindings/signals.hpp"
#include "bindings/simulation_setup.hpp"
#include "core/error.hpp"
#include "simulation/rollout.hpp"
#include "simulation/routing_environment.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

using Actions = py::array_t<std::int64_t, py::array::c_style>;
using Ids = py::array_t<std::int64_t, py::array::c_style>;
using Scenarios = py::array_t<std::int32_t, py::array::c_style>;

// A read-only array over a buffer that stays alive as long as the array does.
template <class T>
py::array view(GrowingBuffer<T>& buffer, std::vector<py::ssize_t> shape, const py::dtype& type) {
  auto* const owner = new std::shared_ptr<T[]>{buffer.share()};
  const py::capsule base{owner, [](void* p) { delete static_cast<std::shared_ptr<T[]>*>(p); }};
  py::array array{type, std::move(shape), buffer.data(), base};
  array.attr("flags").attr("writeable") = false;
  return array;
}

template <class T>
py::array view(GrowingBuffer<T>& buffer, std::vector<py::ssize_t> shape) {
  return view(buffer, std::move(shape), py::dtype::of<T>());
}

EnvironmentSpec spec_of(const py::dict& given) {
  EnvironmentSpec spec;
  read_decision_spec(given, spec);
  spec.reward = one_of<RewardKind>("reward", member<std::string>(given, "reward"),
                                   {{"hop", RewardKind::kHop}, {"delivery", RewardKind::kDelivery}});
  spec.any_gateway =
      one_of<bool>("gateways", member<std::string>(given, "gateways"), {{"nearest", false}, {"any", true}});
  spec.avoid_destination_group = member<bool>(given, "avoid_destination_group");
  spec.occupancy_unit = one_of<OccupancyUnit>("occupancy_unit", member<std::string>(given, "occupancy_unit"),
                                              {{"buffers", OccupancyUnit::kBuffers},
                                               {"packets", OccupancyUnit::kPackets},
                                               {"ns", OccupancyUnit::kTime}});
  spec.features = member<std::uint32_t>(given, "features");
  spec.tracked = member<std::vector<std::string>>(given, "tracked");
  for (const auto& [name, parameters] : member<std::map<std::string, py::dict>>(given, "trackers")) {
    spec.trackers.emplace(name, parameters_of("trackers." + name, parameters));
  }
  for (const auto& [name, value] : member<std::map<std::string, double>>(given, "options")) {
    spec.options.emplace(name, value);
  }
  return spec;
}

// Reads one network: the settings of a simulation, and "decisions", the decisions that an outside policy
// makes.
SimulationSetup network_setup(const py::dict& run, TimePs warmup_ps) {
  SimulationSetup setup = simulation_setup(run);
  setup.options.decisions = spec_of(member<py::dict>(run, "decisions"));
  setup.options.warms_up = warmup_ps > 0;
  return setup;
}

std::unique_ptr<RoutingEnvironment> make_environment(const py::dict& run, TimePs warmup_ps,
                                                     TimePs duration_ps) {
  SimulationSetup setup = network_setup(run, warmup_ps);
  if (run.contains("background"))
    setup.background = policy_choice("background", member<py::dict>(run, "background"));
  const py::gil_scoped_release release;
  return std::make_unique<RoutingEnvironment>(std::move(setup), warmup_ps, duration_ps);
}

std::unique_ptr<RoutingEnvironment> make_several(const std::vector<py::dict>& runs, TimePs warmup_ps,
                                                 TimePs duration_ps, std::uint32_t threads) {
  std::vector<SimulationSetup> setups;
  for (const py::dict& run : runs) setups.push_back(network_setup(run, warmup_ps));
  const py::gil_scoped_release release;
  return std::make_unique<RoutingEnvironment>(std::move(setups), warmup_ps, duration_ps, threads);
}

// The number of a network that Python names.
ControlledNetwork& network_of(RoutingEnvironment& self, std::uint32_t number) {
  if (number >= self.num_networks()) {
    throw ConfigError{"network", std::to_string(number), "below " + std::to_string(self.num_networks())};
  }
  return self.network(number);
}

void advance(RoutingEnvironment& self) {
  without_gil([&](auto keep_going) { return self.advance(keep_going); });
}

std::string describe_illegal(RoutingEnvironment& self, std::size_t row, std::int64_t action) {
  DecisionBatch& batch = self.batch();
  const std::uint32_t actions = self.plan().num_actions;
  const PacketFacts& packet = batch.packets.data()[row];
  std::string legal;
  for (std::uint32_t i = 0; i < actions; ++i) {
    if (batch.mask.data()[row * actions + i] == 0) continue;
    legal += (legal.empty() ? "" : ", ") + std::to_string(i);
  }
  const std::string where =
      self.num_networks() == 1 ? "" : "scenario " + std::to_string(batch.networks.data()[row]) + ", ";
  return "actions[" + std::to_string(row) + "] = " + std::to_string(action) + ": " + where + "router_" +
         std::to_string(batch.agents.data()[row]) + " may choose for decision " +
         std::to_string(batch.ids.data()[row]) + " (packet " + std::to_string(packet.number) + " of host " +
         std::to_string(packet.source_host) + " to host " + std::to_string(packet.destination_host) +
         ") with " + legal;
}

// Takes the actions of the whole batch; throws for the first illegal one.
void take_all(RoutingEnvironment& self, const Actions& actions) {
  const std::size_t size = self.batch().size;
  if (actions.ndim() != 1 || actions.shape(0) != static_cast<py::ssize_t>(size)) {
    throw IllegalActionError{"actions must have the shape (" + std::to_string(size) +
                             ",): one per row of the batch"};
  }
  for (std::size_t row = 0; row < size; ++row) {
    const std::int64_t action = actions.data()[row];
    if (!self.take_action(row, action)) throw IllegalActionError{describe_illegal(self, row, action)};
  }
}

// Takes actions for some rows of the batch, minimal ones in place of illegal ones; returns where these are.
py::list take_actions(RoutingEnvironment& self, const Actions& rows, const Actions& actions) {
  py::list illegal;
  for (py::ssize_t i = 0; i < rows.size(); ++i) {
    if (!self.take_action(static_cast<std::size_t>(rows.data()[i]), actions.data()[i])) illegal.append(i);
  }
  return illegal;
}

// Ends the batch, all of whose rows have actions, and runs to the next one.
void go_on(RoutingEnvironment& self) {
  without_gil([&](auto keep_going) {
    self.commit_actions();
    return self.advance(keep_going);
  });
}

// Returns how many decisions the network made.
std::uint64_t rollout(RoutingEnvironment& self, const NetworkHandle& policy, std::size_t transitions) {
  Rollout rollout{self, *policy.network};
  without_gil([&](auto keep_going) { return rollout.run(transitions, keep_going); });
  return rollout.decisions();
}

// The rows of transitions, ordered as transitions() returns them: by scenario, then by decision id.
py::array_t<float> log_probabilities(RoutingEnvironment& self, const Ids& decision_ids,
                                     const Scenarios& scenario) {
  py::array_t<float> array(decision_ids.size());
  const std::span<const std::int32_t> all{scenario.data(), static_cast<std::size_t>(scenario.size())};
  for (std::uint32_t i = 0; i < self.num_networks(); ++i) {
    const auto rows = std::ranges::equal_range(all, static_cast<std::int32_t>(i));
    const auto first = static_cast<std::size_t>(rows.begin() - all.begin());
    self.log_probabilities(i).take({decision_ids.data() + first, rows.size()}, array.mutable_data() + first);
  }
  return array;
}

void require_background(const RoutingEnvironment& self) {
  if (!self.has_background()) throw StateError{"there is no background policy in the core"};
}

void seek(RoutingEnvironment& self) {
  require_background(self);
  without_gil([&](auto keep_going) {
    self.seek();
    return self.advance(keep_going);
  });
}

void follow(RoutingEnvironment& self, std::size_t row) {
  require_background(self);
  if (row >= self.batch().size) {
    throw ConfigError{"row", std::to_string(row), "below " + std::to_string(self.batch().size)};
  }
  self.follow(row);
}

py::tuple batch_arrays(RoutingEnvironment& self) {
  DecisionBatch& batch = self.batch();
  const auto n = static_cast<py::ssize_t>(batch.size);
  const auto features = static_cast<py::ssize_t>(self.plan().layout.num_features());
  const auto actions = static_cast<py::ssize_t>(self.plan().num_actions);
  const auto candidates = static_cast<py::ssize_t>(self.plan().num_candidates);
  return py::make_tuple(view(batch.observations, {n, features}),
                        view(batch.mask, {n, actions}, py::dtype::of<bool>()), view(batch.agents, {n}),
                        view(batch.ids, {n}), view(batch.packets, {n}), view(batch.times_ns, {n}),
                        candidates > 0 ? py::object{view(batch.candidates, {n, candidates})} : py::none(),
                        self.num_networks() > 1 ? py::object{view(batch.networks, {n})} : py::none());
}

// Returns random numbers for the present batch; throws unless `batch_number` batches came before it.
py::array_t<double> draws(RoutingEnvironment& self, std::uint32_t each, std::uint64_t batch_number) {
  if (batch_number != self.num_batches()) {
    throw StateError{"draws: the actions of this batch were taken; read its draws before, or copy() it"};
  }
  py::array_t<double> array({static_cast<py::ssize_t>(self.batch().size), static_cast<py::ssize_t>(each)});
  self.draw(array.mutable_data(), each);
  return array;
}

py::array_t<float> state(RoutingEnvironment& self, std::uint32_t number) {
  ControlledNetwork& network = network_of(self, number);
  const std::uint32_t routers = network.simulation().topology().num_routers();
  py::array_t<float> array(
      {static_cast<py::ssize_t>(routers), static_cast<py::ssize_t>(network.state_width())});
  network.read_state(array.mutable_data());
  return array;
}

py::list layout(RoutingEnvironment& self) {
  py::list blocks;
  for (const FeatureBlock& block : self.plan().layout.blocks()) {
    py::dict row;
    row["name"] = block.name;
    row["per"] = block.per;
    row["offset"] = block.offset;
    row["width"] = block.width;
    row["unit"] = block.unit;
    row["half"] = block.half;
    row["low"] = block.low;
    row["high"] = block.high;
    row["doc"] = block.doc;
    blocks.append(row);
  }
  return blocks;
}

}  // namespace

void bind_environment(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(PacketFacts, source_host, destination_host, number, source_router, destination_router,
                       destination_group, hops, vc, input_port, minimal_action, minimal, created_ns,
                       arrived_ns);
  PYBIND11_NUMPY_DTYPE(Candidate, kind, hops, port, occupancy, vc_occupancy, vc_queued, intermediate_group,
                       intermediate_router, minimal_choice);
  py::class_<RoutingEnvironment>(module, "RoutingEnvironment")
      .def(py::init(&make_environment), py::arg("run"), py::arg("warmup_ps"), py::arg("duration_ps"))
      .def_static("several", &make_several, py::arg("runs"), py::arg("warmup_ps"), py::arg("duration_ps"),
                  py::arg("threads"))
      .def("advance", &advance)
      .def("save", &archived<RoutingEnvironment>)
      .def("load", &load_archived<RoutingEnvironment>, py::arg("state").noconvert())
      .def("take_all", &take_all, py::arg("actions").noconvert())
      .def("take_action", &RoutingEnvironment::take_action, py::arg("row"), py::arg("action"))
      .def("take_actions", &take_actions, py::arg("rows").noconvert(), py::arg("actions").noconvert())
      .def("go_on", &go_on)
      .def("rollout", &rollout, py::arg("policy"), py::arg("transitions"))
      .def("log_probabilities", &log_probabilities, py::arg("decision_ids").noconvert(),
           py::arg("scenario").noconvert())
      .def("seek", &seek)
      .def("follow", &follow, py::arg("row"))
      .def("extend", &RoutingEnvironment::extend, py::arg("duration_ps"))
      .def(
          "begin_drain",
          [](RoutingEnvironment& self, TimePs latest_ps, std::string refusal, std::uint32_t network) {
            network_of(self, network).begin_drain(latest_ps, std::move(refusal));
          },
          py::arg("latest_ps") = INT64_MAX, py::arg("refusal") = std::string{}, py::arg("network") = 0)
      .def("batch", &batch_arrays)
      .def("draws", &draws, py::arg("each"), py::arg("batch_number"))
      .def("transitions", &transitions)
      .def("outcomes", &outcomes)
      .def("reports", &reports)
      .def("tallies", &tallies)
      .def(
          "set_credit",
          [](RoutingEnvironment& self, std::uint32_t number, TimePs credit_ps) {
            network_of(self, number).outcomes().set_credit(credit_ps);
          },
          py::arg("network"), py::arg("credit_ps"))
      .def(
          "latency_ps",
          [](RoutingEnvironment& self, std::uint32_t number) {
            return network_of(self, number).outcomes().latency_ps();
          },
          py::arg("network"))
      .def("state", &state, py::arg("network") = 0)
      .def(
          "state_high",
          [](RoutingEnvironment& self, std::uint32_t number) {
            return network_of(self, number).plan().layout.state_high();
          },
          py::arg("network") = 0)
      .def(
          "simulation_of",
          [](RoutingEnvironment& self, std::uint32_t number) -> Simulation& {
            return network_of(self, number).simulation();
          },
          py::arg("network"), py::return_value_policy::reference_internal)
      .def("layout", &layout)
      .def_property_readonly(
          "simulation", [](RoutingEnvironment& self) -> Simulation& { return self.simulation(); },
          py::return_value_policy::reference_internal)
      .def_property_readonly("end_ps", &RoutingEnvironment::end_ps)
      .def_property_readonly("num_batches", &RoutingEnvironment::num_batches)
      .def_property_readonly("done", &RoutingEnvironment::done)
      .def_property_readonly("overflowed", &overflowed)
      .def_property_readonly("outcomes_overflowed", &outcomes_overflowed)
      .def_property_readonly("reports_overflowed", &reports_overflowed)
      .def_property_readonly("time_ns", &RoutingEnvironment::time_ns)
      .def_property_readonly("num_actions", [](const RoutingEnvironment& e) { return e.plan().num_actions; })
      .def_property_readonly("num_features",
                             [](const RoutingEnvironment& e) { return e.plan().layout.num_features(); });
  module.attr("packet_dtype") = py::dtype::of<PacketFacts>();
  module.attr("candidate_dtype") = py::dtype::of<Candidate>();
}

}  // namespace dragonfly
