#include "routing/learning.hpp"

#include <string>
#include <vector>

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

void LearningPolicy::change_links(std::span<const Endpoint> failed, std::span<const Endpoint> returned) {
  const TableShape& shape = table_.shape();
  for (const Endpoint& end : failed) {
    for (std::uint32_t row = 0; row < shape.rows; ++row) {
      table_.row(end.router, row)[end.port - first_port_] = std::numeric_limits<float>::infinity();
    }
  }
  if (rows_ != TableRows::kRouter && topology_->num_groups() == 1) return;
  std::vector<float> fresh;
  for (const Endpoint& end : returned) {
    for (std::uint32_t row = 0; row < shape.rows; ++row) {
      fresh.assign(shape.ports, std::numeric_limits<float>::infinity());
      fill(end.router, target_of(end.router, row), fresh.data());
      table_.row(end.router, row)[end.port - first_port_] = fresh[end.port - first_port_];
    }
  }
}

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
