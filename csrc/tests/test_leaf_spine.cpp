// Groups of leaves and spines: numbers, links, distances, and every policy on them.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "routing/channel_walk.hpp"
#include "tests/acyclic.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

constexpr std::uint32_t kUnreached = ~0U;

std::shared_ptr<const GroupShape> leaf_spine(std::uint32_t leaves, std::uint32_t spines) {
  return make_group_shape("leaf-spine", {{"leaves", double(leaves)}, {"spines", double(spines)}});
}

// Systems with as many leaves as spines, more, fewer; with one spine; with pairs of links between groups;
// with groups left out.
std::vector<Dragonfly> systems() {
  std::vector<Dragonfly> all;
  for (const std::string& name : arrangement_names()) {
    const Arrangement arrangement = parse_arrangement(name);
    const std::uint32_t g = arrangement == Arrangement::kXc ? 3 : 0;
    all.emplace_back(
        DragonflyParams{.p = 2, .h = 2, .g = g, .arrangement = arrangement, .shape = leaf_spine(2, 2)});
    all.emplace_back(
        DragonflyParams{.p = 1, .h = 2, .g = g, .arrangement = arrangement, .shape = leaf_spine(3, 2)});
    all.emplace_back(
        DragonflyParams{.p = 1, .h = 1, .g = g, .arrangement = arrangement, .shape = leaf_spine(2, 3)});
    all.emplace_back(
        DragonflyParams{.p = 2, .h = 3, .g = 3, .arrangement = arrangement, .shape = leaf_spine(3, 1)});
    all.emplace_back(DragonflyParams{
        .p = 1, .h = 2, .g = 3, .trunking = 2, .arrangement = arrangement, .shape = leaf_spine(2, 3)});
  }
  return all;
}

// Hops from a router to all others by the links alone.
std::vector<std::uint32_t> hops_from(const Dragonfly& t, std::uint32_t start) {
  std::vector<std::uint32_t> hops(t.num_routers(), kUnreached);
  std::vector<std::uint32_t> reached{start};
  hops[start] = 0;
  for (std::size_t at = 0; at < reached.size(); ++at) {
    for (Port port = t.first_local_port(); port < t.radix(); ++port) {
      const Endpoint next = t.neighbor(reached[at], port);
      if (next.port == kNoPort || hops[next.router] != kUnreached) continue;
      hops[next.router] = hops[reached[at]] + 1;
      reached.push_back(next.router);
    }
  }
  return hops;
}

TEST(leaves_have_the_hosts_and_spines_the_global_links) {
  for (const Dragonfly& t : systems()) {
    CHECK_EQ(t.host_routers() + t.global_routers(), t.a());
    std::uint32_t host = 0;
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      const bool leaf = t.local_index_of(router) < t.host_routers();
      CHECK_EQ(t.has_hosts(router), leaf);
      if (leaf) CHECK_EQ(t.first_host(router), host);
      for (std::uint32_t slot = 0; leaf && slot < t.p(); ++slot, ++host) {
        CHECK_EQ(t.router_of_host(host), router);
        CHECK_EQ(t.group_of_host(host), t.group_of(router));
        CHECK_EQ(t.host_port(host), slot);
      }
      for (Port port = t.first_global_port(); leaf && port < t.radix(); ++port) {
        CHECK(t.neighbor(router, port) == Endpoint{});
      }
    }
    CHECK_EQ(host, t.num_hosts());
    CHECK_EQ(t.num_hosts(), t.num_groups() * t.hosts_per_group());
    for (std::uint32_t q = 0; q < t.global_positions(); ++q) {
      const Endpoint port = t.global_port_at(1, q);
      CHECK(!t.has_hosts(port.router) && t.group_of(port.router) == 1);
      CHECK_EQ(t.global_position(port.router, port.port), q);
    }
  }
}

TEST(leaves_add_no_groups) {
  const Dragonfly most{{.p = 1, .h = 2, .shape = leaf_spine(5, 2)}};
  CHECK_EQ(most.num_groups(), 5U);
  CHECK_THROWS(ConfigError, Dragonfly{{.p = 1, .h = 2, .g = 6, .shape = leaf_spine(5, 2)}});
}

TEST(every_link_has_two_ends_and_joins_each_leaf_with_each_spine) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t router = 0; router < t.num_routers(); ++router) {
      std::set<std::uint32_t> local;
      for (Port port = t.first_local_port(); port < t.radix(); ++port) {
        const Endpoint far = t.neighbor(router, port);
        if (far.port == kNoPort) continue;
        CHECK((t.neighbor(far.router, far.port) == Endpoint{router, port}));
        CHECK_EQ(t.port_class(far.port) == t.port_class(port), true);
        if (t.is_global(port)) {
          CHECK(!t.has_hosts(router) && !t.has_hosts(far.router));
        } else {
          CHECK(t.has_hosts(router) != t.has_hosts(far.router));
          CHECK_EQ(t.group_of(far.router), t.group_of(router));
          local.insert(far.router);
        }
      }
      CHECK_EQ(local.size(), t.has_hosts(router) ? t.global_routers() : t.host_routers());
    }
  }
}

TEST(distances_are_those_of_a_search_along_the_links) {
  for (const Dragonfly& t : systems()) {
    for (std::uint32_t from = 0; from < t.num_routers(); ++from) {
      const std::vector<std::uint32_t> hops = hops_from(t, from);
      for (std::uint32_t to = 0; to < t.num_routers(); ++to) {
        if (!t.has_hosts(from) || !t.has_hosts(to)) continue;
        CHECK_EQ(t.minimal_hops(from, to), hops[to]);
        CHECK_EQ(hops[to], from == to ? 0U : t.group_of(from) == t.group_of(to) ? 2U : 3U);
      }
      for (std::uint32_t to = 0; to < t.num_routers(); ++to) {
        if (from == to) continue;
        const std::uint32_t left = t.minimal_hops(from, to);
        CHECK(hops[to] <= left && left <= t.diameter());
        for (std::uint32_t choice = 0; choice < t.num_choices(); choice += 4096) {
          const Endpoint next = t.neighbor(from, t.minimal_port(from, to, choice));
          REQUIRE(next.port != kNoPort);
          CHECK_EQ(t.minimal_hops(next.router, to), left - 1);
        }
      }
    }
  }
}

// By hand: 4 leaves and 4 spines with 4 links each lead to 16 other groups; in each group 4 * 3 pairs of
// leaves are 2 hops apart, and 68 leaves have 64 in other groups.
TEST(the_balanced_system_has_the_published_size_and_distances) {
  const Dragonfly t{{.p = 4, .h = 4, .arrangement = Arrangement::kAbsolute, .shape = leaf_spine(4, 4)}};
  CHECK_EQ(t.num_hosts(), 272U);
  CHECK_EQ(t.num_routers(), 136U);
  std::map<std::uint32_t, int> pairs;
  std::uint32_t ends = 0;
  for (std::uint32_t from = 0; from < t.num_routers(); ++from) {
    for (Port port = t.first_local_port(); port < t.radix(); ++port) {
      ends += t.neighbor(from, port).port != kNoPort ? 1U : 0U;
    }
    for (std::uint32_t to = 0; to < t.num_routers(); ++to) {
      if (from != to && t.has_hosts(from) && t.has_hosts(to)) ++pairs[t.minimal_hops(from, to)];
    }
  }
  CHECK_EQ(ends, 2U * 408U);
  CHECK((pairs == std::map<std::uint32_t, int>{{2, 204}, {3, 4352}}));
}

bool starts_on_own_links(const std::string& policy) { return policy == "vlb-gl" || policy == "vlb-g"; }

struct NamedPolicy {
  std::string name;
  Parameters given;
  [[nodiscard]] std::unique_ptr<RoutingPolicy> make() const {
    return make_policy(name, given, {.own_global_links = false});
  }
};

// Every policy that is allowed, and Valiant's ways inside a group.
std::vector<NamedPolicy> policies() {
  std::vector<NamedPolicy> all;
  for (const PolicyInfo& info : policy_registry()) {
    if (!starts_on_own_links(info.name)) all.push_back({info.name, needed_parameters(info.name)});
  }
  for (const char* name : {"val-g", "val-n"}) {
    for (const char* inside : {"local", "global"})
      all.push_back({name, {{"own_group", std::string{inside}}}});
  }
  return all;
}

TEST(no_circle_of_channels_closes_and_none_is_more_than_in_a_full_mesh) {
  const Dragonfly more_leaves{{.p = 1, .h = 1, .g = 3, .shape = leaf_spine(3, 2)}};
  const Dragonfly more_spines{{.p = 1, .h = 1, .g = 3, .shape = leaf_spine(2, 3)}};
  const Dragonfly pairs{{.p = 1, .h = 2, .g = 3, .trunking = 2, .shape = leaf_spine(2, 2)}};
  for (const Dragonfly* t : {&more_leaves, &more_spines, &pairs}) {
    for (const NamedPolicy& named : policies()) {
      const auto policy = named.make();
      const PathBudget budget = policy->budget().with_local_paths(t->longest_local());
      for (const VcScheme scheme : {VcScheme::kStage, VcScheme::kLadder, VcScheme::kHop}) {
        const VcLadder ladder{scheme, budget, t->longest_local().vcs};
        const ChannelWalk walk = walk_channels({*t, ladder}, *policy);
        if (!is_acyclic(walk.dependencies)) std::printf("%s\n", named.name.c_str());
        CHECK(is_acyclic(walk.dependencies));
        CHECK(walk.longest_path_hops <= budget.longest_path);
        if (budget.any_port || scheme == VcScheme::kHop) continue;
        PathBudget in_meshes = policy->budget();
        in_meshes.local_nonminimal = budget.local_nonminimal;  // one more for Valiant inside a group
        CHECK_EQ(ladder.required().local, VcLadder(scheme, in_meshes).required().local);
        CHECK_EQ(ladder.required().global, VcLadder(scheme, in_meshes).required().global);
      }
    }
  }
}

// Jobs may have all these policies at once: some of their packets turn at leaves, others at spines.
TEST(no_circle_closes_between_packets_of_different_policies) {
  const Dragonfly t{{.p = 1, .h = 1, .g = 3, .shape = leaf_spine(3, 2)}};
  PathBudget budget;
  for (const NamedPolicy& named : policies()) {
    const PathBudget own = named.make()->budget().with_local_paths(t.longest_local());
    if (own.any_port) continue;
    budget = {.nonminimal = budget.nonminimal || own.nonminimal,
              .intermediate_router = budget.intermediate_router || own.intermediate_router,
              .reconsiders = budget.reconsiders || own.reconsiders,
              .progressive = budget.progressive || own.progressive,
              .local_nonminimal = budget.local_nonminimal || own.local_nonminimal,
              .longest_path = std::max(budget.longest_path, own.longest_path)};
  }
  const auto is_free_of_circles = [&](VcScheme scheme) {
    const VcLadder ladder{scheme, budget, t.longest_local().vcs};
    std::vector<ChannelDependency> all;
    for (const NamedPolicy& named : policies()) {
      const auto policy = named.make();
      if (policy->budget().any_port) continue;
      const ChannelWalk walk = walk_channels({t, ladder}, *policy);
      all.insert(all.end(), walk.dependencies.begin(), walk.dependencies.end());
    }
    return is_acyclic(all);
  };
  CHECK(is_free_of_circles(VcScheme::kStage));
  CHECK(is_free_of_circles(VcScheme::kLadder));
  CHECK(!is_free_of_circles(VcScheme::kUnsafeSingle));
}

TEST(paths_have_the_hops_that_were_counted_by_hand) {
  const Dragonfly t{{.p = 1, .h = 1, .g = 4, .shape = leaf_spine(2, 3)}};
  // To a spine, the global link, and down; by a group: down and up between two global links; by a router:
  // the same; with a second decision at the spine: down and up before the first global link, too.
  for (const auto& [name, hops] :
       std::map<std::string, std::uint32_t>{{"min", 3}, {"val-g", 6}, {"val-n", 6}, {"par", 8}}) {
    const auto policy = make_policy(name, {}, {.own_global_links = false});
    const PathBudget budget = policy->budget().with_local_paths(t.longest_local());
    CHECK_EQ(budget.longest_path, hops);
    CHECK_EQ(walk_channels({t, {VcScheme::kLadder, budget, 1}}, *policy).longest_path_hops, hops);
  }
  for (const auto& [name, hops] : std::map<std::string, std::uint32_t>{{"q-adaptive", 6}, {"q-routing", 6}}) {
    CHECK_EQ(make_policy(name, {}, {})->budget().with_local_paths(t.longest_local()).longest_path, hops);
  }
}

TEST(policies_whose_paths_start_on_links_of_the_source_router_are_refused) {
  for (const char* name : {"vlb-gl", "vlb-g"}) {
    CHECK_THROWS(ConfigError,
                 Simulation{small_system({.p = 1, .h = 1, .shape = leaf_spine(2, 2)}, name, "uniform", 0.1)});
  }
}

TEST(environments_whose_paths_all_start_on_links_of_the_source_router_are_refused) {
  const auto make = [](const DragonflyParams& params, DecisionScope scope,
                       std::vector<NonMinimalKind> kinds) {
    SimulationSetup all = small_system(params, "min", "uniform", 0.1);
    all.options.decisions = usual_decisions();
    all.options.decisions->action = ActionMode::kPath;
    all.options.decisions->scope = scope;
    all.options.decisions->nonminimal_kinds = std::move(kinds);
    return Simulation{std::move(all)};
  };
  const DragonflyParams leaves_and_spines{.p = 1, .h = 1, .shape = leaf_spine(2, 2)};
  constexpr auto kG = NonMinimalKind::kG;
  CHECK_THROWS(ConfigError, make(leaves_and_spines, DecisionScope::kSource, {kG}));
  CHECK_THROWS(ConfigError, make(leaves_and_spines, DecisionScope::kSourceAll, {kG, NonMinimalKind::kGl}));
  make(leaves_and_spines, DecisionScope::kSource, {kG, NonMinimalKind::kLg});
  make(leaves_and_spines, DecisionScope::kSourceGroup, {kG});
  make(kSmall, DecisionScope::kSource, {kG});
}

// Every policy differs from minimal routing under traffic to the next group, which it has to spread.
TEST(everything_comes_home_under_every_policy_and_none_is_minimal_unnoticed) {
  const DragonflyParams params{.p = 2, .h = 1, .shape = leaf_spine(2, 3)};
  const auto run = [&params](const std::string& policy) {
    Simulation simulation{small_system(params, policy, "adv+1", 1.0)};
    for (int i = 0; i < 20; ++i) {
      simulation.run(i % 3 == 0 ? 200 : 297'400, &always);
      simulation.check_invariants();
    }
    CHECK(simulation.drain(kNever / 4, &always));
    simulation.check_invariants();
    const Statistics s = simulation.statistics();
    CHECK_EQ(s.generated, s.deliveries.delivered);
    CHECK(s.deliveries.delivered > 0);
    return simulation.trace_hash();
  };
  const std::uint64_t minimal = run("min");
  for (const PolicyInfo& policy : policy_registry()) {
    if (policy.name == "min" || starts_on_own_links(policy.name)) continue;
    const bool differs = run(policy.name) != minimal;
    if (!differs) std::printf("%s\n", policy.name.c_str());
    CHECK(differs);
  }
}

TEST(cuts_and_threads_change_nothing_between_leaves_and_spines) {
  const DragonflyParams params{.p = 2, .h = 1, .shape = leaf_spine(3, 2)};
  for (const char* policy : {"min", "val-n", "par", "pb", "ad0", "q-adaptive"}) {
    std::set<std::uint64_t> hashes;
    for (const std::uint32_t hosts_per_partition : {1U, 12U, 1000U}) {
      for (const std::uint32_t threads : {1U, 3U}) {
        SimulationSetup all = small_system(params, policy, "uniform", 0.5, InjectionKind::kPoisson);
        all.options.threads = threads;
        all.options.hosts_per_partition = hosts_per_partition;
        Simulation simulation{std::move(all)};
        simulation.run(5'000 * kNs, &always);
        hashes.insert(simulation.trace_hash());
      }
    }
    CHECK_EQ(hashes.size(), 1U);
    CHECK(!hashes.contains(0));
  }
}

// The demand of a matrix by routers: rows and columns of spines must be empty.
TEST(a_demand_matrix_by_routers_has_nothing_for_spines) {
  const Dragonfly t{{.p = 2, .h = 1, .g = 2, .shape = leaf_spine(2, 1)}};
  const auto pattern = [&t](std::uint32_t from, std::uint32_t to) {
    Matrix matrix{.rows = 6, .columns = 6, .values = std::vector<double>(36, 0.0)};
    matrix.values[from * 6 + to] = 1.0;
    PatternSpec spec{.name = "demand", .arguments = {}};
    spec.arguments.set("matrix", std::move(matrix));
    return make_pattern(t, 1, spec);
  };
  CHECK_THROWS(ConfigError, pattern(0, 2));
  CHECK_THROWS(ConfigError, pattern(5, 0));
  const PatternPtr to_the_last_leaf = pattern(0, 4);  // routers 0, 1, 3, 4 are leaves: hosts 6 and 7
  std::set<std::uint32_t> destinations;
  for (std::uint32_t message = 0; message < 64; ++message) {
    RandomStream random{1, Purpose::kDestination, 0, message};
    destinations.insert(to_the_last_leaf->destination(HostId{0}, message, random).value);
  }
  CHECK((destinations == std::set<std::uint32_t>{6, 7}));
  CHECK_EQ(to_the_last_leaf->share(HostId{2}), 0.0);
}

}  // namespace
