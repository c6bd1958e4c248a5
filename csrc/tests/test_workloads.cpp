// The HPC workloads: neighbours and communicators by hand on small grids, and rounds of messages.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "topology/dragonfly.hpp"
#include "traffic/registry.hpp"
#include "traffic/synthetic_source.hpp"

namespace {

using namespace dragonfly;
using Hosts = std::vector<std::uint32_t>;

constexpr std::uint32_t kHosts = 72;

const Dragonfly& small() {  // 2 x 4 x 9 hosts
  static const Dragonfly topology{DragonflyParams{.p = 2, .a = 4, .h = 2}};
  return topology;
}

PatternPtr build(const std::string& spec, std::uint64_t seed = 1) {
  return make_pattern(small(), seed, {.name = spec, .arguments = {}});
}

Hosts targets(const TrafficPattern& pattern, std::uint32_t host, std::uint32_t count,
              std::uint64_t first = 0) {
  Hosts result;
  for (std::uint64_t message = first; message < first + count; ++message) {
    RandomStream random{3, Purpose::kDestination, host, message};
    result.push_back(pattern.destination(HostId{host}, message, random).value);
  }
  return result;
}

Hosts round_of(const TrafficPattern& pattern, std::uint32_t host) {
  return targets(pattern, host, pattern.round_messages(HostId{host}));
}

std::string message_of(const std::string& spec) {
  try {
    static_cast<void>(build(spec));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& spec, const std::string& text) {
  return message_of(spec).find(text) != std::string::npos;
}

TEST(stencil_of_2550_hosts_is_the_torus_of_5_by_10_by_51) {
  const Dragonfly paper{DragonflyParams{.p = 5, .a = 10, .h = 5}};
  for (const char* spec : {"stencil3d", "stencil3d:grid=5;10;51"}) {
    const auto pattern = make_pattern(paper, 1, {.name = spec, .arguments = {}});
    CHECK(round_of(*pattern, 0) == (Hosts{4, 1, 45, 5, 2500, 50}));
    CHECK(round_of(*pattern, 2549) == (Hosts{2548, 2545, 2544, 2504, 2499, 49}));
    CHECK(round_of(*pattern, 62) == (Hosts{61, 63, 57, 67, 12, 112}));
  }
}

TEST(stencil_neighbours_are_mutual) {
  for (const char* spec :
       {"stencil3d", "stencil3d:wrap=false", "stencil3d:grid=3;3;8", "stencil3d:grid=72;1;1",
        "stencil3d:grid=2;1;36,wrap=false", "stencil3d:grid=2;2;18"}) {
    const auto pattern = build(spec);
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> balance;
    for (std::uint32_t host = 0; host < kHosts; ++host) {
      for (const std::uint32_t target : round_of(*pattern, host)) {
        CHECK(target != host);
        balance[std::minmax(host, target)] += host < target ? 1 : -1;
      }
    }
    for (const auto& [pair, difference] : balance) CHECK_EQ(difference, 0);
  }
}

TEST(stencil_without_wrap_ends_at_the_faces) {
  const auto pattern = build("stencil3d:grid=3;4;6,wrap=false");
  CHECK(round_of(*pattern, 0) == (Hosts{1, 3, 12}));
  CHECK(round_of(*pattern, 71) == (Hosts{70, 68, 59}));
  CHECK(round_of(*pattern, 1) == (Hosts{0, 2, 4, 13}));
  CHECK(round_of(*pattern, 16) == (Hosts{15, 17, 13, 19, 4, 28}));
}

TEST(stencil_on_short_lines_sends_twice_round_a_ring_of_two_and_nothing_along_a_line_of_one) {
  CHECK(round_of(*build("stencil3d:grid=1;1;72"), 0) == (Hosts{71, 1}));
  CHECK(round_of(*build("stencil3d:grid=2;1;36"), 3) == (Hosts{2, 2, 1, 5}));
  CHECK(round_of(*build("stencil3d:grid=2;1;36,wrap=false"), 3) == (Hosts{2, 1, 5}));
}

TEST(many_to_many_is_all_to_all_along_z_in_rising_order) {
  const auto pattern = build("many-to-many");
  for (std::uint32_t host = 0; host < kHosts; ++host) {
    Hosts expected;
    for (std::uint32_t other = host % 8; other < kHosts; other += 8) {
      if (other != host) expected.push_back(other);
    }
    CHECK(round_of(*pattern, host) == expected);
    CHECK(targets(*pattern, host, 8, 8 * 5) == expected);
  }
  CHECK(round_of(*build("many-to-many:grid=6;4;3"), 30) == (Hosts{6, 54}));
}

TEST(a_grid_has_as_many_places_as_hosts) {
  for (const std::string name : {"stencil3d", "many-to-many"}) {
    for (const char* grid :
         {"2;4;8", "72;1", "8;9", "2;2;2;9", "-2;-4;9", "0;0;0", "9223372036854775807;2;2"}) {
      CHECK(says(name + ":grid=" + grid, name + ".grid = '" + grid + "': must be three lengths x;y;z"));
    }
    CHECK(says(name + ":grid=2;4;8", "x * y * z = 72"));
    CHECK(says(name + ":grid=72", "grid = 72: must be a list of integers"));
    CHECK(says(name + ":grid=a;b;c", "must be a list of integers"));
    CHECK(says(name + ":rounds=1", "rounds = 1: must be true or false"));
    CHECK(says(name + ":gird=2;4;9", "did you mean 'grid'?"));
  }
  CHECK(says("stencil3d:wrap=yes", "must be true or false"));
  CHECK(says("many-to-many:grid=8;9;1", "at least two hosts"));
  const Dragonfly alone{DragonflyParams{.p = 1, .a = 1, .h = 0, .g = 1}};
  for (const char* name : {"stencil3d", "many-to-many", "random-neighbors"}) {
    CHECK_THROWS(ConfigError, make_pattern(alone, 1, {name, {}}));
  }
}

PatternSpec confined(const std::string& name, Integers hosts) {
  PatternSpec spec{.name = "mixture", .arguments = {}};
  spec.arguments.set("parts", std::vector<PatternPart>{{.spec = {name, {}}, .hosts = std::move(hosts)}});
  spec.arguments.set("confined", true);
  return spec;
}

TEST(workloads_live_in_an_area_too_and_keep_their_rounds_there) {
  const Integers hosts{3, 10, 20, 21, 40, 41, 60, 71};  // places 0 .. 7
  CHECK(round_of(*make_pattern(small(), 1, confined("stencil3d:grid=1;2;4", hosts)), 20) ==
        (Hosts{21, 21, 3, 40}));
  CHECK(round_of(*make_pattern(small(), 1, confined("many-to-many:grid=2;1;4", hosts)), 41) ==
        (Hosts{10, 21, 71}));
  const auto random = make_pattern(small(), 1, confined("random-neighbors:min=2,max=4", hosts));
  for (const std::int64_t host : hosts) {
    for (const std::uint32_t target : targets(*random, static_cast<std::uint32_t>(host), 100)) {
      CHECK(std::find(hosts.begin(), hosts.end(), target) != hosts.end() && target != host);
    }
  }
  CHECK_EQ(random->round_messages(HostId{0}), 1U);  // does not send
  CHECK(!random->sends(HostId{0}));
  CHECK_THROWS(ConfigError, make_pattern(small(), 1, confined("stencil3d", hosts)));
  CHECK_THROWS(ConfigError, make_pattern(small(), 1, confined("random-neighbors:min=2,max=8", hosts)));
}

TEST(random_neighbours_are_6_to_20_others_drawn_anew_each_round) {
  const auto pattern = build("random-neighbors");
  std::set<std::uint32_t> sizes;
  for (std::uint32_t host = 0; host < kHosts; ++host) {
    sizes.insert(pattern->round_messages(HostId{host}));
    const Hosts drawn = targets(*pattern, host, 1500);
    const std::set<std::uint32_t> seen(drawn.begin(), drawn.end());
    CHECK_EQ(seen.size(), 71U);
    CHECK(!seen.contains(host));
  }
  CHECK_EQ(*sizes.begin(), 6U);
  CHECK_EQ(*sizes.rbegin(), 20U);
}

TEST(fixed_neighbours_are_different_and_the_same_in_every_round) {
  const auto pattern = build("random-neighbors:fixed=true,min=3,max=5");
  for (std::uint32_t host = 0; host < kHosts; ++host) {
    const Hosts neighbors = round_of(*pattern, host);
    const auto count = static_cast<std::uint32_t>(neighbors.size());
    CHECK(count >= 3 && count <= 5);
    const std::set<std::uint32_t> seen(neighbors.begin(), neighbors.end());
    CHECK(seen.size() == count && !seen.contains(host));
    CHECK(targets(*pattern, host, count, std::uint64_t{count} * 1000) == neighbors);
  }
  CHECK(round_of(*build("random-neighbors:fixed=true", 1), 5) ==
        round_of(*build("random-neighbors:fixed=true", 1), 5));
  CHECK(round_of(*build("random-neighbors:fixed=true", 1), 5) !=
        round_of(*build("random-neighbors:fixed=true", 2), 5));
  const Hosts all = round_of(*build("random-neighbors:fixed=true,min=71,max=71"), 7);
  CHECK_EQ(std::set<std::uint32_t>(all.begin(), all.end()).size(), 71U);
}

TEST(random_neighbours_refuse_impossible_numbers_of_targets) {
  CHECK(says("random-neighbors:max=72", "random-neighbors.max = 72: must be 1 to 71"));
  CHECK(says("random-neighbors:max=0", "random-neighbors.max = 0: must be 1 to 71"));
  CHECK(says("random-neighbors:min=0", "random-neighbors.min = 0: must be 1 to max, 20"));
  CHECK(says("random-neighbors:min=21", "random-neighbors.min = 21: must be 1 to max, 20"));
  CHECK(says("random-neighbors:max=5", "random-neighbors.min = 6: must be 1 to max, 5"));
  CHECK(says("random-neighbors:min=6.5", "must be an integer"));
  CHECK(says("random-neighbors:fixed=2", "must be true or false"));
  const Dragonfly large{DragonflyParams{.p = 4, .a = 8, .h = 4}};
  CHECK_THROWS(ConfigError, make_pattern(large, 1, {"random-neighbors:max=257", {}}));
  CHECK(make_pattern(large, 1, {"random-neighbors:max=256", {}}) != nullptr);
}

SyntheticParams params(InjectionKind kind) {
  return {.seed = 5,
          .injection = kind,
          .message_packets = 1,
          .packet_ps = 32'000,
          .trial_ps = 4'000,
          .first_ps = 1'000};
}

std::vector<TimePs> times(const TrafficSource& source, std::uint32_t host, TimePs end_ps) {
  std::vector<TimePs> result;
  SourceCursor cursor;
  for (source.start(HostId{host}, cursor); cursor.time_ps < end_ps; source.advance(HostId{host}, cursor)) {
    result.push_back(cursor.time_ps);
  }
  return result;
}

TEST(a_round_starts_at_one_instant_and_rounds_offer_the_load) {
  // Six packets of 32 ns at load 0.5: a round every 384 ns. One at a time: a message every 64 ns.
  const auto rounds = make_synthetic_source({{0, build("stencil3d"), 0.5}}, params(InjectionKind::kPeriodic));
  std::vector<TimePs> expected(6, 1'000);
  expected.insert(expected.end(), 6, 385'000);
  CHECK(times(*rounds, 9, 700'000) == expected);
  const auto single =
      make_synthetic_source({{0, build("stencil3d:rounds=false"), 0.5}}, params(InjectionKind::kPeriodic));
  CHECK(times(*single, 9, 140'000) == (std::vector<TimePs>{1'000, 65'000, 129'000}));
  for (const char* spec : {"stencil3d", "many-to-many", "random-neighbors"}) {
    for (const auto kind : {InjectionKind::kPeriodic, InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
      const auto source = make_synthetic_source({{0, build(spec), 0.4}}, params(kind));
      double messages = 0;
      double variance = 0;  // of as many rounds as a Poisson process has, and of the last one being cut off
      for (std::uint32_t host = 0; host < kHosts; ++host) {
        messages += static_cast<double>(times(*source, host, 32'000'000).size());
        const double round = build(spec)->round_messages(HostId{host});
        variance += 1000 * 0.4 * round + round * round;
      }
      CHECK(std::fabs(messages - kHosts * 1000 * 0.4) < 5 * std::sqrt(variance));
    }
  }
}

TEST(rounds_keep_their_mean_where_the_interval_is_no_whole_number_of_picoseconds) {
  // 6 * 32 / 0.9 = 213.333... ns
  const auto source = make_synthetic_source({{0, build("stencil3d"), 0.9}}, params(InjectionKind::kPeriodic));
  const HostId host{0};
  SourceCursor cursor;
  source->start(host, cursor);
  const auto next_round = [&] {
    for (int i = 0; i < 6; ++i) source->advance(host, cursor);
    return cursor.time_ps;
  };
  CHECK_EQ(next_round(), 214'333);
  CHECK_EQ(next_round(), 427'667);
  CHECK_EQ(next_round(), 641'000);
  for (int i = 0; i < 10; ++i) source->skip(host, cursor);  // 320 ns: the round after it has to wait
  CHECK_EQ(next_round(), 961'000);
  for (int i = 0; i < 3'000'000; ++i) (void)next_round();
  CHECK_EQ(cursor.time_ps, 961'000 + 640'000'000'000);
}

TEST(the_rest_of_a_round_is_tried_again_every_packet_time) {
  const auto source = make_synthetic_source({{0, build("stencil3d"), 0.5}}, params(InjectionKind::kPeriodic));
  const HostId host{0};
  SourceCursor cursor;
  source->start(host, cursor);
  source->advance(host, cursor);
  for (int i = 0; i < 3; ++i) source->skip(host, cursor);
  CHECK_EQ(cursor.message, 1U);
  CHECK_EQ(cursor.time_ps, 97'000);
  for (int i = 0; i < 4; ++i) source->advance(host, cursor);
  CHECK_EQ(cursor.time_ps, 97'000);
  source->advance(host, cursor);
  CHECK_EQ(cursor.time_ps, 385'000);  // the next round is not late
  for (int i = 0; i < 20; ++i) source->skip(host, cursor);
  for (int i = 0; i < 6; ++i) source->advance(host, cursor);
  CHECK_EQ(cursor.message, 12U);
  CHECK_EQ(cursor.time_ps, 385'000 + 20 * 32'000);  // due at 769 ns, but the round before is through only now
  for (int i = 0; i < 6; ++i) source->advance(host, cursor);
  CHECK_EQ(cursor.time_ps, 385'000 + 20 * 32'000 + 384'000);
}

TEST(a_step_of_a_schedule_ends_a_late_round) {
  const auto source = make_synthetic_source({{0, build("stencil3d"), 0.5}, {50'000, build("adv+1"), 0.5}},
                                            params(InjectionKind::kPeriodic));
  const HostId host{0};
  SourceCursor cursor;
  source->start(host, cursor);
  source->skip(host, cursor);
  CHECK_EQ(cursor.time_ps, 33'000);
  source->skip(host, cursor);
  CHECK_EQ(cursor.time_ps, 65'000);  // the grid of the new step
  CHECK_EQ(source->describe(host, cursor).destination.value / 8, 1U);
  source->advance(host, cursor);
  CHECK_EQ(cursor.time_ps, 129'000);
}

TEST(rounds_at_the_smallest_load_never_overflow_time) {
  for (const auto kind : {InjectionKind::kPeriodic, InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
    const auto source = make_synthetic_source({{0, build("stencil3d"), 5e-324}}, params(kind));
    SourceCursor cursor;
    source->start(HostId{0}, cursor);
    for (int i = 0; i < 20; ++i) source->advance(HostId{0}, cursor);
    CHECK_EQ(cursor.time_ps, kNever);
  }
}

}  // namespace
