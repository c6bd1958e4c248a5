// When messages start: arrival processes, schedules and traces.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "tests/sources.hpp"
#include "topology/dragonfly.hpp"
#include "traffic/synthetic_source.hpp"
#include "traffic/trace_source.hpp"

namespace {

using namespace dragonfly;

TEST(bernoulli_and_poisson_offer_the_load) {
  for (const InjectionKind kind : {InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
    const auto source = make_synthetic_source({{0, build("uniform"), 0.4}}, params(kind));
    double messages = 0;
    for (std::uint32_t host = 0; host < 72; ++host) {
      messages += static_cast<double>(sent_by(*source, host, 32'000'000).size());
    }
    CHECK(std::fabs(messages - 72 * 1000 * 0.4) < 4 * std::sqrt(72 * 1000 * 0.4));
  }
}

TEST(destinations_that_are_drawn_ahead_are_those_that_messages_have) {
  for (const char* pattern : {"uniform", "adv+1", "tornado"}) {
    const auto source = make_synthetic_source({{0, build(pattern), 0.4}, {400'000, build("uniform"), 0.9}},
                                              params(InjectionKind::kPoisson));
    CHECK_EQ(source->drawn_packets(), 1U);
    for (const std::uint32_t host : {0U, 17U, 71U}) {
      SourceCursor cursor;
      source->start(HostId{host}, cursor);
      for (int i = 0; i < 40 && cursor.time_ps < kNever; ++i) {
        std::array<std::uint32_t, TrafficSource::kDrawnAhead> drawn{};
        source->draw_ahead(HostId{host}, cursor, drawn);
        CHECK_EQ(drawn[cursor.message % drawn.size()],
                 source->describe(HostId{host}, cursor).destination.value);
        source->advance(HostId{host}, cursor);
      }
    }
  }
}

TEST(bernoulli_hits_trials_only_and_all_of_them_at_probability_one) {
  SyntheticParams sure = params(InjectionKind::kBernoulli);
  const auto source = make_synthetic_source({{0, build("uniform"), 0.5}}, sure);
  for (const TimePs time_ps : times_of(sent_by(*source, 0, 10'000'000))) CHECK_EQ(time_ps % 4'000, 1'000);
  sure.trial_ps = 32'000;
  const auto full = make_synthetic_source({{0, build("uniform"), 1.0}}, sure);
  CHECK(times_of(sent_by(*full, 0, 100'000)) == (std::vector<TimePs>{1'000, 33'000, 65'000, 97'000}));
}

TEST(poisson_gaps_are_exponential) {
  const auto source = make_synthetic_source({{0, build("uniform"), 0.4}}, params(InjectionKind::kPoisson));
  const auto times = times_of(sent_by(*source, 9, 8'000'000'000));  // about 100,000 gaps of mean 80 ns
  double squares = 0;
  double longer = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double gap = static_cast<double>(times[i] - times[i - 1]) / 80'000.0;
    squares += gap * gap;
    longer += gap > 1.0 ? 1 : 0;
  }
  const auto count = static_cast<double>(times.size() - 1);
  CHECK(std::fabs(squares / count - 2.0) < 4 * std::sqrt(20 / count));  // variance of gap^2: 24 - 4
  CHECK(std::fabs(longer / count - std::exp(-1.0)) < 4 * std::sqrt(0.2325 / count));
}

TEST(poisson_gaps_keep_their_mean_when_they_are_rounded_to_picoseconds) {
  for (const TimePs packet_ps : {1, 2, 5}) {
    SyntheticParams fast = params(InjectionKind::kPoisson);
    fast.packet_ps = packet_ps;
    const auto source = make_synthetic_source({{0, build("uniform"), 1.0}}, fast);
    SourceCursor cursor;
    source->start(HostId{9}, cursor);
    constexpr int kGaps = 200'000;
    for (int i = 0; i < kGaps; ++i) source->advance(HostId{9}, cursor);
    const double mean = static_cast<double>(cursor.time_ps) / kGaps / static_cast<double>(packet_ps);
    CHECK(std::fabs(mean - 1) < 5 * std::sqrt(1.1 / kGaps) + 0.006);  // 1,000 ps until the first
  }
}

TEST(hosts_of_random_processes_are_independent) {
  const auto source = make_synthetic_source({{0, build("uniform"), 0.4}}, params(InjectionKind::kPoisson));
  CHECK(sent_by(*source, 0, 1'000'000) != sent_by(*source, 1, 1'000'000));
}

TEST(a_copied_cursor_goes_the_same_way) {
  for (const InjectionKind kind :
       {InjectionKind::kPeriodic, InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
    const auto source =
        make_synthetic_source({{0, build("uniform"), 0.4}, {900'000, build("adv+1"), 0.7}}, params(kind));
    SourceCursor cursor;
    source->start(HostId{4}, cursor);
    for (int i = 0; i < 50; ++i) {
      SourceCursor fork = cursor;
      source->advance(HostId{4}, fork);
      source->advance(HostId{4}, cursor);
      CHECK_EQ(fork.time_ps, cursor.time_ps);
      CHECK_EQ(source->describe(HostId{4}, fork).destination.value,
               source->describe(HostId{4}, cursor).destination.value);
    }
  }
}

TEST(kth_destination_does_not_depend_on_load_or_process) {
  const auto slow = make_synthetic_source({{0, build("uniform"), 0.1}}, params(InjectionKind::kPoisson));
  const auto fast = make_synthetic_source({{0, build("uniform"), 1.0}}, params(InjectionKind::kPeriodic));
  const auto a = sent_by(*slow, 6, 4'000'000);
  const auto b = sent_by(*fast, 6, 4'000'000);
  CHECK(a.size() > 5 && b.size() > a.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK_EQ(a[i].destination, b[i].destination);
}

TEST(seeds_change_times_and_destinations) {
  SyntheticParams other = params(InjectionKind::kPoisson);
  const auto a = make_synthetic_source({{0, build("uniform"), 0.4}}, other);
  other.seed = 6;
  const auto b = make_synthetic_source({{0, build("uniform"), 0.4}}, other);
  CHECK(sent_by(*a, 0, 1'000'000) != sent_by(*b, 0, 1'000'000));
}

TEST(schedule_steps_change_pattern_and_load_and_periodic_keeps_its_grid) {
  // Intervals 64, then 128 from 200 ns on: the grids start at 1 ns.
  const auto source = make_synthetic_source({{0, build("adv+1"), 0.5}, {200'000, build("adv+2"), 0.25}},
                                            params(InjectionKind::kPeriodic));
  const auto sent = sent_by(*source, 0, 520'000);
  CHECK(times_of(sent) == (std::vector<TimePs>{1'000, 65'000, 129'000, 193'000, 257'000, 385'000, 513'000}));
  for (const Sent& message : sent) CHECK_EQ(message.destination / 8, message.time_ps < 200'000 ? 1U : 2U);
}

TEST(an_arrival_on_the_start_of_a_step_belongs_to_the_new_step) {
  const auto source = make_synthetic_source({{0, build("adv+1"), 0.5}, {65'000, build("adv+2"), 0.5}},
                                            params(InjectionKind::kPeriodic));
  const auto sent = sent_by(*source, 0, 70'000);
  CHECK_EQ(sent.size(), 2U);
  CHECK_EQ(sent[1].time_ps, 65'000);
  CHECK_EQ(sent[1].destination / 8, 2U);
}

TEST(random_processes_restart_with_the_new_load_at_a_step) {
  for (const InjectionKind kind : {InjectionKind::kBernoulli, InjectionKind::kPoisson}) {
    // A first step so slow that hardly a host sends in it.
    const auto source = make_synthetic_source(
        {{0, build("uniform"), 1e-9}, {1'000'000, build("uniform"), 0.5}}, params(kind));
    double messages = 0;
    for (std::uint32_t host = 0; host < 72; ++host) {
      const auto sent = sent_by(*source, host, 1'000'000 + 6'400'000);
      CHECK(!sent.empty() && sent.front().time_ps >= 1'000'000);
      messages += static_cast<double>(sent.size());
    }
    CHECK(std::fabs(messages - 72 * 100) < 4 * std::sqrt(72 * 100));
  }
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

TEST(impossible_sources_are_refused) {
  const PatternPtr uniform = build("uniform");
  const auto attempt = [](std::vector<TrafficStep> steps, SyntheticParams with) {
    return make_synthetic_source(std::move(steps), with);
  };
  SyntheticParams good = params(InjectionKind::kBernoulli);
  for (const double load : {0.0, -0.1, 1.0001, std::nan("")}) {
    CHECK_THROWS(ConfigError, attempt({{0, uniform, load}}, good));
  }
  CHECK_THROWS(ConfigError, attempt({}, good));
  CHECK_THROWS(ConfigError, attempt({{0, nullptr, 0.5}}, good));
  CHECK_THROWS(ConfigError, attempt({{-1, uniform, 0.5}}, good));
  CHECK_THROWS(ConfigError, attempt({{5, uniform, 0.5}, {5, uniform, 0.5}}, good));
  CHECK_THROWS(ConfigError, attempt({{kNever, uniform, 0.5}}, good));
  SyntheticParams bad = good;
  bad.trial_ps = 64'001;  // 0.5 * 64.001 / 32 is above 1
  CHECK_THROWS(ConfigError, attempt({{0, uniform, 0.5}}, bad));
  bad.trial_ps = 0;
  CHECK_THROWS(ConfigError, attempt({{0, uniform, 0.5}}, bad));
  bad = good;
  bad.packet_ps = 0;
  CHECK_THROWS(ConfigError, attempt({{0, uniform, 0.5}}, bad));
  bad = good;
  bad.message_packets = 0;
  CHECK_THROWS(ConfigError, attempt({{0, uniform, 0.5}}, bad));
  CHECK_THROWS(ConfigError, parse_injection("Poisson"));
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

TEST(trace_keeps_the_order_of_rows_per_host) {
  const auto source = Rows{}.build();
  CHECK(sent_by(*source, 3, kNever) == (std::vector<Sent>{{1'000, 3}, {2'000, 8}}));
  CHECK(sent_by(*source, 0, kNever) == (std::vector<Sent>{{1'000, 9}}));
  CHECK(sent_by(*source, 71, kNever).empty());
  CHECK_EQ(source->longest_route(), 0U);
  SourceCursor cursor;
  source->start(HostId{3}, cursor);
  source->advance(HostId{3}, cursor);
  CHECK_EQ(source->describe(HostId{3}, cursor).packets, 3U);
  CHECK(source->describe(HostId{3}, cursor).route.empty());
}

TEST(trace_routes_belong_to_their_rows) {
  Rows rows;  // host 3 is at router 1, host 0 at router 0, host 8 at router 4
  const std::uint32_t gateway = small().links_between(0, 1)->router;
  const Endpoint far = small().neighbor(gateway, small().links_between(0, 1)->port);
  std::vector<std::uint32_t> last{1};
  for (const std::uint32_t router : {gateway, far.router, 4U}) {
    if (router != last.back()) last.push_back(router);
  }
  rows.routes = {1};
  rows.routes.insert(rows.routes.end(), last.begin(), last.end());
  rows.route_offsets = {0, 1, 1, static_cast<std::int64_t>(rows.routes.size())};
  const auto source = rows.build();
  CHECK_EQ(source->longest_route(), last.size());
  SourceCursor cursor;
  source->start(HostId{3}, cursor);
  CHECK_EQ(source->describe(HostId{3}, cursor).route.size(), 1U);
  source->advance(HostId{3}, cursor);
  const auto route = source->describe(HostId{3}, cursor).route;
  CHECK(std::vector<std::uint32_t>(route.begin(), route.end()) == last);
  source->start(HostId{0}, cursor);
  CHECK(source->describe(HostId{0}, cursor).route.empty());
}

TEST(trace_errors_name_the_row_the_field_and_the_value) {
  Rows rows;
  rows.time_ps[2] = 999;
  CHECK(rows.error().starts_with("trace row 2 time_ps = 999: rows must be sorted"));
  rows = {};
  rows.time_ps[0] = -1;
  CHECK(rows.error().starts_with("trace row 0 time_ps = -1:"));
  rows = {};
  rows.source[1] = 72;
  CHECK(rows.error().starts_with("trace row 1 src = 72: host numbers go from 0 to 71"));
  rows = {};
  rows.destination[1] = 4'000'000'000U;
  CHECK(rows.error().starts_with("trace row 1 dst = 4000000000:"));
  rows = {};
  rows.packets[0] = 0;
  CHECK(rows.error().starts_with("trace row 0 packets = 0:"));
  rows = {};
  rows.packets.pop_back();
  CHECK(rows.error().starts_with("trace packets = 2 entries:"));
}

TEST(trace_refuses_routes_that_no_packet_can_follow) {
  const auto error = [](std::vector<std::uint32_t> route) {  // of row 2: from router 1 to router 4
    Rows rows;
    rows.route_offsets = {0, 0, 0, static_cast<std::int64_t>(route.size())};
    rows.routes = std::move(route);
    return rows.error();
  };
  CHECK(error({0, 4}).find("must start at the source's router, 1") != std::string::npos);
  CHECK(error({1, 0}).find("must end at the destination's router, 4") != std::string::npos);
  CHECK(error({1, 36, 4}).find("router numbers go from 0 to 35") != std::string::npos);
  CHECK(error({1, 1, 4}).starts_with("trace row 2 routers = 1: has no link"));
  CHECK(error(std::vector<std::uint32_t>(17, 1)).find("at most 16") != std::string::npos);

  Rows rows;
  rows.route_offsets = {0, 2, 1, 1};
  rows.routes = {1};
  CHECK(!rows.error().empty());
  rows.route_offsets = {0, 0};
  CHECK(!rows.error().empty());
  rows.route_offsets = {0, 0, 0, 2};
  CHECK(!rows.error().empty());
}

TEST(trace_refuses_routes_with_more_hops_than_the_vc_ladder_has_steps) {
  // Of row 2: from router 1 of group 0 to router 4 of group 1. A router named twice in a row counts once.
  const auto error = [](std::vector<std::uint32_t> route) {
    route.erase(std::unique(route.begin(), route.end()), route.end());
    Rows rows;
    rows.route_offsets = {0, 0, 0, static_cast<std::int64_t>(route.size())};
    rows.routes = std::move(route);
    return rows.error();
  };
  const auto near = [](std::uint32_t from, std::uint32_t to) {
    return small().links_between(from, to)->router;
  };
  const auto refused = [](const std::string& text) {
    return text.find("a route passes at most") != std::string::npos;
  };
  CHECK_EQ(error({1, near(0, 1), near(1, 0), 4}), "");
  CHECK_EQ(error({1, near(0, 2), near(2, 0), near(2, 1), near(1, 2), 4}), "");
  CHECK_EQ(error({1, near(0, 2), near(2, 0), 8, near(2, 1), near(1, 2), 4}), "");
  const std::uint32_t aside = near(0, 1) == 2 ? 3 : 2;
  CHECK_EQ(error({1, aside, near(0, 1), near(1, 0), 4}), "");
  CHECK(refused(error({1, aside, 1, near(0, 1), near(1, 0), 4})));
  CHECK(refused(error({1, near(0, 2), near(2, 0), near(0, 2), near(0, 1), near(1, 0), 4})));
  CHECK(refused(error({1, near(0, 2), near(2, 0), near(2, 3), near(3, 2), near(3, 1), near(1, 3), 4})));
  CHECK(refused(error({1, near(0, 2), near(2, 0), 8, 9, 10, 11, near(2, 1), near(1, 2), 4})));
}

TEST(what_is_offered_is_the_mean_of_the_steps_in_force) {
  SyntheticParams known = params(InjectionKind::kPeriodic);
  const auto near = [](double a, double b) { return std::fabs(a - b) < 1e-9; };
  const std::vector<TrafficStep> steps{{0, build("hotspot:hosts=9;,fraction=0.5"), 0.2},
                                       {1'000'000, build("uniform"), 0.4}};
  CHECK(std::isnan(make_synthetic_source(steps, known)->offered(0, 1'000).mean));  // of how many hosts?
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
