#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// Each message follows one of several patterns, drawn by weight. A host draws only from those patterns that
// let it send. If a pattern gives the host a smaller share of the load, the host sends that much less by this
// pattern.
class WeightedMixture final : public TrafficPattern {
 public:
  struct Part {
    PatternPtr pattern;
    double weight;
  };

  WeightedMixture(std::vector<Part> parts, std::uint32_t num_hosts) : parts_{std::move(parts)} {
    for (const Part& part : parts_) {
      total_ += part.weight;
      for (std::uint32_t host = 0; all_equal_ && host < num_hosts; ++host) {
        all_equal_ = part.pattern->share(HostId{host}) == 1.0;
      }
    }
  }

  HostId destination(HostId source, std::uint64_t message, RandomStream& random) const override {
    double left = random.uniform() * (all_equal_ ? total_ : total_of(source));
    const TrafficPattern* chosen = nullptr;
    for (const Part& part : parts_) {
      const double weight = all_equal_ ? part.weight : weight_of(part, source);
      if (weight <= 0.0) continue;
      chosen = part.pattern.get();  // the last pattern takes the rest that rounding leaves
      if (left < weight) break;
      left -= weight;
    }
    return chosen->destination(source, message, random);
  }

  double share(HostId source) const override {
    if (all_equal_) return 1.0;
    double sending = 0.0;
    for (const Part& part : parts_) sending += part.pattern->sends(source) ? part.weight : 0.0;
    return sending > 0.0 ? total_of(source) / sending : 0.0;
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    std::vector<double> own(sent.size());
    for (const Part& part : parts_) {
      for (std::uint32_t host = 0; host < own.size(); ++host) {
        const double weight = weight_of(part, HostId{host});
        own[host] = weight > 0.0 ? sent[host] * (weight / total_of(HostId{host})) : 0.0;
      }
      part.pattern->add_received(own, received);
    }
  }

 private:
  static double weight_of(const Part& part, HostId source) {
    return part.weight * part.pattern->share(source);
  }
  double total_of(HostId source) const {
    double total = 0.0;
    for (const Part& part : parts_) total += weight_of(part, source);
    return total;
  }

  std::vector<Part> parts_;
  double total_ = 0.0;
  bool all_equal_ = true;  // every part gives every host the whole load
};

PatternPtr make_weighted_mixture(const PatternContext& context, const PatternArguments& arguments) {
  std::vector<WeightedMixture::Part> parts;
  double total = 0.0;
  for (const PatternPart& part : arguments.parts("parts")) {
    total += part.weight;
    if (!(part.weight > 0.0) || !std::isfinite(total)) {
      throw ConfigError("weighted weight of '" + part.spec.name + "'", to_text(part.weight),
                        "weights are positive numbers with a finite sum");
    }
    parts.push_back({make_part(context, context.area, part.spec), part.weight});
  }
  return std::make_shared<WeightedMixture>(std::move(parts), context.topology.num_hosts());
}

}  // namespace

PatternInfo weighted_mixture_pattern() {
  return {.name = "weighted",
          .summary = "each message follows one of several patterns, drawn by weight",
          .source = "Benito et al. (LIA), TACO 2025, sections 3.2.2 and 6.1.2 (sums of ADV+I), generalised",
          .example = "weighted:uniform=0.7,adv+1=0.3",
          .parameters = {{"parts", "", "a list of patterns with their weights; as text: pattern=weight,..."}},
          .factory = make_weighted_mixture};
}

}  // namespace dragonfly
