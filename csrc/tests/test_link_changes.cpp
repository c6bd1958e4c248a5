// Links that fail and return during a run: the states of the machine, and the channels of all versions of
// paths.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "network/link_changes.hpp"
#include "routing/channel_walk.hpp"
#include "routing/policy.hpp"
#include "tests/acyclic.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

constexpr TimePs kNotice = 500;

// A local and a global link fail, then another global one; the first two return.
std::vector<LinkEvent> outage(const Dragonfly& machine) {
  const Endpoint local{0, machine.first_local_port()};
  const Endpoint global = machine.links_between(0, 1).front();
  const Endpoint other = machine.links_between(2, 0).front();
  return {{1'000, local, false},
          {1'000, global, false},
          {2'000, other, false},
          {3'000, local, true},
          {3'000, global, true}};
}

Endpoint far_end(const Dragonfly& machine, const Endpoint& near) {
  return machine.neighbor(near.router, near.port);
}

TEST(states_have_the_links_that_are_alive) {
  const Dragonfly machine{{.p = 2, .a = 4, .h = 2}};
  const LinkChanges changes{machine, outage(machine), kNotice};
  CHECK_EQ(changes.num_states(), 4U);
  CHECK_EQ(changes.most_reroutes(), 2U);
  const Endpoint global = machine.links_between(0, 1).front();
  for (std::uint32_t state = 0; state < 4; ++state) {
    const bool dead = state == 1 || state == 2;
    CHECK_EQ(far_end(changes.machine(state), global).port == kNoPort, dead);
    CHECK(changes.machine(state).longest_local() == changes.machine(0).longest_local());
  }
  CHECK_EQ(changes.ports(1).failed.size(), 4U);
  CHECK_EQ(changes.ports(3).returned.size(), 4U);
  CHECK(far_end(changes.known(), global).port != kNoPort);
}

TEST(notices_come_a_time_after_the_events) {
  const Dragonfly machine{{.p = 2, .a = 4, .h = 2}};
  const LinkChanges changes{machine, outage(machine), 1'000};
  std::vector<TimePs> times;
  for (const LinkChanges::Change& change : changes.changes()) times.push_back(change.time_ps);
  CHECK((times == std::vector<TimePs>{1'000, 2'000, 2'000, 3'000, 3'000, 4'000}));
  CHECK(!changes.changes()[1].notice);  // links change first
  CHECK(changes.changes()[2].notice);
}

// A packet may go from a channel of any version of paths to one of a later version: these are above.
TEST(channels_of_all_versions_of_paths_are_acyclic) {
  for (const DragonflyParams& params : std::vector<DragonflyParams>{
           {.p = 1, .a = 3, .h = 2}, {.p = 1, .a = 4, .h = 2, .g = 5, .trunking = 2}}) {
    const Dragonfly machine{params};
    const LinkChanges changes{machine, outage(machine), kNotice};
    const LocalHops& longest = changes.known().longest_local();
    const PathBudget shortest = PathBudget{}.with_local_paths(longest);
    const auto minimal = make_policy("min", {}, {});
    for (const VcScheme scheme : {VcScheme::kStage, VcScheme::kLadder}) {
      for (const char* name : {"min", "ugal-n", "par", "ad0"}) {
        const auto policy = make_policy(name, {}, {});
        VcLadder ladder{scheme, policy->budget().with_local_paths(longest), longest.vcs};
        VcCounts below{};
        for (std::uint32_t again = 0; again <= changes.most_reroutes(); ++again) {
          std::vector<ChannelDependency> all;
          for (std::uint32_t state = 0; state < changes.num_states(); ++state) {
            const PathFollower paths{changes.machine(state), ladder};
            const ChannelWalk walk = walk_channels(paths, again == 0 ? *policy : *minimal);
            all.insert(all.end(), walk.dependencies.begin(), walk.dependencies.end());
          }
          CHECK(!all.empty());
          CHECK(is_acyclic(all));
          for (const ChannelDependency& d : all) {
            for (const Channel& channel : {d.held, d.wanted}) {
              const bool global = machine.is_global(static_cast<Port>(channel.port));
              CHECK(channel.vc >= (global ? below.global : below.local));
            }
          }
          below = ladder.required();
          ladder = VcLadder{scheme, shortest, longest.vcs, below};
        }
      }
    }
  }
}

TEST(an_event_that_cannot_be_is_named) {
  const Dragonfly machine{{.p = 2, .a = 4, .h = 2}};
  const auto message = [&](const std::vector<LinkEvent>& events) {
    try {
      const LinkChanges changes{machine, events, kNotice};
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(message({{1'000, {0, 5}, true}}).find("must be left out, or follow an event") != std::string::npos);
  CHECK(message({{1'000, {0, 1}, false}}).find("must name a router and a port") != std::string::npos);
  CHECK(message({{1'000, {0, 5}, false}, {2'000, {0, 5}, false}}).find("dead already") != std::string::npos);
  CHECK(message(outage(machine)).empty());
}

}  // namespace
