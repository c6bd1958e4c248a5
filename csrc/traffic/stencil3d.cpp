// The exchange of a stencil computation: every host sends to its six neighbours in a 3-D grid.
//
// Source: Kang et al. (Q-adaptive), HPDC 2021, section 6 ("3D Stencil"). Details that the paper leaves open
// are taken from the authors' simulator:
//   Assumption "torus": the grid wraps around ("each node communicates with its six neighbors").
//   Assumption "placement": x is fastest, so neighbours in x, y and z share a router, share a group, and are
//   in adjacent groups.
//   Assumption "rounds": the pattern is one-to-many; a host generates a message to each neighbour at one
//   time, in the order -x +x -y +y -z +z. The load is still the rate of all its messages.
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "traffic/host_grid.hpp"

namespace dragonfly {
namespace {

class Stencil3d final : public TrafficPattern {
 public:
  Stencil3d(HostGrid grid, bool wrap, bool rounds) : grid_{std::move(grid)}, wrap_{wrap}, rounds_{rounds} {}

  HostId destination(HostId source, std::uint64_t message, RandomStream&) const override {
    const Neighbors neighbors = neighbors_of(source);
    return grid_.host(neighbors.at[message % neighbors.count]);
  }

  std::uint32_t round_messages(HostId source) const override {
    return rounds_ ? neighbors_of(source).count : 1;
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t host = 0; host < sent.size(); ++host) {
      if (sent[host] <= 0.0) continue;
      const Neighbors neighbors = neighbors_of(HostId{host});
      for (std::uint32_t i = 0; i < neighbors.count; ++i)
        received[grid_.host(neighbors.at[i]).value] += sent[host] / neighbors.count;
    }
  }

 private:
  struct Neighbors {
    std::array<HostGrid::Position, 6> at;
    std::uint32_t count = 0;
  };

  // A line of length 1 has none; on a ring of length 2 both neighbours are the same host, which gets both
  // messages.
  [[nodiscard]] Neighbors neighbors_of(HostId host) const {
    const HostGrid::Position here = grid_.position(host);
    Neighbors found;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::uint32_t length = grid_.lengths()[axis];
      if (length == 1) continue;
      HostGrid::Position there = here;
      if (here[axis] > 0 || wrap_) {
        there[axis] = (here[axis] > 0 ? here[axis] : length) - 1;
        found.at[found.count++] = there;
      }
      if (here[axis] + 1 < length || wrap_) {
        there[axis] = here[axis] + 1 < length ? here[axis] + 1 : 0;
        found.at[found.count++] = there;
      }
    }
    return found;
  }

  HostGrid grid_;
  bool wrap_;
  bool rounds_;
};

PatternPtr make_stencil3d(const PatternContext& context, const PatternArguments& arguments) {
  if (context.area->size() < 2) throw ConfigError("stencil3d", "1 host", "needs at least two hosts");
  return std::make_shared<Stencil3d>(HostGrid{context, arguments, "stencil3d"}, arguments.flag("wrap", true),
                                     arguments.flag("rounds", true));
}

}  // namespace

PatternInfo stencil3d_pattern() {
  return {.name = "stencil3d",
          .summary = "every host sends rounds of messages to its six neighbours in a 3-D grid",
          .source =
              "Kang et al. (Q-adaptive), HPDC 2021, section 6. From the authors' simulator: the grid wraps "
              "around, x is the host of a router, and the six messages start together",
          .example = "stencil3d",
          .parameters = {HostGrid::parameter(),
                         {"wrap", "true",
                          "whether the grid is a torus; if not, hosts on its faces have fewer neighbors"},
                         {"rounds", "true",
                          "whether a host sends a message to all neighbors at one time; if not, to one at a "
                          "time, in turn"}},
          .factory = make_stencil3d};
}

}  // namespace dragonfly
