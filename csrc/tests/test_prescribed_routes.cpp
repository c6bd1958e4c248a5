// The VCs of prescribed routes: the channels of all routes together form no circle.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "routing/channel_walk.hpp"
#include "routing/path_follower.hpp"
#include "tests/check.hpp"
#include "topology/group_visits.hpp"

namespace dragonfly {
namespace {

using Channels = std::vector<Channel>;
using Dependencies = std::map<Channel, std::set<Channel>>;

// The channels of a route, in order.
Channels channels_of(const PathFollower& paths, std::span<const std::uint32_t> route) {
  const Dragonfly& topology = paths.topology();
  Packet packet{.destination_host = route.back() * topology.p(), .destination_router = route.back()};
  Channels channels;
  for (; packet.hops + 1U < route.size(); ++packet.hops) {
    const Hop hop = paths.routed(packet, route[packet.hops], route);
    CHECK_EQ(topology.neighbor(route[packet.hops], hop.port).router, route[packet.hops + 1U]);
    channels.push_back({route[packet.hops], hop.port, hop.vc});
  }
  return channels;
}

// Every walk over links from a router that planned paths of full meshes may make.
void walk(const Dragonfly& topology, std::vector<std::uint32_t>& route,
          std::vector<std::vector<std::uint32_t>>& all) {
  all.push_back(route);
  for (Port port = topology.first_local_port(); port < topology.radix(); ++port) {
    const Endpoint next = topology.neighbor(route.back(), port);
    if (next.port == kNoPort) continue;
    route.push_back(next.router);
    if (!group_visits(route, topology.a()).exceed_planned_paths()) walk(topology, route, all);
    route.pop_back();
  }
}

// Removes channels that wait for no other one, as long as there are any.
bool has_circle(Dependencies waits_for) {
  for (bool removed = true; removed;) {
    removed = false;
    for (auto at = waits_for.begin(); at != waits_for.end();) {
      std::erase_if(at->second, [&](const Channel& wanted) { return !waits_for.contains(wanted); });
      removed = removed || at->second.empty();
      at = at->second.empty() ? waits_for.erase(at) : std::next(at);
    }
  }
  return !waits_for.empty();
}

bool routes_have_a_circle(VcScheme scheme) {
  const Dragonfly topology{{.p = 1, .a = 3, .h = 1}};
  const PathBudget budget{.nonminimal = true,
                          .intermediate_router = true,
                          .reconsiders = true,
                          .local_nonminimal = true,
                          .longest_path = 8};
  const VcLadder ladder{scheme, budget};
  const PathFollower paths{topology, ladder};
  Dependencies waits_for;
  for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
    std::vector<std::uint32_t> route{router};
    std::vector<std::vector<std::uint32_t>> all;
    walk(topology, route, all);
    for (const auto& one : all) {
      const Channels channels = channels_of(paths, one);
      for (std::size_t i = 0; i < channels.size(); ++i) {
        const VcCounts vcs = ladder.required();
        CHECK(channels[i].vc < (topology.is_global(channels[i].port) ? vcs.global : vcs.local));
        if (i > 0) waits_for[channels[i - 1]].insert(channels[i]);
      }
    }
  }
  CHECK(waits_for.size() > 30);
  return has_circle(waits_for);
}

TEST(channels_of_prescribed_routes_form_no_circle) {
  for (const VcScheme scheme : {VcScheme::kStage, VcScheme::kLadder, VcScheme::kHop}) {
    CHECK(!routes_have_a_circle(scheme));
  }
}

TEST(a_single_vc_has_circles_so_that_the_test_of_prescribed_routes_can_fail) {
  CHECK(routes_have_a_circle(VcScheme::kUnsafeSingle));
}

TEST(a_route_that_no_planned_path_takes_is_numbered_by_its_hops) {
  const Dragonfly topology{{.p = 1, .a = 3, .h = 1}};
  const VcLadder ladder{VcScheme::kStage, {.any_port = true, .longest_path = 7}};
  const std::vector<std::uint32_t> route{0, 1, 0, 1, 2, 1};
  const Channels channels = channels_of(PathFollower{topology, ladder}, route);
  for (std::size_t hop = 0; hop < channels.size(); ++hop) CHECK_EQ(channels[hop].vc, hop);
}

}  // namespace
}  // namespace dragonfly
