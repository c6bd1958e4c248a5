// The first hop and the hops of a non-minimal path, worked out from the links, against following the path.
#include <cstdint>

#include "routing/path_hops.hpp"
#include "tests/check.hpp"

namespace dragonfly {
namespace {

constexpr PathBudget kBudget{.nonminimal = true, .intermediate_router = true, .longest_path = 6};

std::uint64_t compare_paths(const Dragonfly& topology) {
  const PathFollower paths{topology, VcLadder{VcScheme::kStage, kBudget, 1}};
  std::uint64_t compared = 0;
  for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
    const std::uint32_t own = topology.group_of(router);
    for (std::uint32_t to = 0; to < topology.num_routers(); ++to) {
      Packet packet;
      packet.destination_router = to;
      packet.destination_group = static_cast<std::uint16_t>(topology.group_of(to));
      for (std::uint32_t visited = 0; visited < topology.num_routers(); ++visited) {
        const std::uint32_t group = topology.group_of(visited);
        if (to == router || group == own) continue;
        for (const NonMinimalKind kind : {NonMinimalKind::kLgl, NonMinimalKind::kLg}) {
          NonMinimalPath nonminimal{.kind = kind, .group = static_cast<std::uint16_t>(group)};
          if (visits_router(kind)) nonminimal.router = visited;
          const Hop hop = paths.nonminimal_hop(packet, nonminimal, router, own);
          CHECK(hop == paths.only_hop_out(packet, router, group, Stage::kSource, false, visits_router(kind)));
          CHECK_EQ(only_nonminimal_hops(topology.link_ends(), packet, nonminimal, router, own),
                   nonminimal_hops(topology, packet, nonminimal, router, hop.port));
          ++compared;
        }
      }
    }
  }
  return compared;
}

TEST(hops_by_the_only_links_are_those_of_the_path_that_is_followed) {
  for (const std::string& name : arrangement_names()) {
    const Arrangement arrangement = parse_arrangement(name);
    CHECK(compare_paths(Dragonfly{{.p = 2, .a = 4, .h = 2, .arrangement = arrangement}}) > 10'000);
    CHECK(compare_paths(Dragonfly{{.p = 1, .a = 4, .h = 2, .g = 5, .arrangement = arrangement}}) > 1'000);
  }
}

}  // namespace
}  // namespace dragonfly
