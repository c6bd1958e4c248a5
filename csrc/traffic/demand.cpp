#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "traffic/alias_table.hpp"
#include "traffic/placement.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// Row sums that differ by no more than this, relatively, are equal up to rounding: normalised rows.
constexpr double kSameSum = 1e-9;

// The hosts of each row of a matrix: one host, those of a router, or those of a group.
class RowHosts {
 public:
  // Throws ConfigError for a number of rows that stands for nothing.
  RowHosts(const Dragonfly& topology, const Matrix& matrix) : row_of_(topology.num_hosts()) {
    const std::uint32_t hosts = topology.num_hosts();
    const bool square = matrix.rows == matrix.columns;
    const bool by_host = square && matrix.rows == hosts;
    const bool by_router = square && matrix.rows == topology.num_routers();
    if (!by_host && !by_router && !(square && matrix.rows == topology.num_groups())) {
      throw ConfigError("demand.matrix", std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns),
                        "must be square with one row per host (" + std::to_string(hosts) + "), router (" +
                            std::to_string(topology.num_routers()) + ") or group (" +
                            std::to_string(topology.num_groups()) + ")");
    }
    hosts_of_.resize(matrix.rows);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      const std::uint32_t row = by_host     ? host
                                : by_router ? topology.router_of_host(host)
                                            : topology.group_of_host(host);
      row_of_[host] = row;
      if (hosts_of_[row].count++ == 0) hosts_of_[row].first = host;
    }
    for (std::uint32_t router = 0; by_router && router < matrix.rows; ++router) {
      if (!topology.has_hosts(router)) require_no_demand(matrix, router);
    }
  }

  [[nodiscard]] std::uint32_t row_of(std::uint32_t host) const noexcept { return row_of_[host]; }
  [[nodiscard]] std::uint32_t first(std::uint32_t row) const noexcept { return hosts_of_[row].first; }
  [[nodiscard]] std::uint32_t count(std::uint32_t row) const noexcept { return hosts_of_[row].count; }

 private:
  struct Hosts {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  static void require_no_demand(const Matrix& matrix, std::uint64_t router) {
    for (std::uint64_t other = 0; other < matrix.rows; ++other) {
      for (const auto& [row, column] : {std::pair{router, other}, std::pair{other, router}}) {
        const double demand = matrix.values[row * matrix.columns + column];
        if (demand == 0.0) continue;
        throw ConfigError("demand.matrix[" + std::to_string(row) + ", " + std::to_string(column) + "]",
                          to_text(demand), "must be 0: router " + std::to_string(router) + " has no hosts");
      }
    }
  }

  std::vector<std::uint32_t> row_of_;  // [host]
  std::vector<Hosts> hosts_of_;        // [row]: consecutive ones
};

// A row has the destinations of a host, router or group; columns of routers and groups mean a uniformly drawn
// host there. Hosts of the row with the largest sum offer the load, the others in proportion to theirs. A row
// without demand is a host that does not send.
class Demand final : public TrafficPattern {
 public:
  Demand(AliasTables tables, std::vector<double> shares, RowHosts hosts)
      : tables_{std::move(tables)}, shares_{std::move(shares)}, hosts_{std::move(hosts)} {}

  HostId destination(HostId source, std::uint64_t, RandomStream& random) const override {
    const std::uint32_t column = tables_.draw(hosts_.row_of(source.value), random);
    const std::uint32_t count = hosts_.count(column);
    return HostId{hosts_.first(column) + (count == 1 ? 0U : random.below(count))};
  }

  double share(HostId source) const override { return shares_[hosts_.row_of(source.value)]; }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t row = 0; row < shares_.size(); ++row) {
      double from_row = 0.0;
      for (std::uint32_t i = 0; i < hosts_.count(row); ++i) from_row += sent[hosts_.first(row) + i];
      if (from_row <= 0.0) continue;
      tables_.for_each(row, [&](std::uint32_t column, double probability) {
        const std::uint32_t count = hosts_.count(column);
        const double each = from_row * probability / count;
        for (std::uint32_t i = 0; i < count; ++i) received[hosts_.first(column) + i] += each;
      });
    }
  }

 private:
  AliasTables tables_;
  std::vector<double> shares_;  // [row]
  RowHosts hosts_;
};

// Row i is a rank on hosts[i]; hosts without a rank do not send.
class PlacedDemand final : public TrafficPattern {
 public:
  PlacedDemand(AliasTables tables, std::vector<double> shares, std::vector<std::uint32_t> hosts,
               std::uint32_t num_hosts)
      : tables_{std::move(tables)},
        shares_{std::move(shares)},
        hosts_{std::move(hosts)},
        row_of_(num_hosts, kNoRow) {
    for (std::uint32_t row = 0; row < hosts_.size(); ++row) row_of_[hosts_[row]] = row;
  }

  HostId destination(HostId source, std::uint64_t, RandomStream& random) const override {
    return HostId{hosts_[tables_.draw(row_of_[source.value], random)]};
  }

  double share(HostId source) const override {
    const std::uint32_t row = row_of_[source.value];
    return row == kNoRow ? 0.0 : shares_[row];
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t row = 0; row < hosts_.size(); ++row) {
      const double from_row = sent[hosts_[row]];
      if (from_row <= 0.0) continue;
      tables_.for_each(row, [&](std::uint32_t column, double probability) {
        received[hosts_[column]] += from_row * probability;
      });
    }
  }

 private:
  static constexpr std::uint32_t kNoRow = 0xffff'ffffU;

  AliasTables tables_;
  std::vector<double> shares_;         // [row]
  std::vector<std::uint32_t> hosts_;   // [row]
  std::vector<std::uint32_t> row_of_;  // [host]
};

// Hosts of the ranks; empty without a placement.
std::vector<std::uint32_t> hosts_of_ranks(const PatternContext& context, const PatternArguments& arguments,
                                          const Matrix& matrix) {
  if (!arguments.has("placement")) return {};
  const Dragonfly& topology = context.topology;
  if (matrix.rows != matrix.columns || matrix.rows > topology.num_hosts()) {
    throw ConfigError(
        "demand.matrix", std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns),
        "must be square with at most one row per host, " + std::to_string(topology.num_hosts()));
  }
  const auto ranks = static_cast<std::uint32_t>(matrix.rows);
  const ArgumentValue& placement = *arguments.find("placement");
  if (!std::holds_alternative<Integers>(placement)) {
    return place_all_tasks(topology, arguments.text("placement", ""), context.seed, ranks);
  }
  std::vector<std::uint32_t> hosts =
      host_list("demand.placement", std::get<Integers>(placement), topology.num_hosts());
  if (hosts.size() != ranks) {
    throw ConfigError("demand.placement", std::to_string(hosts.size()) + " hosts",
                      "must list " + std::to_string(ranks) + ", one per row of the matrix");
  }
  return hosts;
}

// Fills in the sum of every row, too.
AliasTables build_tables(const Matrix& matrix, std::vector<double>& sums) {
  AliasTables tables;
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
    tables.add_row(weighted);
    sums.push_back(sum);
  }
  return tables;
}

std::vector<double> shares_of(std::vector<double> sums) {
  const double largest = *std::max_element(sums.begin(), sums.end());
  if (!(largest > 0.0)) throw ConfigError("demand.matrix", "all zero", "at least one host must send");
  for (double& sum : sums) sum = sum >= largest * (1.0 - kSameSum) ? 1.0 : sum / largest;
  return sums;
}

PatternPtr make_demand(const PatternContext& context, const PatternArguments& arguments) {
  if (context.topology.num_dead_routers() > 0) {
    throw ConfigError("demand", std::to_string(context.topology.num_dead_routers()) + " dead routers",
                      "must be 0: a demand matrix is about all hosts");
  }
  if (context.area->size() != context.topology.num_hosts()) {
    throw ConfigError("demand", "(in an area)", "a demand matrix cannot be confined to a set of hosts");
  }
  const Matrix& matrix = arguments.matrix("matrix");
  std::vector<std::uint32_t> placed = hosts_of_ranks(context, arguments, matrix);
  std::optional<RowHosts> hosts;
  if (placed.empty()) hosts.emplace(context.topology, matrix);
  std::vector<double> sums;
  AliasTables tables = build_tables(matrix, sums);
  std::vector<double> shares = shares_of(std::move(sums));
  if (hosts) return std::make_shared<Demand>(std::move(tables), std::move(shares), *std::move(hosts));
  return std::make_shared<PlacedDemand>(std::move(tables), std::move(shares), std::move(placed),
                                        context.topology.num_hosts());
}

}  // namespace

PatternInfo demand_pattern() {
  return {
      .name = "demand",
      .summary =
          "bandwidth by a demand matrix between hosts, routers or groups: \"demand:FILE\", CSV or .npy",
      .source =
          "a traffic matrix as in Dally and Towles, Principles and Practices of Interconnection Networks, "
          "2004, section 3.2",
      .example = "",
      .parameters = {{"matrix", "",
                      "N x N hosts, R x R routers or g x g groups, no value below 0; rows are sources, "
                      "relative to the largest row, whose hosts offer the load"},
                     {"placement", "none",
                      "hosts of the rows, if rows are ranks: consecutive, random, random-routers, "
                      "random-groups, groups=k, or a list of hosts"}},
      .factory = make_demand};
}

}  // namespace dragonfly
