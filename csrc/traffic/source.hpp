// Times, receivers and sizes of messages that hosts generate; the network pulls, one host at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "core/ids.hpp"
#include "core/time.hpp"
#include "topology/group_visits.hpp"

namespace dragonfly {

// The position of one host in its own sequence of messages. Plain data: a copy forks the sequence; so the
// backlog of a host is counted without being stored.
struct SourceCursor {
  TimePs time_ps = kNever;    // time of the current message; kNever: there are no more messages
  std::uint64_t message = 0;  // number of the current message of this host
  std::uint64_t trial = 0;    // private to the injection process: number of the arrival, skipped ones too
  std::uint32_t step = 0;     // private: which step of the schedule is in force
  std::uint32_t late = 0;     // private: by how many packet times a full queue has delayed this round
  static constexpr bool kArchivedWhole = true;
};

struct Message {
  HostId destination;
  std::uint32_t packets = 1;
  // Routers to pass, source router first, destination router last; empty: the policy decides.
  std::span<const std::uint32_t> route{};
};

// The most routers of a route: of one that a packet log holds, too.
inline constexpr std::uint32_t kMaxRouteRouters = 31;

// The virtual channels that prescribed routes need (PathFollower::routed numbers them).
struct RouteNeeds {
  std::uint32_t longest = 0;      // routers of the longest route; 0: no route is prescribed
  bool leaves_late = false;       // a route makes two local hops before it leaves its first group (PAR)
  bool local_nonminimal = false;  // a route makes two local hops in the third group that it visits (Aries)
  bool any_port = false;          // a route is longer than planned paths: only its hops can number its VCs

  // `a`: routers per group.
  void add(std::span<const std::uint32_t> route, std::uint32_t a) noexcept {
    const GroupVisits visits = group_visits(route, a);
    longest = std::max(longest, static_cast<std::uint32_t>(route.size()));
    leaves_late = leaves_late || visits.leave_late();
    local_nonminimal = local_nonminimal || visits.local_hops[2] > 1;
    any_port = any_port || visits.exceed_planned_paths();
  }
};

// The traffic that hosts offer in the long run, in units of the bandwidth of one host's link. NaN: unknown.
struct OfferedLoad {
  double mean = std::numeric_limits<double>::quiet_NaN();     // average load that a host sends
  double busiest = std::numeric_limits<double>::quiet_NaN();  // load that the busiest receiver receives
};

// The end of a source that sends a given list of messages.
struct SourceEnd {
  TimePs last_ps = 0;         // time of the last message
  std::uint64_t packets = 0;  // packets of all messages
};

// Const after construction: may be called from any thread. Message times of a host never decrease.
class TrafficSource {
 public:
  TrafficSource() = default;
  TrafficSource(const TrafficSource&) = delete;
  TrafficSource& operator=(const TrafficSource&) = delete;
  virtual ~TrafficSource() = default;

  // Puts the cursor on the first message of the host (time_ps = kNever if it never sends).
  virtual void start(HostId host, SourceCursor& cursor) const = 0;
  // Moves to the next message of the host.
  virtual void advance(HostId host, SourceCursor& cursor) const = 0;
  // The cursor was that of another source, which this one goes on with (traffic/switched_source.hpp): a
  // message that the other one has not generated yet is this one's.
  virtual void rejoin(HostId /*host*/, SourceCursor& /*cursor*/) const {}
  // The first number from `message` on with which a burst begins in the step of `cursor`: messages that are
  // generated together (TrafficPattern::round_messages) are numbered together.
  [[nodiscard]] virtual std::uint64_t burst_from(HostId /*host*/, const SourceCursor& /*cursor*/,
                                                 std::uint64_t message) const {
    return message;
  }
  // Whether the generator keeps its own time, so that a message which finds the source queue full
  // can be generated at a later regular time. Otherwise (a trace) it can only wait, or be lost.
  [[nodiscard]] virtual bool regenerates() const { return true; }
  // Called when the source queue is full at the time of the current message. A generator with its own timing
  // moves to its next time and stays at this message, so that the k-th message of a host that gets through is
  // the same for every state of the network; a trace loses the message.
  virtual void skip(HostId host, SourceCursor& cursor) const = 0;
  // Skips until the current message is generated after `last_ps` < kNever; returns the number of skips.
  virtual std::uint64_t skip_until(HostId host, SourceCursor& cursor, TimePs last_ps) const {
    std::uint64_t skips = 0;
    for (; cursor.time_ps <= last_ps; ++skips) skip(host, cursor);
    return skips;
  }
  // The current message; a pure function of (host, cursor).
  [[nodiscard]] virtual Message describe(HostId host, const SourceCursor& cursor) const = 0;
  // The packets per message if messages differ only in their destinations, which may then be drawn some at a
  // time; else 0.
  [[nodiscard]] virtual std::uint32_t drawn_packets() const { return 0; }
  static constexpr std::uint32_t kPrefetchedDestinations = 8;
  // The destinations of kPrefetchedDestinations messages in the step of `cursor`, from the last multiple of
  // kPrefetchedDestinations up to its message on. Precondition: drawn_packets() > 0.
  virtual void draw_ahead(HostId /*host*/, const SourceCursor& /*cursor*/,
                          std::span<std::uint32_t, kPrefetchedDestinations> /*destinations*/) const {}
  // A common divisor of all message times, where the times are given exactly (a trace); else 0.
  [[nodiscard]] virtual TimePs step_ps() const { return 0; }
  // The end of a trace; sources that go on for ever have none.
  [[nodiscard]] virtual std::optional<SourceEnd> end() const { return std::nullopt; }
  // The table that all prescribed routes (Message::route) point into; empty without any.
  [[nodiscard]] virtual std::span<const std::uint32_t> routes() const { return {}; }
  // The mean offered load from one time to another. Unknown for traces and silence.
  [[nodiscard]] virtual OfferedLoad offered(TimePs /*from_ps*/, TimePs /*to_ps*/) const { return {}; }
  // The virtual channels that these routes need.
  [[nodiscard]] virtual RouteNeeds route_needs() const { return {}; }
};

// A source without messages: next to programs, if no host is left for an open-loop source.
class SilentSource final : public TrafficSource {
 public:
  void start(HostId /*host*/, SourceCursor& cursor) const override { cursor.time_ps = kNever; }
  void advance(HostId /*host*/, SourceCursor& cursor) const override { cursor.time_ps = kNever; }
  [[nodiscard]] bool regenerates() const override { return false; }
  void skip(HostId /*host*/, SourceCursor& cursor) const override { cursor.time_ps = kNever; }
  [[nodiscard]] Message describe(HostId host, const SourceCursor& /*cursor*/) const override {
    return {.destination = host};
  }
};

}  // namespace dragonfly
