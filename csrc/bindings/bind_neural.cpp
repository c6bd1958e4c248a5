// _core.ScoringNetwork, the list of features, and _core.PathSplit.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/network_handle.hpp"
#include "bindings/question_spec.hpp"
#include "routing/neural/scoring_network.hpp"
#include "routing/path_split.hpp"

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
  read_question_spec(spec, given.asked);
  given.asked.second_stage = member<bool>(spec, "second_stage");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    given.weights.push_back(matrix(weights[i], "weights_" + std::to_string(i), 2));
  }
  for (std::size_t i = 0; i < biases.size(); ++i) {
    given.biases.push_back(matrix(biases[i], "bias_" + std::to_string(i), 1));
  }
  return {std::make_shared<const neural::ScoringNetwork>(neural::make_scoring_network(std::move(given)))};
}

// One entry per path in each array.
PathSplitHandle make_split(std::uint32_t num_routers,
                           const py::array_t<std::uint32_t, py::array::c_style>& sources,
                           const py::array_t<std::uint32_t, py::array::c_style>& destinations,
                           const py::array_t<std::int64_t, py::array::c_style>& intermediates,
                           const py::array_t<double, py::array::c_style>& probabilities) {
  const py::ssize_t count = sources.size();
  for (const py::array* const column :
       {static_cast<const py::array*>(&sources), static_cast<const py::array*>(&destinations),
        static_cast<const py::array*>(&intermediates), static_cast<const py::array*>(&probabilities)}) {
    if (column->ndim() != 1 || column->size() != count) {
      throw ConfigError{"split", std::to_string(column->size()) + " entries",
                        "columns of one dimension and the same length, " + std::to_string(count)};
    }
  }
  constexpr std::uint32_t kMostRouters = 1U << 14;  // whose pairs fit the memory of any machine
  if (num_routers > kMostRouters) {
    throw ConfigError{"split.num_routers", std::to_string(num_routers),
                      "at most " + std::to_string(kMostRouters)};
  }
  std::vector<PathShare> shares;
  shares.reserve(static_cast<std::size_t>(count));
  for (py::ssize_t i = 0; i < count; ++i) {
    const std::int64_t router = intermediates.at(i);
    if (router < -1 || router >= num_routers) {
      throw ConfigError{"split.intermediate", std::to_string(router),
                        "-1, or a router, below " + std::to_string(num_routers)};
    }
    shares.push_back({.source = sources.at(i),
                      .destination = destinations.at(i),
                      .intermediate = router < 0 ? kNil : static_cast<std::uint32_t>(router),
                      .probability = probabilities.at(i)});
  }
  const py::gil_scoped_release release;
  return {std::make_shared<const PathSplit>(make_path_split(num_routers, std::move(shares)))};
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
  py::classh<PathSplitHandle>(module, "PathSplit")
      .def(py::init(&make_split), py::arg("num_routers"), py::arg("sources").noconvert(),
           py::arg("destinations").noconvert(), py::arg("intermediates").noconvert(),
           py::arg("probabilities").noconvert());
}

}  // namespace dragonfly
