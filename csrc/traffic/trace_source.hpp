// Traffic from a recorded list of messages, with or without the routers that each has to pass.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/time.hpp"
#include "topology/dragonfly.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

// Row m is one message. All spans but the last two have one entry per row.
struct TraceColumns {
  std::span<const std::int64_t> time_ps;  // never decreasing
  std::span<const std::uint32_t> source;
  std::span<const std::uint32_t> destination;  // may be the source itself
  std::span<const std::uint32_t> packets;
  // Row m passes routes[route_offsets[m]] .. routes[route_offsets[m + 1] - 1]; an empty route leaves the
  // choice to the policy. Without prescribed routes both are empty.
  std::span<const std::int64_t> route_offsets{};
  std::span<const std::uint32_t> routes{};
};

// Copies the columns, sorted by source host; messages of one host keep their order.
// Throws ConfigError with the row, the field and the value: hosts out of range; routes that do not lead from
// the source's router to the destination's over existing links, or that have more than kMaxRouteRouters
// routers. Precondition: columns of one length, times in order.
[[nodiscard]] std::unique_ptr<TrafficSource> make_trace_source(const Dragonfly& topology,
                                                               const TraceColumns& columns);

}  // namespace dragonfly
