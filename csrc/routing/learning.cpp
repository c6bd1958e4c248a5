#include "routing/learning.hpp"

#include <string>

#include "core/error.hpp"

namespace dragonfly {

namespace {

// "values[router, row, port]"
std::string position_name(std::size_t at, const TableShape& shape) {
  const std::size_t port = at % shape.ports;
  const std::size_t row = at / shape.ports % shape.rows;
  const std::size_t router = at / shape.ports / shape.rows;
  return "values[" + std::to_string(router) + ", " + std::to_string(row) + ", " + std::to_string(port) + "]";
}

}  // namespace

void LearningPolicy::load(std::span<const float> values) {
  const TableShape& shape = table_.shape();
  const std::size_t size = std::size_t{shape.routers} * shape.rows * shape.ports;
  if (values.size() != size) {
    throw ConfigError{"values", std::to_string(values.size()) + " values", "must be " + std::to_string(size)};
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (values[i] > -std::numeric_limits<float>::infinity()) continue;
    throw ConfigError{position_name(i, shape), std::to_string(values[i]),
                      "must be a time in ns, or infinite for a closed port"};
  }
  const float* from = values.data();
  for (std::uint32_t router = 0; router < shape.routers; ++router) {
    for (std::uint32_t row = 0; row < shape.rows; ++row) {
      float* const to = table_.row(router, row);
      for (std::uint32_t i = 0; i < shape.ports; ++i, ++from) {
        const auto port = static_cast<Port>(first_port_ + i);
        if (topology_->neighbor(router, port).port != kNoPort) to[i] = *from;
      }
    }
  }
}

}  // namespace dragonfly
