// All-to-all inside communicators: the hosts of one line along z of a 3-D grid send to one another.
//
// Source: Kang et al. (Q-adaptive), HPDC 2021, section 6 ("Many to Many"). Details that the paper leaves open
// are taken from the authors' simulator:
//   Assumption "placement": x is fastest, so a communicator has one host of every group.
//   Assumption "order": each host goes through the others by rising z, all from the first one on.
//   Assumption "rounds": a host generates its messages to all others at one time. The load is still the
//   rate of all its messages.
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "traffic/host_grid.hpp"

namespace dragonfly {
namespace {

class ManyToMany final : public TrafficPattern {
 public:
  ManyToMany(HostGrid grid, bool rounds)
      : grid_{std::move(grid)}, others_{grid_.lengths()[2] - 1}, rounds_{rounds} {}

  HostId destination(HostId source, std::uint64_t message, RandomStream&) const override {
    HostGrid::Position at = grid_.position(source);
    const auto z = static_cast<std::uint32_t>(message % others_);
    at[2] = z < at[2] ? z : z + 1;
    return grid_.host(at);
  }

  std::uint32_t round_messages(HostId) const override { return rounds_ ? others_ : 1; }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t y = 0; y < grid_.lengths()[1]; ++y) {
      for (std::uint32_t x = 0; x < grid_.lengths()[0]; ++x) add_line(x, y, sent, received);
    }
  }

 private:
  // A communicator: all hosts along z.
  void add_line(std::uint32_t x, std::uint32_t y, std::span<const double> sent,
                std::span<double> received) const {
    double total = 0.0;
    for (std::uint32_t z = 0; z <= others_; ++z) total += sent[grid_.host({x, y, z}).value];
    for (std::uint32_t z = 0; z <= others_; ++z) {
      const HostId host = grid_.host({x, y, z});
      received[host.value] += (total - sent[host.value]) / others_;
    }
  }

  HostGrid grid_;
  std::uint32_t others_;
  bool rounds_;
};

PatternPtr make_many_to_many(const PatternContext& context, const PatternArguments& arguments) {
  HostGrid grid{context, arguments, "many-to-many"};
  if (grid.lengths()[2] < 2) {
    throw ConfigError("many-to-many.grid", "z = 1", "a communicator along z needs at least two hosts");
  }
  return std::make_shared<ManyToMany>(std::move(grid), arguments.flag("rounds", true));
}

}  // namespace

PatternInfo many_to_many_pattern() {
  return {
      .name = "many-to-many",
      .summary = "all-to-all among the hosts of each line along z of a 3-D grid (one host of every group)",
      .source =
          "Kang et al. (Q-adaptive), HPDC 2021, section 6. From the authors' simulator: a line along z "
          "crosses the groups, the order rises, and all messages of a round start together",
      .example = "many-to-many",
      .parameters = {HostGrid::parameter(),
                     {"rounds", "true",
                      "whether a host sends a message to all others of its line at one time; if not, to one "
                      "at a time, in turn"}},
      .factory = make_many_to_many};
}

}  // namespace dragonfly
