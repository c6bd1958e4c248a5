#include <string>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// Group G sends to the h groups after it, which minimal paths leave through one router.
class Consecutive final : public TrafficPattern {
 public:
  Consecutive(std::shared_ptr<const Area> area, std::uint32_t h) : area_{std::move(area)}, h_{h} {
    if (h_ == 0 || h_ >= area_->num_groups()) {
      throw ConfigError("advc", "h = " + std::to_string(h_),
                        "needs at least 1 and fewer global ports per router than groups (" +
                            std::to_string(area_->num_groups()) + ")");
    }
  }

  HostId destination(HostId source, std::uint64_t, RandomStream& random) const override {
    const std::uint32_t group = area_->group_after(area_->group_of(source.value), 1 + random.below(h_));
    return HostId{area_->host(area_->first_of(group) + random.below(area_->size_of(group)))};
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    std::vector<double> to_group(area_->num_groups(), 0.0);
    for (std::uint32_t group = 0; group < area_->num_groups(); ++group) {
      const double each = area_->sum_of(group, sent) / h_;
      for (std::uint32_t i = 1; i <= h_; ++i) to_group[area_->group_after(group, i)] += each;
    }
    for (std::uint32_t group = 0; group < area_->num_groups(); ++group)
      area_->spread_over(group, to_group[group], received);
  }

 private:
  std::shared_ptr<const Area> area_;
  std::uint32_t h_;
};

PatternPtr make_consecutive(const PatternContext& context, const PatternArguments&) {
  return std::make_shared<Consecutive>(context.area, context.topology.h());
}

}  // namespace

// FOGSim's public version draws only +1..+(h-1); here all h offsets are drawn, as the paper says.
PatternInfo consecutive_pattern() {
  return {.name = "advc",
          .summary = "every host of group G sends to uniformly drawn hosts of the groups G+1 .. G+h",
          .source = "Benito et al. (LIA), TACO 2025, section 2.3 (ADVc)",
          .example = "advc",
          .parameters = {},
          .factory = make_consecutive};
}

}  // namespace dragonfly
