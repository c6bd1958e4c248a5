#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/fast_divisor.hpp"
#include "traffic/alias_table.hpp"
#include "traffic/placement.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// Row sums that differ by no more than this, relatively, are equal up to rounding: normalised rows.
constexpr double kSameSum = 1e-9;

// A row has the destinations of a host, router or group; columns of routers and groups mean a uniformly drawn
// host there. Hosts of the row with the largest sum offer the load, the others in proportion to theirs. A row
// without demand is a host that does not send.
class Demand final : public TrafficPattern {
 public:
  Demand(AliasTables tables, std::vector<double> shares, std::uint32_t hosts_per_row)
      : tables_{std::move(tables)},
        shares_{std::move(shares)},
        hosts_per_row_{hosts_per_row},
        row_of_{hosts_per_row} {}

  HostId destination(HostId source, std::uint64_t, RandomStream& random) const override {
    const std::uint32_t column = tables_.draw(row_of_.divide(source.value), random);
    if (hosts_per_row_ == 1) return HostId{column};
    return HostId{column * hosts_per_row_ + random.below(hosts_per_row_)};
  }

  double share(HostId source) const override { return shares_[row_of_.divide(source.value)]; }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t row = 0; row < shares_.size(); ++row) {
      double from_row = 0.0;
      for (std::uint32_t i = 0; i < hosts_per_row_; ++i) from_row += sent[row * hosts_per_row_ + i];
      if (from_row <= 0.0) continue;
      tables_.for_each(row, [&](std::uint32_t column, double probability) {
        const double each = from_row * probability / hosts_per_row_;
        for (std::uint32_t i = 0; i < hosts_per_row_; ++i) received[column * hosts_per_row_ + i] += each;
      });
    }
  }

 private:
  AliasTables tables_;
  std::vector<double> shares_;  // [row]
  std::uint32_t hosts_per_row_;
  FastDivisor row_of_;
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
  if (context.area->size() != context.topology.num_hosts()) {
    throw ConfigError("demand", "(in an area)", "a demand matrix cannot be confined to a set of hosts");
  }
  const Matrix& matrix = arguments.matrix("matrix");
  std::vector<std::uint32_t> placed = hosts_of_ranks(context, arguments, matrix);
  const std::uint32_t hosts = placed.empty() ? hosts_per_row(context.topology, matrix) : 1;
  std::vector<double> sums;
  AliasTables tables = build_tables(matrix, sums);
  std::vector<double> shares = shares_of(std::move(sums));
  if (placed.empty()) return std::make_shared<Demand>(std::move(tables), std::move(shares), hosts);
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
