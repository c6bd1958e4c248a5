// _core.Topology: the wiring, range-checked. Python's Dragonfly (dragonfly_env/config/topology.py) wraps it.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bindings/checked.hpp"
#include "bindings/sealed_class.hpp"
#include "bindings/simulation_setup.hpp"
#include "core/error.hpp"
#include "topology/dragonfly.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

constexpr std::uint64_t kMaxPositions = std::uint64_t{kMaxRadix} * kMaxRadix;

std::uint32_t router_of(const Dragonfly& topology, const py::int_& router, const char* field) {
  return checked_u32(router, field, 0, topology.num_routers() - 1U);
}

Port port_of(const Dragonfly& topology, const py::int_& port) {
  return static_cast<Port>(checked_u32(port, "port", 0, topology.radix() - 1U));
}

// None: full meshes.
std::shared_ptr<const GroupShape> shape_of(const py::object& name, const py::dict& parameters) {
  if (name.is_none()) return nullptr;
  if (!py::isinstance<py::str>(name)) throw ConfigError{"group", "no name", "the name of a shape, or None"};
  return make_group_shape(py::cast<std::string>(name), parameters_of("group", parameters));
}

std::shared_ptr<Dragonfly> make_topology(const py::int_& p, const py::int_& a, const py::int_& h,
                                         const py::int_& g, const std::string& arrangement,
                                         const py::int_& trunking, const py::object& group,
                                         const py::dict& group_parameters) {
  const DragonflyParams params{.p = checked_u32(p, "p", 1, kMaxRadix),
                               .a = checked_u32(a, "a", 1, kMaxRadix),
                               .h = checked_u32(h, "h", 0, kMaxRadix),
                               .g = checked_u32(g, "g", 0, kMaxPositions + 1),
                               .trunking = checked_u32(trunking, "trunking", 1, kMaxPositions),
                               .arrangement = parse_arrangement(arrangement),
                               .shape = shape_of(group, group_parameters)};
  const py::gil_scoped_release release;
  return std::make_shared<Dragonfly>(params);
}

std::pair<std::int64_t, std::int64_t> neighbor(const Dragonfly& topology, const py::int_& router,
                                               const py::int_& port) {
  const std::uint32_t r = router_of(topology, router, "router");
  const Port number = port_of(topology, port);
  if (topology.port_class(number) == LinkClass::kHost) {
    throw ConfigError{"port", std::to_string(number),
                      "leads to a host; ports between routers lie in [" + std::to_string(topology.p()) +
                          ", " + std::to_string(topology.radix() - 1U) + "]"};
  }
  const Endpoint far = topology.neighbor(r, number);
  if (far.port == kNoPort) return {-1, -1};
  return {far.router, far.port};
}

std::string port_kind(const Dragonfly& topology, const py::int_& port) {
  return topology.class_name(topology.port_class(port_of(topology, port)));
}

std::uint32_t minimal_port(const Dragonfly& topology, const py::int_& router, const py::int_& destination) {
  const std::uint32_t r = router_of(topology, router, "router");
  const std::uint32_t d = router_of(topology, destination, "dst_router");
  if (r == d) {
    throw ConfigError{"dst_router", std::to_string(d),
                      "must differ from router: no link leads from it to itself"};
  }
  return topology.minimal_port(r, d);
}

std::uint32_t port_towards_group(const Dragonfly& topology, const py::int_& router, const py::int_& group) {
  const std::uint32_t r = router_of(topology, router, "router");
  const std::uint32_t to = checked_u32(group, "group", 0, topology.num_groups() - 1U);
  if (topology.group_of(r) == to) {
    throw ConfigError{"group", std::to_string(to), "must not be the router's own"};
  }
  return topology.port_towards_group(r, to);
}

std::vector<Port> minimal_ports(const Dragonfly& topology, const py::int_& router,
                                const py::int_& destination) {
  const std::uint32_t r = router_of(topology, router, "router");
  return topology.minimal_ports(r, router_of(topology, destination, "dst_router"));
}

// Name, ports of a router, links that a port stands for; in the order of the ports.
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

std::uint32_t minimal_hops(const Dragonfly& topology, const py::int_& router, const py::int_& destination) {
  const std::uint32_t r = router_of(topology, router, "router");
  return topology.minimal_hops(r, router_of(topology, destination, "dst_router"));
}

// Every directed local and global link, in the order of (router, port).
py::array_t<std::uint32_t> links(const Dragonfly& topology) {
  const std::uint32_t routers = topology.num_routers();
  const std::uint32_t local = topology.num_local_ports();
  const py::ssize_t count =
      static_cast<py::ssize_t>(routers) * local +
      static_cast<py::ssize_t>(topology.num_groups()) * (topology.num_groups() - 1U) * topology.trunking();
  py::array_t<std::uint32_t> rows(std::array<py::ssize_t, 2>{count, 4});
  auto view = rows.mutable_unchecked<2>();
  py::ssize_t row = 0;
  for (std::uint32_t router = 0; router < routers; ++router) {
    for (Port port = topology.first_local_port(); port < topology.radix(); ++port) {
      const Endpoint far = topology.neighbor(router, port);
      if (far.port == kNoPort) continue;
      view(row, 0) = router;
      view(row, 1) = port;
      view(row, 2) = far.router;
      view(row, 3) = far.port;
      ++row;
    }
  }
  return rows;
}

}  // namespace

void bind_topology(py::module_& module) {
  auto topology = sealed_class<Dragonfly, py::classh>(
      module, "Topology", "Dragonfly wiring; immutable. Use dragonfly_env.Dragonfly.");
  make_by(topology, &make_topology, py::arg("p"), py::arg("a"), py::arg("h"), py::arg("g"),
          py::arg("arrangement"), py::arg("trunking"), py::arg("group") = py::none(),
          py::arg("group_parameters") = py::dict());
  topology.def_property_readonly("p", by_reference_of<Dragonfly>(&Dragonfly::p))
      .def_property_readonly("a", by_reference_of<Dragonfly>(&Dragonfly::a))
      .def_property_readonly("h", by_reference_of<Dragonfly>(&Dragonfly::h))
      .def_property_readonly("g", by_reference_of<Dragonfly>(&Dragonfly::g))
      .def_property_readonly("trunking", by_reference_of<Dragonfly>(&Dragonfly::trunking))
      .def_property_readonly(
          "arrangement",
          [](const Dragonfly& self) { return std::string{arrangement_name(self.arrangement())}; })
      .def_property_readonly("num_hosts", by_reference_of<Dragonfly>(&Dragonfly::num_hosts))
      .def_property_readonly("num_routers", by_reference_of<Dragonfly>(&Dragonfly::num_routers))
      .def_property_readonly("num_groups", by_reference_of<Dragonfly>(&Dragonfly::num_groups))
      .def_property_readonly("radix", by_reference_of<Dragonfly>(&Dragonfly::radix))
      .def("neighbor", &neighbor, py::arg("router"), py::arg("port"))
      .def_property_readonly("num_local_ports", by_reference_of<Dragonfly>(&Dragonfly::num_local_ports))
      .def_property_readonly("diameter", by_reference_of<Dragonfly>(&Dragonfly::diameter))
      .def_property_readonly("link_classes", &link_classes)
      .def("port_kind", &port_kind, py::arg("port"))
      .def("port_towards_group", &port_towards_group, py::arg("router"), py::arg("group"))
      .def("minimal_ports", &minimal_ports, py::arg("router"), py::arg("dst_router"))
      .def("minimal_port", &minimal_port, py::arg("router"), py::arg("dst_router"))
      .def("minimal_hops", &minimal_hops, py::arg("router"), py::arg("dst_router"))
      .def("links", &links);
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
        return make_group_shape(name, parameters_of("group", parameters))->routers();
      },
      py::arg("name"), py::arg("parameters"));
}

}  // namespace dragonfly
