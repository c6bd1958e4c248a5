// Where messages go: every pattern, by hand on small systems.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "topology/dragonfly.hpp"
#include "traffic/registry.hpp"

namespace {

using namespace dragonfly;

const Dragonfly& small() {  // 72 hosts in 9 groups of 4 routers
  static const Dragonfly topology{DragonflyParams{.p = 2, .a = 4, .h = 2}};
  return topology;
}

PatternPtr build(const std::string& spec, std::uint64_t seed = 1) {
  return make_pattern(small(), seed, {.name = spec, .arguments = {}});
}

std::uint32_t draw(const TrafficPattern& pattern, std::uint32_t host, std::uint64_t message) {
  RandomStream random{3, Purpose::kDestination, host, message};
  return pattern.destination(HostId{host}, message, random).value;
}

std::set<std::uint32_t> destinations(const TrafficPattern& pattern, std::uint32_t host, int count = 2000) {
  std::set<std::uint32_t> seen;
  for (int i = 0; i < count; ++i) seen.insert(draw(pattern, host, static_cast<std::uint64_t>(i)));
  return seen;
}

std::uint32_t group(std::uint32_t host) { return host / 8; }

std::string message_of(const std::string& spec) {
  try {
    static_cast<void>(build(spec));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(uniform_reaches_every_host_and_the_sender_itself) {
  CHECK_EQ(destinations(*build("uniform"), 5).size(), 72U);
}

TEST(uniform_without_self_reaches_every_other_host) {
  const auto seen = destinations(*build("uniform:exclude_self=true"), 5);
  CHECK_EQ(seen.size(), 71U);
  CHECK(!seen.contains(5));
}

TEST(adversarial_reaches_exactly_the_hosts_of_one_group) {
  struct Case {
    const char* spec;
    std::uint32_t host;
    std::uint32_t target;
  };
  for (const Case& test : {Case{"adv+1", 0, 1},
                           {"adv+1", 71, 0},
                           {"adv+4", 40, 0},
                           {"adv-1", 3, 8},
                           {"adv-10", 3, 8},
                           {"ADV+19", 16, 3},
                           {" adv ", 0, 1},
                           {"adv:offset=-2", 16, 0}}) {
    const auto seen = destinations(*build(test.spec), test.host);
    CHECK_EQ(seen.size(), 8U);
    CHECK(std::all_of(seen.begin(), seen.end(),
                      [&](std::uint32_t host) { return group(host) == test.target; }));
  }
}

TEST(adversarial_refuses_to_stay_in_its_own_group) {
  for (const char* spec : {"adv+0", "adv+9", "adv-18"}) CHECK_THROWS(ConfigError, build(spec));
}

TEST(consecutive_reaches_exactly_the_next_h_groups) {
  std::set<std::uint32_t> groups;
  for (const std::uint32_t host : destinations(*build("advc"), 70)) groups.insert(group(host));
  CHECK(groups == (std::set<std::uint32_t>{0, 1}));
}

TEST(consecutive_needs_more_groups_than_global_ports) {
  const Dragonfly two{DragonflyParams{.p = 1, .a = 1, .h = 1, .g = 2}};
  CHECK(make_pattern(two, 1, {"advc", {}}) != nullptr);
  const Dragonfly few{DragonflyParams{.p = 1, .a = 2, .h = 3, .g = 2}};
  CHECK_THROWS(ConfigError, make_pattern(few, 1, {"advc", {}}));
}

TEST(permutation_is_one_to_one_without_fixed_points_and_fixed_by_the_seed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto pattern = build("permutation", seed);
    std::set<std::uint32_t> partners;
    for (std::uint32_t host = 0; host < 72; ++host) {
      const std::uint32_t partner = draw(*pattern, host, 0);
      CHECK(partner != host);
      CHECK_EQ(draw(*pattern, host, 99), partner);
      partners.insert(partner);
    }
    CHECK_EQ(partners.size(), 72U);
  }
  int same = 0;
  for (std::uint32_t host = 0; host < 72; ++host) {
    same += draw(*build("permutation", 1), host, 0) == draw(*build("permutation", 2), host, 0) ? 1 : 0;
  }
  CHECK(same < 10);
}

TEST(hotspot_sends_its_fraction_to_the_given_hosts) {
  const auto all = destinations(*build("hotspot:hosts=7;9,fraction=1"), 0);
  CHECK(all == (std::set<std::uint32_t>{7, 9}));
  CHECK_EQ(destinations(*build("hotspot:hosts=7;9,fraction=0"), 0).size(), 72U);
  CHECK_EQ(destinations(*build("hotspot:hosts=5,fraction=1"), 0).size(), 5U);
  CHECK(destinations(*build("hotspot:hosts=5;,fraction=1"), 0) == (std::set<std::uint32_t>{5}));
}

TEST(hotspot_refuses_impossible_arguments) {
  for (const char* spec : {"hotspot:hosts=0", "hotspot:hosts=73", "hotspot:hosts=7;72", "hotspot:hosts=7;7",
                           "hotspot:fraction=1.5", "hotspot:fraction=-0.1", "hotspot:fraction=much",
                           "hotspot:fraction", "hotspot:hosts=;", "hotspot:share=1"}) {
    CHECK_THROWS(ConfigError, build(spec));
  }
}

TEST(tornado_keeps_the_index_in_the_group_half_way_round) {
  const auto pattern = build("tornado");
  for (std::uint32_t host = 0; host < 72; ++host) CHECK_EQ(draw(*pattern, host, 0), (host + 4 * 8) % 72);
}

TEST(demand_rows_are_distributions_of_hosts_routers_or_groups) {
  for (const std::uint32_t rows : {72U, 36U, 9U}) {
    Matrix matrix{rows, rows, std::vector<double>(std::size_t{rows} * rows, 0.0)};
    matrix.values[2] = 1e-3;  // row 0: to 2 and 5, as 1 : 3
    matrix.values[5] = 3e-3;
    PatternSpec spec{.name = "demand", .arguments = {}};
    spec.arguments.set("matrix", matrix);
    const auto pattern = make_pattern(small(), 1, spec);
    const std::uint32_t per_row = 72 / rows;
    std::vector<int> count(rows, 0);
    for (std::uint64_t i = 0; i < 40'000; ++i) ++count[draw(*pattern, 0, i) / per_row];
    CHECK_EQ(count[2] + count[5], 40'000);
    CHECK(std::abs(count[2] - 10'000) < 4 * 87);  // standard deviation: sqrt(40000 * 3/16)
    CHECK(pattern->sends(HostId{per_row - 1}));
    CHECK(!pattern->sends(HostId{per_row}));
    CHECK_EQ(destinations(*pattern, 0).size(), 2U * per_row);
  }
}

TEST(demand_rows_share_the_load_of_the_largest_row) {
  for (const std::uint32_t rows : {72U, 36U, 9U}) {
    Matrix matrix{rows, rows, std::vector<double>(std::size_t{rows} * rows, 1.0)};
    for (std::uint32_t column = 0; column < rows; ++column) {
      matrix.values[column] = 0.25;                                  // row 0
      matrix.values[rows + column] = 0.0;                            // row 1
      matrix.values[std::size_t{2} * rows + column] *= 1.0 - 1e-12;  // row 2: equal up to rounding
    }
    PatternSpec spec{.name = "demand", .arguments = {}};
    spec.arguments.set("matrix", matrix);
    const auto pattern = make_pattern(small(), 1, spec);
    const std::uint32_t per_row = 72 / rows;
    CHECK_EQ(pattern->share(HostId{0}), 0.25);
    CHECK_EQ(pattern->share(HostId{per_row}), 0.0);
    CHECK(!pattern->sends(HostId{per_row}));
    CHECK_EQ(pattern->share(HostId{2 * per_row}), 1.0);
    CHECK_EQ(pattern->share(HostId{71}), 1.0);
  }
}

TEST(demand_refuses_what_is_not_a_traffic_matrix) {
  const auto attempt = [](std::uint64_t rows, std::uint64_t columns, double value) {
    PatternSpec spec{.name = "demand", .arguments = {}};
    spec.arguments.set("matrix", Matrix{rows, columns, std::vector<double>(rows * columns, value)});
    return make_pattern(small(), 1, spec);
  };
  CHECK(attempt(9, 9, 1.0) != nullptr);
  CHECK_THROWS(ConfigError, attempt(8, 8, 1.0));
  CHECK_THROWS(ConfigError, attempt(9, 8, 1.0));
  CHECK_THROWS(ConfigError, attempt(9, 9, 0.0));
  CHECK_THROWS(ConfigError, attempt(9, 9, -1.0));
  CHECK_THROWS(ConfigError, attempt(9, 9, std::nan("")));
  CHECK_THROWS(ConfigError, attempt(9, 9, std::numeric_limits<double>::infinity()));
  CHECK_THROWS(ConfigError, attempt(9, 9, std::numeric_limits<double>::max()));
  CHECK_THROWS(ConfigError, build("demand"));
}

PatternSpec mixture(const std::vector<PatternPart>& parts, bool confined) {
  PatternSpec spec{.name = "mixture", .arguments = {}};
  spec.arguments.set("parts", parts);
  spec.arguments.set("confined", confined);
  return spec;
}

TEST(mixture_gives_each_host_its_own_pattern_or_none) {
  const auto pattern = make_pattern(
      small(), 1,
      mixture({{.spec = {"adv+1", {}}, .hosts = {0, 9}}, {.spec = {"adv+2", {}}, .hosts = {1}}}, false));
  CHECK_EQ(group(draw(*pattern, 0, 0)), 1U);
  CHECK_EQ(group(draw(*pattern, 9, 0)), 2U);
  CHECK_EQ(group(draw(*pattern, 1, 0)), 2U);
  CHECK_EQ(destinations(*pattern, 0).size(), 8U);
  CHECK(!pattern->sends(HostId{2}));
}

TEST(confined_mixture_stays_among_its_own_hosts_and_counts_their_groups) {
  // Groups 0 (two hosts), 3 (one) and 8 (one) are neighbours in the area.
  const auto pattern =
      make_pattern(small(), 1, mixture({{.spec = {"adv+1", {}}, .hosts = {24, 0, 71, 5}}}, true));
  CHECK(destinations(*pattern, 0) == (std::set<std::uint32_t>{24}));
  CHECK(destinations(*pattern, 24) == (std::set<std::uint32_t>{71}));
  CHECK(destinations(*pattern, 71) == (std::set<std::uint32_t>{0, 5}));
}

TEST(mixture_refuses_overlaps_strangers_and_empty_sets) {
  const auto attempt = [](Integers first, Integers second) {
    return make_pattern(small(), 1,
                        mixture({{.spec = {"uniform", {}}, .hosts = std::move(first)},
                                 {.spec = {"uniform", {}}, .hosts = std::move(second)}},
                                false));
  };
  CHECK(attempt({0}, {1}) != nullptr);
  CHECK_THROWS(ConfigError, attempt({0}, {0}));
  CHECK_THROWS(ConfigError, attempt({0, 0}, {1}));
  CHECK_THROWS(ConfigError, attempt({0}, {72}));
  CHECK_THROWS(ConfigError, attempt({0}, {-1}));
  CHECK_THROWS(ConfigError, attempt({0}, {}));
}

TEST(parts_of_a_mixture_draw_different_permutations) {
  const auto pattern =
      make_pattern(small(), 1,
                   mixture({{.spec = {"permutation", {}}, .hosts = {0, 1, 2, 3, 4, 5, 6, 7}},
                            {.spec = {"permutation", {}}, .hosts = {8, 9, 10, 11, 12, 13, 14, 15}}},
                           true));
  int same = 0;
  for (std::uint32_t host = 0; host < 8; ++host)
    same += draw(*pattern, host, 0) + 8 == draw(*pattern, host + 8, 0);
  CHECK(same < 8);
}

TEST(lia_c1_has_four_areas_that_keep_to_themselves) {
  const auto pattern = build("lia-c1");  // 18 hosts, 2.25 groups an area
  for (std::uint32_t host = 0; host < 72; ++host) {
    for (const std::uint32_t target : destinations(*pattern, host, 300)) CHECK_EQ(target / 18, host / 18);
  }
  CHECK_EQ(destinations(*pattern, 3).size(), 18U);
  CHECK(destinations(*pattern, 34) ==
        (std::set<std::uint32_t>{18, 19, 20, 21, 22, 23}));  // group 4 to group 2
}

TEST(lia_c2_interleaves_odd_hosts_adv_1_and_even_hosts_adv_h) {
  const auto pattern = build("lia-c2");
  CHECK(destinations(*pattern, 1) == (std::set<std::uint32_t>{9, 11, 13, 15}));
  CHECK(destinations(*pattern, 70) == (std::set<std::uint32_t>{8, 10, 12, 14}));
}

TEST(weighted_mixture_draws_by_weight_among_the_patterns_that_send) {
  const auto pattern = build("weighted:adv+1=3,adv+2=1");
  int first = 0;
  for (std::uint64_t i = 0; i < 40'000; ++i) first += group(draw(*pattern, 0, i)) == 1 ? 1 : 0;
  CHECK(std::abs(first - 30'000) < 4 * 87);
  PatternSpec spec{.name = "weighted", .arguments = {}};
  spec.arguments.set("parts",
                     std::vector<PatternPart>{
                         {.spec = mixture({{.spec = {"adv+1", {}}, .hosts = {0, 1}}}, false), .hosts = {}},
                         {.spec = mixture({{.spec = {"adv+2", {}}, .hosts = {1, 2}}}, false), .hosts = {}}});
  const auto partial = make_pattern(small(), 1, spec);
  CHECK_EQ(destinations(*partial, 0).size(), 8U);
  CHECK_EQ(destinations(*partial, 1).size(), 16U);
  CHECK_EQ(group(draw(*partial, 2, 0)), 2U);
  CHECK(!partial->sends(HostId{3}));
}

TEST(weighted_mixture_refuses_impossible_weights) {
  for (const char* spec :
       {"weighted", "weighted:uniform=0", "weighted:uniform=-1", "weighted:uniform=much",
        "weighted:unifrom=1", "weighted:uniform", "weighted:=1", "weighted:weighted:uniform=1=1"}) {
    CHECK_THROWS(ConfigError, build(spec));
  }
}

TEST(unknown_names_come_with_the_nearest_match_and_the_list) {
  CHECK(message_of("unifrom").find("did you mean 'uniform'?") != std::string::npos);
  CHECK(message_of("tornedo").find("did you mean 'tornado'? known: uniform, adv+1") != std::string::npos);
  CHECK(message_of("hotspot:host=3").find("did you mean 'hosts'?") != std::string::npos);
  for (const char* spec :
       {"", ":", "adv+", "adv-x", "adv+1+1", "adv+99999999999999999999", "uniform+1", "adv:+1"}) {
    CHECK_THROWS(ConfigError, build(spec));
  }
  CHECK_THROWS(ConfigError, build(std::string(1'000'000, 'a')));
}

TEST(every_registered_pattern_says_what_it_is_and_its_example_builds) {
  std::set<std::string> names;
  for (const PatternInfo& info : pattern_registry()) {
    CHECK(names.insert(info.name).second);
    CHECK(!info.summary.empty() && !info.source.empty());
    if (info.example.empty()) continue;
    if (info.closed_loop()) {
      const Dragonfly topology{{.p = 2, .a = 4, .h = 2}};
      const auto workload = make_workload(topology, 1, parse_pattern_spec(info.example), 128);
      CHECK(workload->total_packets() > 0);
      continue;
    }
    const auto pattern = build(info.example);
    for (std::uint32_t host = 0; host < 72; ++host) {
      CHECK(pattern->sends(HostId{host}));
      CHECK(draw(*pattern, host, 0) < 72U);
      CHECK_EQ(draw(*pattern, host, 17), draw(*build(info.example), host, 17));
    }
  }
}

}  // namespace
