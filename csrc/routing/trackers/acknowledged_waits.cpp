#include <algorithm>
#include <array>
#include <cstddef>

#include "core/large_pages.hpp"
#include "core/prefetch.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

enum WaitField : std::uint32_t { kWaited, kAge };

constexpr float kHalfWait = 16;  // packets
constexpr float kHalfAgeNs = 2'000;
constexpr double kNeverNs = 1e12;  // long ago
constexpr double kMemoryNs = 8'000;
constexpr double kNewWeight = 0.125;

// Waiting times of a router's own packets, from acknowledgements: by destination router and kind of path,
// with the age of the last acknowledgement.
//
// A router and its group do not see queues that others fill far away. Delivered packets have passed them, and
// report one travel and one acknowledgement later. For each destination router and kind of path the router
// keeps a mean in which an old value counts (1 - new_weight) * memory_ns / (memory_ns + age) and the new one
// the rest: a moving mean where packets come often, the last value where they are rare.
//
// Source: this project. End hosts of real networks measure the same with acknowledgements (Kumar et al.,
// Swift, SIGCOMM 2020, section 3).
class AcknowledgedWaits final : public RouterTracker {
 public:
  AcknowledgedWaits(const TrackerSite& site, double memory_ns, double new_weight)
      : first_router_{site.first_router},
        routers_{site.topology.num_routers()},
        packets_per_tick_{static_cast<double>(site.quantum_ps) /
                          site.links[index_of(site.topology.global_class())].packet_ps},
        idle_{site.idle},
        ticks_per_moment_{site.ticks_of(kMoment)},
        moment_ns_{static_cast<double>(ticks_per_moment_ * site.quantum_ps) / kPsPerNs},
        memory_{memory_ns / moment_ns_},
        kept_weight_{1 - new_weight},
        rows_(std::size_t{site.num_routers} * routers_) {}

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_routers()} * topology.num_routers() * sizeof(Row);
  }

  void archive(Archive& archive) override {
    archive(last_time_, last_moment_);
    archive.fixed(rows_);
  }

  [[nodiscard]] TrackedEvents events() const noexcept override { return {.acknowledgements = true}; }

  void packet_acknowledged(const Acknowledgement& received) override {
    Row& row = row_of(received.source_router, received.destination_router);
    const double idle = idle_.hosts_packets + received.local_hops * idle_.local_packets +
                        received.global_hops * idle_.global_packets;
    const double waited = std::max(received.travelled * packets_per_tick_ - idle, 0.0);
    const std::uint32_t now = moment_of(received.due);
    const std::uint32_t before = row.received[received.kind];
    double kept = 0;
    if (before != kNever) kept = kept_weight_ * memory_ / (memory_ + static_cast<double>(now - before));
    const double mean = kept * row.waited[received.kind] / kSteps + (1 - kept) * waited;
    row.waited[received.kind] = static_cast<std::uint16_t>(std::min(mean * kSteps + 0.5, kMostSteps));
    row.received[received.kind] = now;
  }

  void prefetch_numbers(std::uint32_t reader, std::uint32_t destination_router) const noexcept override {
    prefetch(&rows_[row_index(reader, destination_router)]);
  }

  // See TrackedPer::kAcknowledged.
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    const Row& row = row_of(reader, column / kAcknowledgedKinds);
    const std::uint32_t kind = column % kAcknowledgedKinds;
    return field == kWaited ? waited(row, kind) : age_ns(row, kind, moment_of(now));
  }
  void read_all(std::uint32_t field, std::uint32_t reader, std::span<const std::uint32_t> columns, Tick now,
                float* numbers) override {
    const auto some = std::ranges::find_if(columns, [](std::uint32_t c) { return c != kNoColumn; });
    const std::uint32_t destination = some == columns.end() ? 0 : *some / kAcknowledgedKinds;
    const std::uint32_t first = destination * kAcknowledgedKinds;
    const Row& row = row_of(reader, destination);
    if (field == kWaited) {
      read_each(columns, numbers, [&](std::uint32_t column) { return waited(row, column - first); });
    } else {
      const std::uint32_t moment = moment_of(now);
      read_each(columns, numbers, [&](std::uint32_t column) { return age_ns(row, column - first, moment); });
    }
  }

 private:
  static constexpr TimePs kMoment = 16 * kPsPerNs;
  static constexpr std::uint32_t kNever = 0;
  static constexpr double kSteps = 16;  // steps per packet time
  static constexpr double kMostSteps = 0xffff;

  // The means of one destination router: half a cache line, as there are many and each is read rarely.
  struct alignas(32) Row {
    void archive(Archive& archive) { archive(received, waited); }

    std::array<std::uint32_t, kAcknowledgedKinds> received{};  // moments, from 1 on
    std::array<std::uint16_t, kAcknowledgedKinds> waited{};    // steps of a packet of a global link
  };
  static_assert(sizeof(Row) == 32);

  // Wraps after a minute of simulated time. Most calls are about the same time as the one before.
  [[nodiscard]] std::uint32_t moment_of(Tick time) noexcept {
    if (time != last_time_) {
      last_time_ = time;
      last_moment_ = static_cast<std::uint32_t>(time / ticks_per_moment_ + 1);
    }
    return last_moment_;
  }
  [[nodiscard]] std::size_t row_index(std::uint32_t router, std::uint32_t destination) const noexcept {
    return std::size_t{router - first_router_} * routers_ + destination;
  }
  [[nodiscard]] Row& row_of(std::uint32_t router, std::uint32_t destination) noexcept {
    return rows_[row_index(router, destination)];
  }
  [[nodiscard]] static double waited(const Row& row, std::uint32_t kind) noexcept {
    return row.waited[kind] / kSteps;
  }
  [[nodiscard]] double age_ns(const Row& row, std::uint32_t kind, std::uint32_t moment) const noexcept {
    const std::uint32_t received = row.received[kind];
    return received == kNever ? kNeverNs : (moment - received) * moment_ns_;
  }

  std::uint32_t first_router_;
  std::uint32_t routers_;
  double packets_per_tick_;
  ZeroLoadTimes idle_;
  Tick ticks_per_moment_;
  double moment_ns_;
  double memory_;  // moments
  double kept_weight_;
  Tick last_time_ = 0;
  std::uint32_t last_moment_ = 1;
  LargeVector<Row> rows_;  // [router * routers + destination router]
};

std::unique_ptr<RouterTracker> make_acknowledged_waits(const TrackerInfo& info, const Parameters& given,
                                                       const TrackerSite& site) {
  return std::make_unique<AcknowledgedWaits>(site, number_parameter(info, given, "memory_ns"),
                                             number_parameter(info, given, "new_weight"));
}

}  // namespace

TrackerInfo acknowledged_waits_tracker() {
  return {
      .name = "acknowledged-waits",
      .summary = "waiting times of a router's own packets on their paths, as acknowledgements report",
      .fields =
          {{.name = "candidate_waited_packets",
            .per = TrackedPer::kAcknowledged,
            .half = kHalfWait,
            .doc =
                "recent waiting time of the router's packets to the destination router by this kind of path, "
                "in packets that a global link carries in that time; 0 before the first acknowledgement"},
           {.name = "candidate_waited_age",
            .per = TrackedPer::kAcknowledged,
            .half = kHalfAgeNs,
            .doc = "ns since the last acknowledgement of this kind of path; 1 before the first one"}},
      .parameters = {{"memory_ns", kMemoryNs, "ns",
                      "time without an acknowledgement after which the old mean counts half",
                      between(1, 1e9)},
                     {"new_weight", kNewWeight, "", "weight of a packet that follows another one at once",
                      between(0, 1)}},
      .make = make_acknowledged_waits,
      .bytes = AcknowledgedWaits::bytes};
}

}  // namespace dragonfly
