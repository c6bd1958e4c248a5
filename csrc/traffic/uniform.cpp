#include <string>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// Every host with the same probability, the sender itself included unless `exclude_self`.
class Uniform final : public TrafficPattern {
 public:
  explicit Uniform(std::shared_ptr<const Area> area) : area_{std::move(area)} {}

  HostId destination(HostId, std::uint64_t, RandomStream& random) const override {
    return HostId{area_->host(random.below(area_->size()))};
  }
  void destinations(HostId, std::uint64_t, std::span<RandomStream> random,
                    std::span<std::uint32_t> into) const override {
    for (std::size_t i = 0; i < random.size(); ++i) into[i] = area_->host(random[i].below(area_->size()));
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    area_->spread(area_->sum(sent), received);
  }

 private:
  std::shared_ptr<const Area> area_;
};

class UniformOthers final : public TrafficPattern {
 public:
  explicit UniformOthers(std::shared_ptr<const Area> area) : area_{std::move(area)} {
    if (area_->size() < 2) {
      throw ConfigError("uniform.exclude_self", "true", "needs at least two hosts");
    }
  }

  HostId destination(HostId source, std::uint64_t, RandomStream& random) const override {
    const std::uint32_t index = random.below(area_->size() - 1);
    return HostId{area_->host(index + (index >= area_->index_of(source.value) ? 1U : 0U))};
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    area_->spread_to_others(sent, received);
  }

 private:
  std::shared_ptr<const Area> area_;
};

PatternPtr make_uniform(const PatternContext& context, const PatternArguments& arguments) {
  if (arguments.flag("exclude_self", context.uniform_excludes_sender)) {
    return std::make_shared<UniformOthers>(context.area);
  }
  return std::make_shared<Uniform>(context.area);
}

}  // namespace

PatternInfo uniform_pattern() {
  return {.name = "uniform",
          .summary = "every message goes to a uniformly drawn host, the sender's router and group included",
          .source =
              "Kang et al. (Q-adaptive), HPDC 2021, section 2.2 (UR); the authors' simulator may draw the "
              "sender itself",
          .example = "uniform",
          .parameters = {{"exclude_self", "as the network says", "whether the sender itself is never drawn"}},
          .factory = make_uniform};
}

}  // namespace dragonfly
