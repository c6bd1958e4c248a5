#include "traffic/host_mixture.hpp"

#include <string>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {
namespace {

constexpr std::uint16_t kSilent = 0xffff;
constexpr std::size_t kMaxSets = 1000;  // an area costs 4 bytes per host of the system

class HostMixture final : public TrafficPattern {
 public:
  HostMixture(std::vector<PatternPtr> patterns, std::vector<std::uint16_t> pattern_of)
      : patterns_{std::move(patterns)}, pattern_of_{std::move(pattern_of)} {}

  HostId destination(HostId source, std::uint64_t message, RandomStream& random) const override {
    return patterns_[pattern_of_[source.value]]->destination(source, message, random);
  }

  std::uint32_t round_messages(HostId source) const override {
    const std::uint16_t pattern = pattern_of_[source.value];
    return pattern == kSilent ? 1 : patterns_[pattern]->round_messages(source);
  }

  double share(HostId source) const override {
    const std::uint16_t pattern = pattern_of_[source.value];
    return pattern == kSilent ? 0.0 : patterns_[pattern]->share(source);
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    std::vector<double> own(sent.size());
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      for (std::size_t host = 0; host < own.size(); ++host)
        own[host] = pattern_of_[host] == i ? sent[host] : 0.0;
      patterns_[i]->add_received(own, received);
    }
  }

 private:
  std::vector<PatternPtr> patterns_;
  std::vector<std::uint16_t> pattern_of_;  // [host]
};

PatternPtr make_host_mixture(const PatternContext& context, const PatternArguments& arguments) {
  std::vector<HostSetPattern> sets;
  for (const PatternPart& part : arguments.parts("parts")) {
    sets.push_back({part.spec, host_list("mixture.hosts", part.hosts, context.topology.num_hosts())});
  }
  return make_host_mixture(context, sets, arguments.flag("confined", false));
}

}  // namespace

PatternPtr make_host_mixture(const PatternContext& context, const std::vector<HostSetPattern>& sets,
                             bool confined) {
  if (sets.size() > kMaxSets) {
    throw ConfigError("mixture.parts", std::to_string(sets.size()), "at most " + std::to_string(kMaxSets));
  }
  std::vector<PatternPtr> patterns;
  std::vector<std::uint16_t> pattern_of(context.topology.num_hosts(), kSilent);
  for (const HostSetPattern& set : sets) {
    for (const std::uint32_t host : set.hosts) {
      if (!context.area->contains(host)) {
        throw ConfigError("mixture.hosts", std::to_string(host), "is outside the area of the mixture");
      }
      if (pattern_of[host] != kSilent) {
        throw ConfigError("mixture.hosts", std::to_string(host), "is in more than one set, or twice in one");
      }
      pattern_of[host] = static_cast<std::uint16_t>(patterns.size());
    }
    // An area refuses an empty set.
    auto area = std::make_shared<const Area>(context.topology, set.hosts);
    patterns.push_back(make_part(context, confined ? std::move(area) : context.area, set.spec));
  }
  return std::make_shared<HostMixture>(std::move(patterns), std::move(pattern_of));
}

PatternInfo host_mixture_pattern() {
  return {.name = "mixture",
          .summary = "each set of hosts follows a pattern of its own; hosts in no set do not send",
          .source = "Benito et al. (LIA), TACO 2025, section 6.4, generalised",
          .example = "",
          .parameters = {{"parts", "", "a list of patterns with their hosts"},
                         {"confined", "false",
                          "whether the hosts of a set send only to hosts of the set (\"network areas\")"}},
          .factory = make_host_mixture};
}

}  // namespace dragonfly
