// _core.Topology: the wiring. Python's Dragonfly (dragonfly_env/config/topology.py) wraps it and checks its
// arguments.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/simulation_setup.hpp"
#include "core/error.hpp"
#include "topology/dragonfly.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

std::shared_ptr<Dragonfly> make_topology(std::uint32_t p, std::uint32_t a, std::uint32_t h, std::uint32_t g,
                                         const std::string& arrangement, std::uint32_t trunking,
                                         const std::optional<std::string>& group,
                                         const py::dict& group_parameters,
                                         const std::vector<std::pair<std::uint32_t, Port>>& dead_links,
                                         std::vector<std::uint32_t> dead_routers,
                                         const std::vector<std::tuple<std::uint32_t, Port, double>>& degraded,
                                         const std::vector<std::array<std::uint32_t, 6>>& listed) {
  std::shared_ptr<const GroupShape> shape;
  if (group) shape = make_group_shape(*group, parameters_of("group", group_parameters));
  Damage damage{.links = {}, .routers = std::move(dead_routers)};
  for (const auto& [router, port] : dead_links) damage.links.push_back({router, port});
  DragonflyParams params{.p = p,
                         .a = a,
                         .h = h,
                         .g = g,
                         .trunking = trunking,
                         .arrangement = parse_arrangement(arrangement),
                         .shape = std::move(shape),
                         .damage = std::move(damage)};
  for (const auto& [router, port, rate] : degraded) params.degraded.push_back({{router, port}, rate});
  for (const auto& [near_group, index, place, far_group, far_index, far_place] : listed) {
    params.listed.push_back({{near_group, index, place}, {far_group, far_index, far_place}});
  }
  const py::gil_scoped_release release;
  return std::make_shared<Dragonfly>(params);
}

std::pair<std::int64_t, std::int64_t> neighbor(const Dragonfly& topology, std::uint32_t router, Port port) {
  if (topology.port_class(port) == LinkClass::kHost) {
    throw ConfigError{"port", std::to_string(port),
                      "leads to a host; ports between routers lie in [" +
                          std::to_string(topology.first_local_port()) + ", " +
                          std::to_string(topology.radix() - 1U) + "]"};
  }
  const Endpoint far = topology.neighbor(router, port);
  if (far.port == kNoPort) return {-1, -1};
  return {far.router, far.port};
}

void check_alive(const Dragonfly& topology, const char* field, std::uint32_t router) {
  if (!topology.is_alive(router)) throw ConfigError{field, std::to_string(router), "must be a live router"};
}

std::uint32_t minimal_hops(const Dragonfly& topology, std::uint32_t router, std::uint32_t destination) {
  check_alive(topology, "router", router);
  check_alive(topology, "dst_router", destination);
  return topology.minimal_hops(router, destination);
}

std::uint32_t minimal_port(const Dragonfly& topology, std::uint32_t router, std::uint32_t destination) {
  check_alive(topology, "router", router);
  check_alive(topology, "dst_router", destination);
  if (router == destination) {
    throw ConfigError{"dst_router", std::to_string(destination),
                      "must differ from router: no link leads from it to itself"};
  }
  return topology.minimal_port(router, destination);
}

// Name, ports per router, and links per port of each link class, in the order of the ports.
std::vector<std::tuple<std::string, std::uint32_t, std::uint32_t>> link_classes(const Dragonfly& topology) {
  std::vector<std::tuple<std::string, std::uint32_t, std::uint32_t>> all;
  for (std::size_t i = 0; i < topology.num_link_classes(); ++i) {
    const auto link = static_cast<LinkClass>(i);
    all.emplace_back(topology.class_name(link), 0U, topology.bundled(link));
  }
  for (Port port = 0; port < topology.radix(); ++port)
    ++std::get<1>(all[index_of(topology.port_class(port))]);
  return all;
}

// Every directed local and global link, in the order of (router, port).
py::array_t<std::uint32_t> links(const Dragonfly& topology) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
    for (Port port = topology.first_local_port(); port < topology.radix(); ++port) {
      const Endpoint far = topology.neighbor(router, port);
      if (far.port == kNoPort) continue;
      values.insert(values.end(), {router, port, far.router, far.port});
    }
  }
  const auto count = static_cast<py::ssize_t>(values.size() / 4);
  return py::array_t<std::uint32_t>(std::array<py::ssize_t, 2>{count, 4}, values.data());
}

// Collects a value per host or router.
template <typename OneOf>
py::array_t<std::int64_t> array_of(std::uint32_t count, OneOf one_of) {
  py::array_t<std::int64_t> values(static_cast<py::ssize_t>(count));
  std::int64_t* at = values.mutable_data();
  for (std::uint32_t i = 0; i < count; ++i) at[i] = static_cast<std::int64_t>(one_of(i));
  return values;
}

py::array_t<std::int64_t> router_of_hosts(const Dragonfly& topology) {
  return array_of(topology.num_hosts(), [&](std::uint32_t host) { return topology.router_of_host(host); });
}

py::array_t<std::int64_t> port_of_hosts(const Dragonfly& topology) {
  return array_of(topology.num_hosts(), [&](std::uint32_t host) { return topology.host_port(host); });
}

py::array_t<std::int64_t> group_of_routers(const Dragonfly& topology) {
  return array_of(topology.num_routers(), [&](std::uint32_t router) { return topology.group_of(router); });
}

py::array_t<bool> dead_routers(const Dragonfly& topology) {
  py::array_t<bool> values(static_cast<py::ssize_t>(topology.num_routers()));
  for (std::uint32_t i = 0; i < topology.num_routers(); ++i) values.mutable_data()[i] = !topology.is_alive(i);
  return values;
}

// Pairs of live groups that no link joins, lower group first, and the number of relays between them.
std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> relayed_groups(
    const Dragonfly& topology) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t from = 0; from < topology.num_groups(); ++from) {
    for (std::uint32_t to = from + 1; to < topology.num_groups(); ++to) {
      if (!topology.is_relayed(from, to) || !topology.group_is_alive(from) || !topology.group_is_alive(to)) {
        continue;
      }
      std::set<std::uint32_t> relays;
      for (const RelayLink& link : topology.relay_links(from, to)) relays.insert(link.group);
      pairs.emplace_back(from, to, static_cast<std::uint32_t>(relays.size()));
    }
  }
  return pairs;
}

}  // namespace

void bind_topology(py::module_& module) {
  py::classh<Dragonfly>(module, "Topology")
      .def(py::init(&make_topology), py::arg("p"), py::arg("a"), py::arg("h"), py::arg("g"),
           py::arg("arrangement"), py::arg("trunking"), py::arg("group") = py::none(),
           py::arg("group_parameters") = py::dict(),
           py::arg("dead_links") = std::vector<std::pair<std::uint32_t, Port>>{},
           py::arg("dead_routers") = std::vector<std::uint32_t>{},
           py::arg("degraded") = std::vector<std::tuple<std::uint32_t, Port, double>>{},
           py::arg("listed") = std::vector<std::array<std::uint32_t, 6>>{})
      .def_property_readonly("num_hosts", &Dragonfly::num_hosts)
      .def_property_readonly("num_routers", &Dragonfly::num_routers)
      .def_property_readonly("num_groups", &Dragonfly::num_groups)
      .def_property_readonly("radix", &Dragonfly::radix)
      .def("neighbor", &neighbor, py::arg("router"), py::arg("port"))
      .def_property_readonly("num_local_ports", &Dragonfly::num_local_ports)
      .def_property_readonly("diameter", &Dragonfly::diameter)
      .def_property_readonly("link_classes", &link_classes)
      .def(
          "port_kind",
          [](const Dragonfly& self, Port port) { return self.class_name(self.port_class(port)); },
          py::arg("port"))
      .def(
          "port_towards_group",
          [](const Dragonfly& self, std::uint32_t router, std::uint32_t group) {
            return self.port_towards_group(router, group);
          },
          py::arg("router"), py::arg("group"))
      .def("minimal_ports", &Dragonfly::minimal_ports, py::arg("router"), py::arg("dst_router"))
      .def("minimal_port", &minimal_port, py::arg("router"), py::arg("dst_router"))
      .def("minimal_hops", &minimal_hops, py::arg("router"), py::arg("dst_router"))
      .def("router_of_host", &Dragonfly::router_of_host, py::arg("host"))
      .def("group_of", &Dragonfly::group_of, py::arg("router"))
      .def("router_of_hosts", &router_of_hosts)
      .def("port_of_hosts", &port_of_hosts)
      .def("group_of_routers", &group_of_routers)
      .def("links", &links)
      .def("dead_routers", &dead_routers)
      .def("relayed_groups", &relayed_groups)
      .def_property_readonly("host_routers", &Dragonfly::host_routers)
      .def_property_readonly("first_global_router", &Dragonfly::first_global_router)
      .def_property_readonly("global_positions", &Dragonfly::global_positions);
  module.attr("max_radix") = kMaxRadix;
  module.attr("most_routers_of_group") = kMostRoutersOfGroup;
  module.def("arrangements", &arrangement_names);
  module.def("group_shapes", [] {
    std::vector<std::string> names;
    for (const GroupShapeInfo& info : group_shapes()) names.push_back(info.name);
    return names;
  });
  module.def(
      "group_routers",
      [](const std::string& name, const py::dict& parameters) {
        const auto shape = make_group_shape(name, parameters_of("group", parameters));
        return std::pair{shape->routers(), shape->routers() - shape->first_global_router()};
      },
      py::arg("name"), py::arg("parameters"));
}

}  // namespace dragonfly
