// The smallest value of a row, for any contents.
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/random.hpp"
#include "routing/q_table.hpp"
#include "tests/check.hpp"

namespace {

using dragonfly::Purpose;
using dragonfly::QTable;
using dragonfly::RandomStream;

constexpr float kInfinite = std::numeric_limits<float>::infinity();

float any_value(RandomStream& draws) {
  const double kind = draws.uniform();
  if (kind < 0.3) return kInfinite;
  if (kind < 0.5) return std::numeric_limits<float>::quiet_NaN();
  if (kind < 0.55) return -kInfinite;
  if (kind < 0.6) return std::numeric_limits<float>::max();
  return static_cast<float>(static_cast<int>(draws.uniform() * 6) - 3);
}

TEST(best_is_the_lowest_port_with_the_smallest_value_of_any_row) {
  RandomStream draws{1, Purpose::kLearning, 0, 0};
  for (std::uint32_t ports = 1; ports <= 13; ++ports) {
    QTable table;
    table.resize({.routers = 1, .rows = 1, .ports = ports});
    float* const row = table.row(0, 0);
    for (int i = 0; i < 5'000; ++i) {
      std::optional<std::uint32_t> expected;
      for (std::uint32_t port = 0; port < ports; ++port) {
        row[port] = any_value(draws);
        if (row[port] < (expected ? row[*expected] : kInfinite)) expected = port;
      }
      CHECK_EQ(table.best(row), expected.value_or(0));
    }
  }
}

}  // namespace
