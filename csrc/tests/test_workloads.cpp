// The HPC workloads: neighbours and communicators by hand on small grids, and rounds of messages.
#include <algorithm>
#include <cmath>
#include <cstdint>
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

TEST(a_round_starts_at_one_time_and_rounds_offer_the_load) {
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
      double variance = 0;  // variance of a Poisson number of rounds, the last of which is cut off
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
