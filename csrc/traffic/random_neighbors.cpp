// Load balancing between random hosts: every host spreads its messages evenly over 6 to 20 random targets.
//
// Source: Kang et al. (Q-adaptive), HPDC 2021, section 6 ("Random Neighbors"). Details that the paper leaves
// open:
//   Assumption "rounds": the pattern is one-to-many; a host generates a message to each target at one
//   time, as in the authors' simulator. The load is still the rate of all its messages.
//   Assumption "targets": drawn anew for every round, as in the authors' simulator: with targets that stay
//   (`fixed`) some hosts are the target of so many that they are overloaded from load 0.5 on, and figure 9(e)
//   cannot be. Never the sender itself; without `fixed` one host may be drawn twice in a round.
//   Assumption "number": how many targets a host has is drawn once, by the seed, so that all hosts offer the
//   same load. Deviation: the authors' simulator draws it for every round.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

constexpr std::int64_t kDefaultMin = 6;
constexpr std::int64_t kDefaultMax = 20;
constexpr std::int64_t kMostTargets = 256;  // 1 KB per host

struct Bounds {
  std::uint32_t min;
  std::uint32_t max;
};

class RandomNeighbors final : public TrafficPattern {
 public:
  RandomNeighbors(const PatternContext& context, Bounds bounds, bool fixed, bool rounds)
      : area_{context.area}, fixed_{fixed}, rounds_{rounds} {
    for (std::uint32_t index = 0; index < area_->size(); ++index) {
      RandomStream random{context.seed, Purpose::kPattern, context.part, index};
      starts_.push_back(starts_.back() + bounds.min + random.below(bounds.max - bounds.min + 1));
      if (!fixed_) continue;
      while (targets_.size() < starts_.back()) {  // different ones
        const std::uint32_t target = other(index, random);
        const auto first = targets_.begin() + static_cast<std::ptrdiff_t>(starts_[index]);
        if (std::find(first, targets_.end(), target) == targets_.end()) targets_.push_back(target);
      }
    }
  }

  HostId destination(HostId source, std::uint64_t message, RandomStream& random) const override {
    const std::uint32_t index = area_->index_of(source.value);
    if (!fixed_) return HostId{area_->host(other(index, random))};
    return HostId{area_->host(targets_[starts_[index] + message % count_of(index)])};
  }

  std::uint32_t round_messages(HostId source) const override {
    return rounds_ ? count_of(area_->index_of(source.value)) : 1;
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    if (!fixed_) return area_->spread_to_others(sent, received);
    for (std::uint32_t index = 0; index < area_->size(); ++index) {
      const double each = sent[area_->host(index)] / count_of(index);
      for (std::uint64_t i = starts_[index]; i < starts_[index + 1]; ++i)
        received[area_->host(targets_[i])] += each;
    }
  }

 private:
  [[nodiscard]] std::uint32_t count_of(std::uint32_t index) const {
    return static_cast<std::uint32_t>(starts_[index + 1] - starts_[index]);
  }

  // Any index but `index`.
  [[nodiscard]] std::uint32_t other(std::uint32_t index, RandomStream& random) const {
    const std::uint32_t drawn = random.below(area_->size() - 1);
    return drawn < index ? drawn : drawn + 1;
  }

  std::shared_ptr<const Area> area_;
  bool fixed_;
  bool rounds_;
  std::vector<std::uint64_t> starts_{0};  // [index]: its first target, counted over all hosts; and the end
  std::vector<std::uint32_t> targets_;    // indices in the area; empty unless fixed
};

Bounds bounds_of(const PatternContext& context, const PatternArguments& arguments) {
  if (context.area->size() < 2) throw ConfigError("random-neighbors", "1 host", "needs at least two hosts");
  const std::int64_t min = arguments.integer("min", kDefaultMin);
  const std::int64_t max = arguments.integer("max", kDefaultMax);
  const std::int64_t most = std::min<std::int64_t>(kMostTargets, std::int64_t{context.area->size()} - 1);
  if (max < 1 || max > most) {
    throw ConfigError("random-neighbors.max", std::to_string(max),
                      "must be 1 to " + std::to_string(most) + ", and a host has at most " +
                          std::to_string(kMostTargets) + " targets");
  }
  if (min < 1 || min > max) {
    throw ConfigError("random-neighbors.min", std::to_string(min),
                      "must be 1 to max, " + std::to_string(max));
  }
  return {static_cast<std::uint32_t>(min), static_cast<std::uint32_t>(max)};
}

PatternPtr make_random_neighbors(const PatternContext& context, const PatternArguments& arguments) {
  return std::make_shared<RandomNeighbors>(context, bounds_of(context, arguments),
                                           arguments.flag("fixed", false), arguments.flag("rounds", true));
}

}  // namespace

PatternInfo random_neighbors_pattern() {
  return {
      .name = "random-neighbors",
      .summary = "every host sends rounds of messages to 6 to 20 random other hosts each",
      .source =
          "Kang et al. (Q-adaptive), HPDC 2021, section 6. From the authors' simulator: every round draws "
          "its targets anew, and its messages start together",
      .example = "random-neighbors",
      .parameters = {{"min", "6", "fewest targets of a host"},
                     {"max", "20", "most targets of a host"},
                     {"fixed", "false", "whether a host keeps its targets, all different, for the whole run"},
                     {"rounds", "true",
                      "whether a host sends a message to all targets at one time; if not, to one at a time"}},
      .factory = make_random_neighbors};
}

}  // namespace dragonfly
