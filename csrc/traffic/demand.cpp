#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/fast_divisor.hpp"
#include "traffic/alias_table.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// A row is the distribution of destinations of a host, router or group; columns of routers and groups
// stand for a uniformly drawn host there. Row sums do not matter: every host that sends offers the same
// load. A row without demand is a host that does not send.
class Demand final : public TrafficPattern {
 public:
  Demand(AliasTables tables, std::uint32_t hosts_per_row)
      : tables_{std::move(tables)}, hosts_per_row_{hosts_per_row}, row_of_{hosts_per_row} {}

  HostId destination(HostId source, std::uint64_t, RandomStream& random) const override {
    const std::uint32_t column = tables_.draw(row_of_.divide(source.value), random);
    if (hosts_per_row_ == 1) return HostId{column};
    return HostId{column * hosts_per_row_ + random.below(hosts_per_row_)};
  }

  bool sends(HostId source) const override { return !tables_.empty(row_of_.divide(source.value)); }

 private:
  AliasTables tables_;
  std::uint32_t hosts_per_row_;
  FastDivisor row_of_;
};

std::uint32_t hosts_per_row(const Dragonfly& topology, const Matrix& matrix) {
  if (matrix.rows == matrix.columns) {
    if (matrix.rows == topology.num_hosts()) return 1;
    if (matrix.rows == topology.num_routers()) return topology.p();
    if (matrix.rows == topology.num_groups()) return topology.hosts_per_group();
  }
  throw ConfigError("demand.matrix", std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns),
                    "must be square with one row per host (" + std::to_string(topology.num_hosts()) +
                        "), router (" + std::to_string(topology.num_routers()) + ") or group (" +
                        std::to_string(topology.num_groups()) + ")");
}

AliasTables build_tables(const Matrix& matrix) {
  AliasTables tables;
  bool any = false;
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    std::vector<AliasTables::Weighted> weighted;
    double sum = 0.0;
    for (std::uint64_t column = 0; column < matrix.columns; ++column) {
      const double demand = matrix.values[row * matrix.columns + column];
      sum += demand;
      if (!(demand >= 0.0) || !std::isfinite(sum)) {
        throw ConfigError("demand.matrix[" + std::to_string(row) + ", " + std::to_string(column) + "]",
                          to_text(demand), "demands are finite numbers of at least 0, and so is their sum");
      }
      if (demand > 0.0) weighted.emplace_back(static_cast<std::uint32_t>(column), demand);
    }
    any = any || !weighted.empty();
    tables.add_row(weighted);
  }
  if (!any) throw ConfigError("demand.matrix", "all zero", "at least one host must send");
  return tables;
}

PatternPtr make(const PatternContext& context, const PatternArguments& arguments) {
  if (context.area->size() != context.topology.num_hosts()) {
    throw ConfigError("demand", "(in an area)", "a demand matrix cannot be confined to a set of hosts");
  }
  const Matrix& matrix = arguments.matrix("matrix");
  const std::uint32_t hosts = hosts_per_row(context.topology, matrix);
  return std::make_shared<Demand>(build_tables(matrix), hosts);
}

}  // namespace

PatternInfo demand_pattern() {
  return {
      .name = "demand",
      .summary = "destinations drawn from a demand matrix between hosts, routers or groups",
      .source =
          "a traffic matrix as in Dally and Towles, Principles and Practices of Interconnection Networks, "
          "2004, section 3.2",
      .example = "",
      .parameters = {{"matrix", "", "N x N hosts, R x R routers or g x g groups; rows: sources; at least 0"}},
      .factory = make};
}

}  // namespace dragonfly
