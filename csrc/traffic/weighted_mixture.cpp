#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

// Each message follows one of several patterns, drawn by weight. A host draws only from those patterns
// that let it send.
class WeightedMixture final : public TrafficPattern {
 public:
  struct Part {
    PatternPtr pattern;
    double weight;
  };

  WeightedMixture(std::vector<Part> parts, std::uint32_t num_hosts) : parts_{std::move(parts)} {
    for (const Part& part : parts_) {
      total_ += part.weight;
      for (std::uint32_t host = 0; all_send_ && host < num_hosts; ++host) {
        all_send_ = part.pattern->sends(HostId{host});
      }
    }
  }

  HostId destination(HostId source, std::uint64_t message, RandomStream& random) const override {
    double left = random.uniform() * (all_send_ ? total_ : total_of(source));
    const TrafficPattern* chosen = nullptr;
    for (const Part& part : parts_) {
      if (!all_send_ && !part.pattern->sends(source)) continue;
      chosen = part.pattern.get();  // the last one takes what rounding leaves
      if (left < part.weight) break;
      left -= part.weight;
    }
    return chosen->destination(source, message, random);
  }

  bool sends(HostId source) const override {
    for (const Part& part : parts_) {
      if (part.pattern->sends(source)) return true;
    }
    return false;
  }

 private:
  double total_of(HostId source) const {
    double total = 0.0;
    for (const Part& part : parts_) total += part.pattern->sends(source) ? part.weight : 0.0;
    return total;
  }

  std::vector<Part> parts_;
  double total_ = 0.0;
  bool all_send_ = true;
};

PatternPtr make(const PatternContext& context, const PatternArguments& arguments) {
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
          .factory = make};
}

}  // namespace dragonfly
