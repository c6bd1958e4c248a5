// Traffic sources on 72 hosts, and what a host sends, for tests of when messages start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/dragonfly.hpp"
#include "traffic/synthetic_source.hpp"

namespace dragonfly {

inline const Dragonfly& small() {
  static const Dragonfly topology{DragonflyParams{.p = 2, .a = 4, .h = 2}};
  return topology;
}

inline PatternPtr build(const std::string& spec) { return make_pattern(small(), 1, {spec, {}}); }

inline SyntheticParams params(InjectionKind kind) {
  return {.seed = 5,
          .injection = kind,
          .message_packets = 1,
          .packet_ps = 32'000,
          .trial_ps = 4'000,
          .first_ps = 1'000};
}

struct Sent {
  TimePs time_ps;
  std::uint32_t destination;
  bool operator==(const Sent&) const = default;
};

// All messages of a host that start before `end_ps`.
inline std::vector<Sent> sent_by(const TrafficSource& source, std::uint32_t host, TimePs end_ps) {
  std::vector<Sent> result;
  SourceCursor cursor;
  for (source.start(HostId{host}, cursor); cursor.time_ps < end_ps; source.advance(HostId{host}, cursor)) {
    result.push_back({cursor.time_ps, source.describe(HostId{host}, cursor).destination.value});
  }
  return result;
}

inline std::vector<TimePs> times_of(const std::vector<Sent>& sent) {
  std::vector<TimePs> times;
  for (const Sent& message : sent) times.push_back(message.time_ps);
  return times;
}

}  // namespace dragonfly
