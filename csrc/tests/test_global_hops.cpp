// The hop by which a packet leaves its group, worked out at once, against following its plan.
#include <cstdint>
#include <vector>

#include "routing/path_follower.hpp"
#include "tests/check.hpp"

namespace dragonfly {
namespace {

constexpr PathBudget kBudget{.nonminimal = true, .intermediate_router = true, .longest_path = 6};
constexpr PathBudget kAnew{
    .nonminimal = true, .intermediate_router = true, .reconsiders = true, .longest_path = 7};

std::vector<Dragonfly> systems() {
  std::vector<Dragonfly> all;
  for (const std::string& name : arrangement_names()) {
    const Arrangement arrangement = parse_arrangement(name);
    all.emplace_back(DragonflyParams{.p = 2, .a = 4, .h = 2, .arrangement = arrangement});
    all.emplace_back(DragonflyParams{.p = 1, .a = 4, .h = 2, .g = 5, .arrangement = arrangement});
    all.emplace_back(
        DragonflyParams{.p = 1, .a = 4, .h = 2, .g = 5, .trunking = 2, .arrangement = arrangement});
    all.emplace_back(DragonflyParams{.p = 1,
                                     .h = 2,
                                     .g = 4,
                                     .arrangement = arrangement,
                                     .shape = make_group_shape("grid", {{"rows", 2.0}, {"columns", 2.0}})});
  }
  return all;
}

PathFollower::GlobalHop followed(const PathFollower& paths, Packet packet, std::uint32_t router) {
  const Dragonfly& topology = paths.topology();
  const std::uint32_t group = topology.group_of(router);
  for (;;) {
    const Hop hop = paths.next(packet, router, group);
    if (topology.is_global(hop.port)) return {{router, hop.port}, hop.vc};
    if (hop.port < topology.first_local_port()) return {};
    router = topology.neighbor(router, hop.port).router;
    ++packet.hops;
  }
}

bool same(const PathFollower::GlobalHop& one, const PathFollower::GlobalHop& other) {
  return one.link == other.link && one.vc == other.vc;
}

TEST(the_hop_out_of_a_group_is_the_one_that_the_plan_comes_to) {
  std::uint64_t compared = 0;
  for (const Dragonfly& topology : systems()) {
    for (const VcScheme scheme : {VcScheme::kStage, VcScheme::kLadder, VcScheme::kHop}) {
      for (const PathBudget& budget : {kBudget, kAnew}) {
        const VcLadder ladder{scheme, budget.with_local_paths(topology.longest_local()),
                              topology.longest_local().vcs};
        const PathFollower paths{topology, ladder, 3};
        for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
          for (std::uint32_t to = 0; to < topology.num_routers(); ++to) {
            if (to == router) continue;
            Packet packet;
            packet.source_host = router * topology.p();
            packet.destination_router = to;
            packet.destination_host = to * topology.p();
            packet.destination_group = static_cast<std::uint16_t>(topology.group_of(to));
            packet.number = router + to;
            const std::uint32_t choice = paths.choice_of(packet);
            CHECK(same(paths.first_global_hop(packet, router, choice), followed(paths, packet, router)));
            for (std::uint32_t group = 0; group < topology.num_groups(); ++group) {
              if (group == topology.group_of(router) || group == packet.destination_group) continue;
              for (const NonMinimalKind kind : {NonMinimalKind::kLgl, NonMinimalKind::kLg}) {
                NonMinimalPath nonminimal{.kind = kind, .group = static_cast<std::uint16_t>(group)};
                if (visits_router(kind)) nonminimal.router = group * topology.a() + to % topology.a();
                Packet sent = packet;
                PathFollower::set_nonminimal(sent, nonminimal);
                const PathFollower::GlobalHop hop = paths.first_global_hop(packet, nonminimal, router);
                CHECK(same(hop, followed(paths, sent, router)));
                CHECK(hop.link.port != kNoPort);
                ++compared;
              }
            }
          }
        }
      }
    }
  }
  CHECK(compared > 10'000);
}

}  // namespace
}  // namespace dragonfly
