#include "traffic/switched_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {
namespace {

// The cursor of a host is that of its present part; the number of the part is in the high half of the
// cursor's step.
class SwitchedSource final : public TrafficSource {
 public:
  explicit SwitchedSource(std::vector<SwitchedPart> parts) : parts_{std::move(parts)} {}

  void start(HostId host, SourceCursor& cursor) const override {
    parts_[0].source->start(host, cursor);
    settle(host, cursor, 0);
  }
  void advance(HostId host, SourceCursor& cursor) const override {
    with_own(cursor, [&](const TrafficSource& source) { source.advance(host, cursor); }, host);
  }
  void rejoin(HostId host, SourceCursor& cursor) const override {
    with_own(cursor, [](const TrafficSource&) {}, host);
  }
  [[nodiscard]] bool regenerates() const override { return parts_[0].source->regenerates(); }
  // The first part alone decides: the others go on with a state that counts in its unit of time.
  [[nodiscard]] TimePs step_ps() const override { return parts_[0].source->step_ps(); }
  void skip(HostId host, SourceCursor& cursor) const override {
    with_own(cursor, [&](const TrafficSource& source) { source.skip(host, cursor); }, host);
  }
  std::uint64_t skip_until(HostId host, SourceCursor& cursor, TimePs last_ps) const override {
    std::uint64_t skips = 0;
    while (cursor.time_ps <= last_ps) {
      const std::size_t next = (cursor.step >> kPartShift) + 1;  // this part's messages end where it begins
      const TimePs until_ps = next < parts_.size() ? std::min(last_ps, parts_[next].after_ps) : last_ps;
      const auto jump = [&](const TrafficSource& source) {
        skips += source.skip_until(host, cursor, until_ps);
      };
      with_own(cursor, jump, host);
    }
    return skips;
  }
  [[nodiscard]] Message describe(HostId host, const SourceCursor& cursor) const override {
    return part_at(cursor).source->describe(host, own(cursor));
  }
  // Equal for all parts, or nothing is drawn ahead; describe() gives the same messages.
  [[nodiscard]] std::uint32_t drawn_packets() const override {
    const std::uint32_t first = parts_[0].source->drawn_packets();
    const auto same = [first](const SwitchedPart& part) { return part.source->drawn_packets() == first; };
    return std::ranges::all_of(parts_, same) ? first : 0;
  }
  void draw_ahead(HostId host, const SourceCursor& cursor,
                  std::span<std::uint32_t, kPrefetchedDestinations> destinations) const override {
    part_at(cursor).source->draw_ahead(host, own(cursor), destinations);
  }
  [[nodiscard]] OfferedLoad offered(TimePs from_ps, TimePs to_ps) const override {
    OfferedLoad all{.mean = 0.0, .busiest = 0.0};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const TimePs begin = std::max(from_ps, i == 0 ? 0 : parts_[i].after_ps);
      const TimePs end = std::min(to_ps, i + 1 < parts_.size() ? parts_[i + 1].after_ps : kNever);
      if (begin >= end) continue;
      const OfferedLoad one = parts_[i].source->offered(begin, end);
      const double share = static_cast<double>(end - begin) / static_cast<double>(to_ps - from_ps);
      all.mean += share * one.mean;
      all.busiest +=
          share * one.busiest;  // an upper bound: assumes that one host is the busiest in every part
    }
    return all;
  }

 private:
  static constexpr std::uint32_t kPartShift = 24;
  static constexpr std::uint32_t kStepMask = (1U << kPartShift) - 1U;

  [[nodiscard]] const SwitchedPart& part_at(const SourceCursor& cursor) const noexcept {
    return parts_[cursor.step >> kPartShift];
  }
  [[nodiscard]] static SourceCursor own(const SourceCursor& cursor) noexcept {
    SourceCursor plain = cursor;
    plain.step &= kStepMask;
    return plain;
  }

  template <class Move>
  void with_own(SourceCursor& cursor, Move move, HostId host) const {
    const std::uint32_t part = cursor.step >> kPartShift;
    cursor.step &= kStepMask;
    move(*parts_[part].source);
    settle(host, cursor, part);
  }
  // The cursor is one of this part's own. Where the next part has begun by then, it starts there.
  void settle(HostId host, SourceCursor& cursor, std::uint32_t part) const {
    while (part + 1 < parts_.size() && cursor.time_ps > parts_[part + 1].after_ps) {
      const std::uint64_t message = cursor.message;
      const TimePs after = parts_[++part].after_ps;
      const TrafficSource& next = *parts_[part].source;
      next.start(host, cursor);
      while (cursor.time_ps <= after) next.advance(host, cursor);
      if (next.drawn_packets() > 0 && next.regenerates()) {
        cursor.message = next.burst_from(host, cursor, std::max(cursor.message, message));
      }
    }
    cursor.step |= part << kPartShift;
  }

  std::vector<SwitchedPart> parts_;
};

void require_alike(const TrafficSource& first, const TrafficSource& other) {
  if (first.route_needs().longest > 0 || other.route_needs().longest > 0) {
    throw ConfigError{"traffic", "a trace with routes", "cannot follow on other traffic, nor be followed"};
  }
  if (first.regenerates() != other.regenerates()) {
    throw ConfigError{
        "traffic", "a trace",
        "cannot follow on traffic that keeps its own time, nor be followed by it, with a bounded source "
        "queue"};
  }
}

}  // namespace

std::shared_ptr<const TrafficSource> make_switched_source(std::shared_ptr<const TrafficSource> first,
                                                          std::vector<SwitchedPart> parts) {
  if (parts.empty()) return first;
  constexpr std::size_t kMostParts = 255;
  if (parts.size() > kMostParts) {
    throw ConfigError{"traffic", std::to_string(parts.size()) + " changes",
                      "at most " + std::to_string(kMostParts) + " in one run"};
  }
  for (const SwitchedPart& part : parts) require_alike(*first, *part.source);
  parts.insert(parts.begin(), {.after_ps = 0, .source = std::move(first)});
  return std::make_shared<SwitchedSource>(std::move(parts));
}

}  // namespace dragonfly
