// Periodic injection: the requested load on links of any speed, or the published rule of whole ns.
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/error.hpp"
#include "tests/check.hpp"
#include "tests/sources.hpp"

namespace {

using namespace dragonfly;

SyntheticParams whole_ns() {
  SyntheticParams result = params(InjectionKind::kPeriodic);
  result.intervals = PeriodicIntervals::kWholeNs;
  return result;
}

TEST(periodic_sends_every_interval_with_all_hosts_in_phase) {
  // 32 / 0.45 = 71.111... ns
  const auto exact = make_synthetic_source({{0, build("uniform"), 0.45}}, params(InjectionKind::kPeriodic));
  const auto rounded = make_synthetic_source({{0, build("uniform"), 0.45}}, whole_ns());
  for (const std::uint32_t host : {0U, 71U}) {
    CHECK(times_of(sent_by(*exact, host, 300'000)) ==
          (std::vector<TimePs>{1'000, 72'111, 143'222, 214'333, 285'444}));
    CHECK(times_of(sent_by(*rounded, host, 200'000)) == (std::vector<TimePs>{1'000, 72'000, 143'000}));
  }
}

TEST(periodic_offers_the_load_on_links_of_any_speed) {
  for (const TimePs packet_ps : {1, 7, 80, 853, 1'280, 2'048, 32'000}) {
    for (const double load : {1.0, 0.9, 2.0 / 3, 0.45, 0.011}) {
      SyntheticParams fast = params(InjectionKind::kPeriodic);
      fast.packet_ps = packet_ps;
      const auto source = make_synthetic_source({{0, build("uniform"), load}}, fast);
      SourceCursor cursor;
      source->start(HostId{0}, cursor);
      for (int i = 0; i < 1'000'000; ++i) source->advance(HostId{0}, cursor);
      const double spent_ps = static_cast<double>(cursor.time_ps - fast.first_ps);
      CHECK(std::fabs(spent_ps - 1e6 * static_cast<double>(packet_ps) / load) <= 0.501);
    }
  }
}

TEST(periodic_interval_covers_all_packets_of_a_message) {
  SyntheticParams four = params(InjectionKind::kPeriodic);
  four.message_packets = 4;
  const auto source = make_synthetic_source({{0, build("uniform"), 1.0}}, four);
  CHECK(times_of(sent_by(*source, 3, 300'000)) == (std::vector<TimePs>{1'000, 129'000, 257'000}));
  SourceCursor cursor;
  source->start(HostId{3}, cursor);
  CHECK_EQ(source->describe(HostId{3}, cursor).packets, 4U);
}

TEST(a_step_begins_on_the_exact_grid_of_its_load) {
  // Multiples of 32 / 0.9 = 35.555... ns; then of 32 / 0.45 = 71.111... ns, the third of which is 213.333 ns.
  const auto source = make_synthetic_source({{0, build("adv+1"), 0.9}, {200'000, build("adv+2"), 0.45}},
                                            params(InjectionKind::kPeriodic));
  CHECK(times_of(sent_by(*source, 0, 300'000)) ==
        (std::vector<TimePs>{1'000, 36'556, 72'111, 107'667, 143'222, 178'778, 214'333, 285'444}));
}

TEST(a_stalled_periodic_generator_goes_on_at_a_regular_time) {
  const auto source = make_synthetic_source({{0, build("uniform"), 0.45}}, params(InjectionKind::kPeriodic));
  const auto regular = times_of(sent_by(*source, 0, 3'000'000));
  SourceCursor cursor;
  source->start(HostId{0}, cursor);
  std::size_t place = 0;
  for (const int skips : {0, 1, 3, 7, 2, 11}) {
    for (int i = 0; i < skips; ++i) source->skip(HostId{0}, cursor);
    place += static_cast<std::size_t>(skips);
    CHECK_EQ(cursor.time_ps, regular.at(place));
    source->advance(HostId{0}, cursor);
    ++place;
  }
  CHECK_EQ(cursor.message, 6U);
}

TEST(whole_ns_intervals_are_refused_where_they_miss_the_load_by_more_than_two_percent) {
  SyntheticParams fast = whole_ns();
  for (const TimePs packet_ps : {400, 1'280}) {  // 0 ns; 1 ns instead of 1.42 ns
    fast.packet_ps = packet_ps;
    CHECK_THROWS(ConfigError, make_synthetic_source({{0, build("uniform"), 0.9}}, fast));
    CHECK_THROWS(ConfigError,
                 make_synthetic_source({{0, build("uniform"), 5e-324}, {5, build("uniform"), 0.9}}, fast));
  }
  fast.packet_ps = 2'000;
  CHECK_EQ(sent_by(*make_synthetic_source({{0, build("uniform"), 0.5}}, fast), 0, 9'000).size(), 2U);
  for (const double load :
       {1.0, 0.99, 0.985, 0.9, 0.85, 0.1, 1e-6, 5e-324}) {  // periods of 32 ns are never off by so much
    CHECK(make_synthetic_source({{0, build("uniform"), load}}, whole_ns()) != nullptr);
  }
  CHECK_THROWS(ConfigError, parse_periodic_intervals("whole ns"));
}

}  // namespace
