// _core.ScoringNetwork, and the list of features.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/decision_spec.hpp"
#include "bindings/network_handle.hpp"
#include "routing/neural/scoring_network.hpp"

namespace py = pybind11;

namespace dragonfly {
namespace {

using Numbers = py::array_t<float, py::array::c_style>;

// A copy: others may write to the array later.
neural::Matrix matrix(const Numbers& array, const std::string& name, py::ssize_t dimensions) {
  const py::ssize_t rows = dimensions == 2 && array.ndim() == 2 ? array.shape(0) : 1;
  if (array.ndim() != dimensions || rows > UINT32_MAX || array.shape(dimensions - 1) > UINT32_MAX) {
    throw ConfigError{"weights: " + name, std::to_string(array.ndim()) + " dimensions",
                      "must be " + std::to_string(dimensions)};
  }
  return {.rows = static_cast<std::uint32_t>(rows),
          .columns = static_cast<std::uint32_t>(array.shape(dimensions - 1)),
          .values = {array.data(), array.data() + array.size()}};
}

NetworkHandle make_network(const py::dict& spec, bool per_action, const std::string& activation,
                           float temperature, const std::vector<std::string>& features,
                           const std::vector<float>& scales, const std::vector<Numbers>& weights,
                           const std::vector<Numbers>& biases) {
  neural::NetworkDescription given;
  given.per_action = per_action;
  given.activation = one_of<neural::Activation>(
      "activation", activation, {{"relu", neural::Activation::kRelu}, {"tanh", neural::Activation::kTanh}});
  given.temperature = temperature;
  given.features = features;
  given.scales = scales;
  read_decision_spec(spec, given.spec);
  given.spec.second_stage = member<bool>(spec, "second_stage");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    given.weights.push_back(matrix(weights[i], "weights_" + std::to_string(i), 2));
  }
  for (std::size_t i = 0; i < biases.size(); ++i) {
    given.biases.push_back(matrix(biases[i], "bias_" + std::to_string(i), 1));
  }
  return {std::make_shared<const neural::ScoringNetwork>(neural::make_scoring_network(std::move(given)))};
}

py::list feature_list() {
  py::list out;
  each_feature([&](const auto& feature, std::size_t /*bit*/) {
    py::dict row;
    row["name"] = feature.name;
    row["per"] = name_of(feature.per);
    row["doc"] = feature.doc;
    row["usual"] = feature.usual;
    row["occupancy"] = feature.occupancy;
    row["knowledge"] = name_of(feature.knowledge);
    out.append(row);
  });
  return out;
}

}  // namespace

void bind_neural(py::module_& module) {
  py::classh<NetworkHandle>(module, "ScoringNetwork")
      .def(py::init(&make_network), py::arg("spec"), py::arg("per_action"), py::arg("activation"),
           py::arg("temperature"), py::arg("features"), py::arg("scales"), py::arg("weights"),
           py::arg("biases"));
  module.def("features", &feature_list);
}

}  // namespace dragonfly
