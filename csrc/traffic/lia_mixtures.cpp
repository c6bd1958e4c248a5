// The two combinations of patterns that LIA is evaluated with. Nodes of an area talk only to nodes of
// the same area, by the pattern of their area:
//   C1: four areas, each with 25 % of the nodes: UN, ADV+1, ADV+h, ADVc;
//   C2: two areas that interleave the nodes: odd nodes ADV+1, even nodes ADV+h.
// The paper does not say which nodes an area of C1 has. Here they are consecutive: area k holds the hosts
// with floor(4 * host / hosts) = k. Group offsets count the groups that an area touches, cyclically, so
// that ADV+I stays inside; a group that two areas share counts in both.
// Source: Benito et al. (LIA), TACO 2025, section 6.4 and figure 18.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traffic/host_mixture.hpp"

namespace dragonfly {
namespace {

PatternSpec adversarial(std::uint32_t offset) {
  PatternSpec spec{.name = "adv", .arguments = {}};
  spec.arguments.set("offset", std::int64_t{offset});
  return spec;
}

PatternPtr make_c1(const PatternContext& context, const PatternArguments&) {
  const std::uint32_t h = context.topology.h();
  std::vector<HostSetPattern> sets{
      {{"uniform", {}}, {}}, {adversarial(1), {}}, {adversarial(h), {}}, {{"advc", {}}, {}}};
  const std::uint64_t size = context.area->size();
  for (std::uint32_t i = 0; i < size; ++i)
    sets[4 * std::uint64_t{i} / size].hosts.push_back(context.area->host(i));
  return make_host_mixture(context, sets, true);
}

PatternPtr make_c2(const PatternContext& context, const PatternArguments&) {
  std::vector<HostSetPattern> sets{{adversarial(context.topology.h()), {}}, {adversarial(1), {}}};
  for (std::uint32_t i = 0; i < context.area->size(); ++i) {
    const std::uint32_t host = context.area->host(i);
    sets[host % 2].hosts.push_back(host);
  }
  return make_host_mixture(context, sets, true);
}

}  // namespace

PatternInfo lia_c1_pattern() {
  return {
      .name = "lia-c1",
      .summary =
          "four areas of 25 % of the hosts, without traffic between areas: uniform, adv+1, adv+h, advc",
      .source = "Benito et al. (LIA), TACO 2025, section 6.4 (C1); the hosts of each area are an assumption",
      .example = "lia-c1",
      .parameters = {},
      .factory = make_c1};
}

PatternInfo lia_c2_pattern() {
  return {.name = "lia-c2",
          .summary = "two interleaved areas, without traffic between them: odd hosts adv+1, even hosts adv+h",
          .source = "Benito et al. (LIA), TACO 2025, section 6.4 (C2)",
          .example = "lia-c2",
          .parameters = {},
          .factory = make_c2};
}

}  // namespace dragonfly
