#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "traffic/registry.hpp"

namespace dragonfly {
namespace {

constexpr std::int64_t kDefaultHosts = 4;
constexpr double kDefaultFraction = 0.2;

// `fraction` of the messages to a few hot hosts, the rest uniform over all (the hot ones included).
class Hotspot final : public TrafficPattern {
 public:
  Hotspot(std::shared_ptr<const Area> area, std::vector<std::uint32_t> hot, double fraction)
      : area_{std::move(area)}, hot_{std::move(hot)}, fraction_{fraction} {}

  HostId destination(HostId, std::uint64_t, RandomStream& random) const override {
    if (random.uniform() < fraction_)
      return HostId{hot_[random.below(static_cast<std::uint32_t>(hot_.size()))]};
    return HostId{area_->host(random.below(area_->size()))};
  }

  void add_received(std::span<const double> sent, std::span<double> received) const override {
    const double total = area_->sum(sent);
    area_->spread(total * (1.0 - fraction_), received);
    for (const std::uint32_t host : hot_)
      received[host] += total * fraction_ / static_cast<double>(hot_.size());
  }

 private:
  std::shared_ptr<const Area> area_;
  std::vector<std::uint32_t> hot_;
  double fraction_;
};

// `count` different hosts of the area.
std::vector<std::uint32_t> draw_hot(const PatternContext& context, std::int64_t count) {
  const Area& area = *context.area;
  if (count < 1 || count > std::int64_t{area.size()}) {
    throw ConfigError("hotspot.hosts", std::to_string(count),
                      "the number of hot hosts is 1 to " + std::to_string(area.size()));
  }
  std::vector<std::uint32_t> hosts(area.size());
  for (std::uint32_t i = 0; i < area.size(); ++i) hosts[i] = area.host(i);
  for (std::uint32_t i = 0; i < count; ++i) {
    RandomStream random{context.seed, Purpose::kPattern, context.part, i};
    std::swap(hosts[i], hosts[i + random.below(area.size() - i)]);
  }
  hosts.resize(static_cast<std::size_t>(count));
  return hosts;
}

std::vector<std::uint32_t> given_hot(const PatternContext& context, const Integers& list) {
  std::vector<std::uint32_t> hosts = host_list("hotspot.hosts", list, context.topology.num_hosts());
  static_cast<void>(Area{context.topology, hosts});  // refuses an empty list and doubles
  for (const std::uint32_t host : hosts) {
    if (!context.area->contains(host)) {
      throw ConfigError("hotspot.hosts", std::to_string(host), "is not in the area of this pattern");
    }
  }
  return hosts;
}

PatternPtr make_hotspot(const PatternContext& context, const PatternArguments& arguments) {
  const double fraction = arguments.number("fraction", kDefaultFraction, 0.0, 1.0);
  const ArgumentValue* hosts = arguments.find("hosts");
  const auto* list = hosts == nullptr ? nullptr : std::get_if<Integers>(hosts);
  const std::int64_t most = std::min<std::int64_t>(kDefaultHosts, context.area->size());
  std::vector<std::uint32_t> hot =
      list != nullptr ? given_hot(context, *list) : draw_hot(context, arguments.integer("hosts", most));
  return std::make_shared<Hotspot>(context.area, std::move(hot), fraction);
}

}  // namespace

PatternInfo hotspot_pattern() {
  return {.name = "hotspot",
          .summary = "a fraction of all messages goes to a few hot hosts, the rest is uniform",
          .source =
              "Pfister and Norton, Hot spot contention and combining in multistage interconnection networks, "
              "IEEE Transactions on Computers 1985",
          .example = "hotspot:hosts=4,fraction=0.2",
          .parameters = {{"hosts", "4", "number of hot hosts (drawn by the seed), or a list of hosts"},
                         {"fraction", "0.2", "share of the messages to hot hosts, 0 to 1"}},
          .factory = make_hotspot};
}

}  // namespace dragonfly
