#include <string>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// All of group G sends to group G + offset: minimal paths share the links between two groups.
class Adversarial final : public TrafficPattern {
 public:
  Adversarial(std::shared_ptr<const Area> area, std::int64_t offset) : area_{std::move(area)} {
    const std::int64_t groups = area_->num_groups();
    const std::int64_t wrapped = ((offset % groups) + groups) % groups;
    if (wrapped == 0) {
      throw ConfigError("adv.offset", std::to_string(offset),
                        "must not be a multiple of the number of groups (" + std::to_string(groups) +
                            "): traffic would stay in its own group");
    }
    offset_ = static_cast<std::uint32_t>(wrapped);
  }

  HostId destination(HostId source, std::uint64_t, RandomStream& random) const override {
    const std::uint32_t group = area_->group_after(area_->group_of(source.value), offset_);
    return HostId{area_->host(area_->first_of(group) + random.below(area_->size_of(group)))};
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    for (std::uint32_t group = 0; group < area_->num_groups(); ++group)
      area_->spread_over(area_->group_after(group, offset_), area_->sum_of(group, sent), received);
  }

 private:
  std::shared_ptr<const Area> area_;
  std::uint32_t offset_ = 0;
};

PatternPtr make_adversarial(const PatternContext& context, const PatternArguments& arguments) {
  return std::make_shared<Adversarial>(context.area, arguments.integer("offset", 1));
}

}  // namespace

PatternInfo adversarial_pattern() {
  return {
      .name = "adv",
      .summary =
          "adv+I: every host of group G sends to uniformly drawn hosts of group G+I (any I, negative too)",
      .source =
          "Kang et al. (Q-adaptive), HPDC 2021, section 2.2; Benito et al. (LIA), TACO 2025, section 2.3",
      .example = "adv+1",
      .parameters = {{"offset", "1", "I, in groups; not a multiple of the number of groups"}},
      .factory = make_adversarial,
      .suffix_parameter = "offset"};
}

}  // namespace dragonfly
