// Times at which messages start: arrival processes, schedules and traces.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "tests/sources.hpp"
#include "topology/dragonfly.hpp"
#include "traffic/switched_source.hpp"
#include "traffic/synthetic_source.hpp"
#include "traffic/trace_source.hpp"

namespace {

using namespace dragonfly;

TEST(destinations_that_are_drawn_ahead_are_those_that_messages_have) {
  for (const char* pattern : {"uniform", "adv+1", "tornado"}) {
    const auto source = make_synthetic_source({{0, build(pattern), 0.4}, {400'000, build("uniform"), 0.9}},
                                              params(InjectionKind::kPoisson));
    CHECK_EQ(source->drawn_packets(), 1U);
    for (const std::uint32_t host : {0U, 17U, 71U}) {
      SourceCursor cursor;
      source->start(HostId{host}, cursor);
      for (int i = 0; i < 40 && cursor.time_ps < kNever; ++i) {
        std::array<std::uint32_t, TrafficSource::kPrefetchedDestinations> drawn{};
        source->draw_ahead(HostId{host}, cursor, drawn);
        CHECK_EQ(drawn[cursor.message % drawn.size()],
                 source->describe(HostId{host}, cursor).destination.value);
        source->advance(HostId{host}, cursor);
      }
    }
  }
}

TEST(skipping_until_a_time_equals_skipping_message_by_message) {
  const auto check = [](const TrafficSource& source) {
    for (const std::uint32_t host : {0U, 17U, 71U}) {
      SourceCursor cursor;
      source.start(HostId{host}, cursor);
      TimePs last_ps = 0;
      for (int i = 0; i < 60; ++i) {
        last_ps += 1'000 * (i * i % 97) + i % 2;
        SourceCursor expected = cursor;
        std::uint64_t skips = 0;
        for (; expected.time_ps <= last_ps; ++skips) source.skip(HostId{host}, expected);
        CHECK_EQ(source.skip_until(HostId{host}, cursor, last_ps), skips);
        CHECK_EQ(cursor.time_ps, expected.time_ps);
        CHECK_EQ(cursor.message, expected.message);
        CHECK_EQ(cursor.trial, expected.trial);
        CHECK_EQ(cursor.step, expected.step);
        CHECK_EQ(cursor.late, expected.late);
        if (i % 3 == 0 && cursor.time_ps < kNever) source.advance(HostId{host}, cursor);
      }
    }
  };
  for (const InjectionKind kind :
       {InjectionKind::kPeriodic, InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
    for (const PeriodicIntervals intervals : {PeriodicIntervals::kExact, PeriodicIntervals::kWholeNs}) {
      SyntheticParams with = params(kind);
      with.intervals = intervals;
      const auto single = make_synthetic_source({{0, build("uniform"), 0.9}}, with);
      check(*single);
      // stencil3d sends in rounds, hotspot loads hosts unevenly.
      const std::shared_ptr<const TrafficSource> steps = make_synthetic_source(
          {{0, build("adv+1"), 0.3}, {200'500, build("stencil3d"), 0.9}, {700'000, build("hotspot"), 0.45}},
          with);
      check(*steps);
      check(*make_switched_source(
          steps,
          {{.after_ps = 450'000, .source = make_synthetic_source({{0, build("tornado"), 1.0}}, with)}}));
    }
  }
}

TEST(hosts_of_random_processes_are_independent) {
  const auto source = make_synthetic_source({{0, build("uniform"), 0.4}}, params(InjectionKind::kPoisson));
  CHECK(sent_by(*source, 0, 1'000'000) != sent_by(*source, 1, 1'000'000));
}

TEST(an_arrival_on_the_start_of_a_step_belongs_to_the_new_step) {
  const auto source = make_synthetic_source({{0, build("adv+1"), 0.5}, {65'000, build("adv+2"), 0.5}},
                                            params(InjectionKind::kPeriodic));
  const auto sent = sent_by(*source, 0, 70'000);
  CHECK_EQ(sent.size(), 2U);
  CHECK_EQ(sent[1].time_ps, 65'000);
  CHECK_EQ(sent[1].destination / 8, 2U);
}

TEST(steps_before_the_first_time_are_skipped_and_later_starts_are_silent_until_then) {
  const auto early = make_synthetic_source({{0, build("adv+1"), 0.5}, {500, build("adv+2"), 0.5}},
                                           params(InjectionKind::kPeriodic));
  CHECK_EQ(sent_by(*early, 0, 2'000).front().destination / 8, 2U);
  for (const InjectionKind kind :
       {InjectionKind::kPeriodic, InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
    const auto late = make_synthetic_source({{777'000, build("uniform"), 1.0}}, params(kind));
    CHECK(sent_by(*late, 0, 777'000).empty());
    CHECK(!sent_by(*late, 0, 2'000'000).empty());
  }
}

TEST(hosts_that_do_not_send_are_silent_in_their_steps_only) {
  PatternSpec spec{.name = "mixture", .arguments = {}};
  spec.arguments.set("parts", std::vector<PatternPart>{{.spec = {"uniform", {}}, .hosts = {0}}});
  const PatternPtr only_first = make_pattern(small(), 1, spec);
  const auto source = make_synthetic_source(
      {{0, only_first, 0.5}, {100'000, build("uniform"), 0.5}, {200'000, only_first, 0.5}},
      params(InjectionKind::kPeriodic));
  CHECK_EQ(sent_by(*source, 0, 1'000'000).size(), 16U);
  CHECK(times_of(sent_by(*source, 1, kNever)) == (std::vector<TimePs>{129'000, 193'000}));
  const auto never = make_synthetic_source({{0, only_first, 0.5}}, params(InjectionKind::kPeriodic));
  SourceCursor cursor;
  never->start(HostId{1}, cursor);
  CHECK_EQ(cursor.time_ps, kNever);
  never->advance(HostId{1}, cursor);
  CHECK_EQ(cursor.time_ps, kNever);
}

TEST(the_smallest_load_never_overflows_time) {
  for (const InjectionKind kind :
       {InjectionKind::kPeriodic, InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
    const auto source = make_synthetic_source({{0, build("uniform"), 5e-324}}, params(kind));
    SourceCursor cursor;
    source->start(HostId{0}, cursor);
    for (int i = 0; i < 3; ++i) {
      source->advance(HostId{0}, cursor);
      CHECK_EQ(cursor.time_ps, kNever);
    }
  }
}

struct Rows {
  std::vector<std::int64_t> time_ps{1'000, 1'000, 2'000};
  std::vector<std::uint32_t> source{3, 0, 3};
  std::vector<std::uint32_t> destination{3, 9, 8};
  std::vector<std::uint32_t> packets{1, 2, 3};
  std::vector<std::int64_t> route_offsets{};
  std::vector<std::uint32_t> routes{};

  auto build() const {
    return make_trace_source(small(), {time_ps, source, destination, packets, route_offsets, routes});
  }
  std::string error() const {
    try {
      static_cast<void>(build());
    } catch (const ConfigError& caught) {
      return caught.what();
    }
    return "";
  }
};

TEST(a_trace_names_the_virtual_channels_that_its_routes_need) {
  // In row 2: from router 1 of group 0 to router 4 of group 1. A router named twice in a row counts once.
  const auto needs = [](std::vector<std::uint32_t> route) {
    route.erase(std::unique(route.begin(), route.end()), route.end());
    Rows rows;
    rows.route_offsets = {0, 0, 0, static_cast<std::int64_t>(route.size())};
    rows.routes = std::move(route);
    return rows.build()->route_needs();
  };
  const auto near = [](std::uint32_t from, std::uint32_t to) {
    return small().links_between(from, to).front().router;
  };
  const std::uint32_t aside = near(0, 1) == 2 ? 3 : 2;
  const std::uint32_t beyond = near(1, 2) == 6 ? 7 : 6;
  const auto plain = needs({1, near(0, 1), near(1, 0), 4});
  CHECK(!plain.leaves_late && !plain.local_nonminimal && !plain.any_port);
  const auto by_group = needs({1, near(0, 2), near(2, 0), 8, near(2, 1), near(1, 2), 4});
  CHECK(!by_group.leaves_late && !by_group.local_nonminimal && !by_group.any_port);
  const auto late = needs({1, aside, near(0, 1), near(1, 0), 4});
  CHECK(late.leaves_late && !late.local_nonminimal && !late.any_port);
  const auto inside = needs({1, near(0, 2), near(2, 0), near(2, 1), near(1, 2), beyond, 4});
  CHECK(inside.local_nonminimal && !inside.any_port);
  CHECK(needs({1, aside, 1, near(0, 1), near(1, 0), 4}).any_port);
  CHECK(needs({1, near(0, 2), near(2, 0), near(2, 3), near(3, 2), near(3, 1), near(1, 3), 4}).any_port);
  CHECK(needs({1, near(0, 2), near(2, 0), 8, 9, 10, 11, near(2, 1), near(1, 2), 4}).any_port);
}

TEST(a_trace_refuses_a_route_that_is_longer_than_a_log_holds) {
  const auto error = [](std::uint32_t routers) {
    Rows rows;
    rows.route_offsets = {0, static_cast<std::int64_t>(routers), static_cast<std::int64_t>(routers),
                          static_cast<std::int64_t>(routers)};
    for (std::uint32_t i = 0; i < routers; ++i) rows.routes.push_back(1 + i % 2);
    return rows.error();
  };
  CHECK_EQ(error(kMaxRouteRouters), "");
  CHECK(error(kMaxRouteRouters + 2).find("a route has at most 31 routers") != std::string::npos);
}

TEST(what_is_offered_is_the_mean_of_the_steps_in_force) {
  SyntheticParams known = params(InjectionKind::kPeriodic);
  const auto near = [](double a, double b) { return std::fabs(a - b) < 1e-9; };
  const std::vector<TrafficStep> steps{{0, build("hotspot:hosts=9;,fraction=0.5"), 0.2},
                                       {1'000'000, build("uniform"), 0.4}};
  CHECK(std::isnan(
      make_synthetic_source(steps, known)->offered(0, 1'000).mean));  // NaN: the number of hosts is unknown
  known.num_hosts = 72;
  const auto source = make_synthetic_source(steps, known);
  for (int again = 0; again < 2; ++again) {
    const OfferedLoad first = source->offered(500'000, 900'000);
    CHECK(near(first.mean, 0.2) && near(first.busiest, 0.2 * (36 + 0.5)));
    const OfferedLoad second = source->offered(2'000'000, 9'000'000);
    CHECK(near(second.mean, 0.4) && near(second.busiest, 0.4));
    const OfferedLoad both = source->offered(500'000, 1'500'000);
    CHECK(near(both.mean, 0.3) && near(both.busiest, 0.1 * (36 + 0.5) + 0.2));
  }
  CHECK(std::isnan(source->offered(700'000, 700'000).busiest));
  CHECK(std::isnan(SilentSource{}.offered(0, 1'000).mean));
}

}  // namespace
