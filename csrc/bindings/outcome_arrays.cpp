#include "bindings/outcome_arrays.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/error.hpp"

namespace py = pybind11;

namespace dragonfly {

namespace {

// (M,) the network of each row, if network i has counts[i] rows.
py::array_t<std::int32_t> owners(const std::vector<std::size_t>& counts) {
  std::size_t total = 0;
  for (const std::size_t count : counts) total += count;
  py::array_t<std::int32_t> array(static_cast<py::ssize_t>(total));
  std::int32_t* next = array.mutable_data();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    next = std::fill_n(next, counts[i], static_cast<std::int32_t>(i));
  }
  return array;
}

// Calls count(outcomes) for each network.
template <class Count>
std::vector<std::size_t> counts_of(RoutingEnvironment& self, Count count) {
  std::vector<std::size_t> counts;
  for (std::uint32_t i = 0; i < self.num_networks(); ++i) counts.push_back(count(self.network(i).outcomes()));
  return counts;
}

// The first row of each network, and the end of the last network's rows.
std::vector<std::size_t> begins_of(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> begins{0};
  for (const std::size_t count : counts) begins.push_back(begins.back() + count);
  return begins;
}

std::uint8_t* flags_of(py::array_t<bool>& array) {
  static_assert(sizeof(bool) == sizeof(std::uint8_t));
  return reinterpret_cast<std::uint8_t*>(array.mutable_data());
}

template <class Is>
bool any_of(RoutingEnvironment& self, Is is) {
  for (std::uint32_t i = 0; i < self.num_networks(); ++i) {
    if (is(self.network(i).outcomes())) return true;
  }
  return false;
}

}  // namespace

bool overflowed(RoutingEnvironment& self) {
  return any_of(self, [](const Outcomes& outcomes) { return outcomes.overflowed(); });
}

bool outcomes_overflowed(RoutingEnvironment& self) {
  return any_of(self, [](const Outcomes& outcomes) { return outcomes.outcomes_overflowed(); });
}

bool reports_overflowed(RoutingEnvironment& self) {
  return any_of(self, [](const Outcomes& outcomes) { return outcomes.reports_overflowed(); });
}

py::tuple transitions(RoutingEnvironment& self) {
  if (overflowed(self) || !self.plan().environment.flag("keep_transitions")) {
    throw StateError{overflowed(self) ? "overflowed" : "off"};
  }
  const auto counts = counts_of(self, [](Outcomes& outcomes) { return outcomes.transitions(); });
  const auto begins = begins_of(counts);
  const auto n = static_cast<py::ssize_t>(begins.back());
  const auto features = static_cast<py::ssize_t>(self.plan().layout.num_features());
  const auto actions = static_cast<py::ssize_t>(self.plan().num_actions);
  py::array_t<std::int64_t> ids(n);
  py::array_t<std::int64_t> next_ids(n);
  py::array_t<std::int32_t> agents(n);
  py::array_t<std::int32_t> next_agents(n);
  py::array_t<std::int32_t> taken(n);
  py::array_t<double> reward(n);
  py::array_t<double> latency(n);
  py::array_t<double> times(n);
  py::array_t<double> decision_times(n);
  py::array_t<bool> done(n);
  py::array_t<bool> truncated(n);
  py::array_t<float> rows({n, features});
  py::array_t<float> next_rows({n, features});
  py::array_t<bool> next_mask({n, actions});
  py::array_t<bool> mask({n, actions});
  const TransitionColumns columns{.ids = ids.mutable_data(),
                                  .next_ids = next_ids.mutable_data(),
                                  .agents = agents.mutable_data(),
                                  .next_agents = next_agents.mutable_data(),
                                  .actions = taken.mutable_data(),
                                  .reward = reward.mutable_data(),
                                  .latency_ns = latency.mutable_data(),
                                  .times_ns = times.mutable_data(),
                                  .decision_times_ns = decision_times.mutable_data(),
                                  .done = done.mutable_data(),
                                  .truncated = truncated.mutable_data(),
                                  .observations = rows.mutable_data(),
                                  .next_observations = next_rows.mutable_data(),
                                  .next_mask = flags_of(next_mask),
                                  .mask = flags_of(mask)};
  {
    const py::gil_scoped_release release;
    const auto take = [&](std::uint32_t i) {
      self.network(i).outcomes().take_transitions(columns.behind(begins[i], self.plan()));
    };
    self.each_network(take);
  }
  return py::make_tuple(ids, agents, rows, taken, reward, next_rows, next_mask, done, next_agents, latency,
                        times, next_ids, mask, owners(counts), truncated, decision_times);
}

py::tuple outcomes(RoutingEnvironment& self) {
  const auto counts = counts_of(self, [](Outcomes& outcomes) { return outcomes.outcomes(); });
  const auto begins = begins_of(counts);
  const auto n = static_cast<py::ssize_t>(begins.back());
  py::array_t<std::int64_t> ids(n);
  py::array_t<std::int64_t> next_ids(n);
  py::array_t<std::int32_t> agents(n);
  py::array_t<double> reward(n);
  py::array_t<bool> truncated(n);
  const OutcomeColumns columns{.ids = ids.mutable_data(),
                               .next_ids = next_ids.mutable_data(),
                               .agents = agents.mutable_data(),
                               .reward = reward.mutable_data(),
                               .truncated = truncated.mutable_data()};
  {
    const py::gil_scoped_release release;
    for (std::uint32_t i = 0; i < self.num_networks(); ++i) {
      self.network(i).outcomes().take_outcomes(columns.behind(begins[i]));
    }
  }
  return py::make_tuple(ids, reward, agents, next_ids, truncated, owners(counts));
}

py::tuple reports(RoutingEnvironment& self) {
  const auto counts = counts_of(self, [](Outcomes& outcomes) { return outcomes.reports(); });
  const auto begins = begins_of(counts);
  const auto n = static_cast<py::ssize_t>(begins.back());
  py::array_t<std::int64_t> ids(n);
  py::array_t<std::int64_t> next_ids(n);
  py::array_t<std::int32_t> agents(n);
  py::array_t<std::int32_t> ports(n);
  py::array_t<double> travel(n);
  py::array_t<double> times(n);
  const ReportColumns columns{.ids = ids.mutable_data(),
                              .next_ids = next_ids.mutable_data(),
                              .agents = agents.mutable_data(),
                              .ports = ports.mutable_data(),
                              .travel_ns = travel.mutable_data(),
                              .times_ns = times.mutable_data()};
  {
    const py::gil_scoped_release release;
    const auto take = [&](std::uint32_t i) {
      self.network(i).outcomes().take_reports(columns.behind(begins[i]));
    };
    self.each_network(take);
  }
  return py::make_tuple(ids, next_ids, agents, ports, travel, times, owners(counts));
}

py::tuple tallies(RoutingEnvironment& self) {
  std::vector<std::size_t> routers;
  for (std::uint32_t i = 0; i < self.num_networks(); ++i) {
    routers.push_back(self.network(i).simulation().topology().num_routers());
  }
  const auto begins = begins_of(routers);
  const auto n = static_cast<py::ssize_t>(begins.back());
  py::array_t<std::int64_t> reward_ps(n);
  py::array_t<std::int64_t> generated(n);
  py::array_t<std::int64_t> delivered(n);
  std::int64_t* const columns[] = {reward_ps.mutable_data(), generated.mutable_data(),
                                   delivered.mutable_data()};
  {
    const py::gil_scoped_release release;
    for (std::uint32_t i = 0; i < self.num_networks(); ++i) {
      ControlledNetwork& network = self.network(i);
      const TallyColumns to{.reward_ps = columns[0] + begins[i],
                            .generated = columns[1] + begins[i],
                            .delivered = columns[2] + begins[i]};
      network.outcomes().read_tallies(
          to, network.done() ? std::optional{network.simulation().time_ps()} : std::nullopt);
    }
  }
  return py::make_tuple(reward_ps, generated, delivered);
}

}  // namespace dragonfly
