#include <algorithm>
#include <array>
#include <cstddef>

#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

enum Field : std::uint32_t { kWaited, kAge };

constexpr float kHalfWait = 16;  // packets
constexpr float kHalfAgeNs = 2'000;
constexpr double kNeverNs = 1e12;  // long ago
constexpr double kMemoryNs = 2'000;
constexpr double kNewWeight = 0.125;

// How long a router's own packets waited on their ways, as far as it has been told: by destination router and
// kind of path, and how long ago it heard of that last.
//
// Nothing that a router or its group sees tells it of queues that others fill far away. Delivered packets do,
// one travel and one answer later. Of each destination router and kind of path it keeps a mean in which an
// old value counts (1 - new_weight) * memory_ns / (memory_ns + age) and the new one the rest: a moving mean
// where packets come often, the last value where they are rare.
//
// Source: this project. End hosts of real networks measure the same with acknowledgements (Kumar et al.,
// Swift, SIGCOMM 2020, section 3).
class AcknowledgedWaits final : public RouterTracker {
 public:
  AcknowledgedWaits(const TrackerSite& site, double memory_ns, double new_weight)
      : first_router_{site.first_router},
        routers_{site.topology.num_routers()},
        packet_ps_{site.links[index_of(site.topology.global_class())].packet_ps},
        idle_{site.idle},
        quantum_ps_{static_cast<double>(site.quantum_ps)},
        memory_ticks_{memory_ns * kPsPerNs / quantum_ps_},
        kept_weight_{1 - new_weight},
        rows_(std::size_t{site.num_routers} * routers_) {}

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_routers()} * topology.num_routers() * sizeof(Row);
  }

  [[nodiscard]] TrackedEvents hears() const noexcept override { return {.acknowledgements = true}; }

  void packet_acknowledged(const Acknowledgement& heard) override {
    Row& row = row_of(heard.source_router, heard.destination_router);
    const double idle = idle_.hosts_packets + heard.local_hops * idle_.local_packets +
                        heard.global_hops * idle_.global_packets;
    const double waited =
        std::max(static_cast<double>(heard.travelled) * quantum_ps_ / packet_ps_ - idle, 0.0);
    const Tick before = row.heard[heard.kind];
    double kept = 0;
    if (before != kNever) {
      kept = kept_weight_ * memory_ticks_ / (memory_ticks_ + static_cast<double>(heard.due - before));
    }
    row.waited[heard.kind] = static_cast<float>(kept * row.waited[heard.kind] + (1 - kept) * waited);
    row.heard[heard.kind] = heard.due;
  }

  // See TrackedPer::kAcknowledged.
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    const Row& row = row_of(reader, column / kAcknowledgedKinds);
    const std::size_t kind = column % kAcknowledgedKinds;
    if (field == kWaited) return row.waited[kind];
    if (row.heard[kind] == kNever) return kNeverNs;
    return static_cast<double>(now - row.heard[kind]) * quantum_ps_ / kPsPerNs;
  }

 private:
  static constexpr Tick kNever = -1;

  // Of one destination router: a cache line.
  struct alignas(64) Row {
    std::array<Tick, kAcknowledgedKinds> heard{kNever, kNever, kNever, kNever, kNever};
    std::array<float, kAcknowledgedKinds> waited{};  // packets that a global link could carry meanwhile
  };
  static_assert(sizeof(Row) == 64);

  [[nodiscard]] Row& row_of(std::uint32_t router, std::uint32_t destination) noexcept {
    return rows_[std::size_t{router - first_router_} * routers_ + destination];
  }

  std::uint32_t first_router_;
  std::uint32_t routers_;
  double packet_ps_;
  IdleTimes idle_;
  double quantum_ps_;
  double memory_ticks_;
  double kept_weight_;
  std::vector<Row> rows_;  // [router * routers + destination router]
};

std::unique_ptr<RouterTracker> make_acknowledged_waits(const TrackerInfo& info, const Parameters& given,
                                                       const TrackerSite& site) {
  return std::make_unique<AcknowledgedWaits>(site, number_parameter(info, given, "memory_ns"),
                                             number_parameter(info, given, "new_weight"));
}

}  // namespace

TrackerInfo acknowledged_waits_tracker() {
  return {.name = "acknowledged-waits",
          .summary = "how long a router's own packets waited on their ways, as it was told when they arrived",
          .fields = {{.name = "candidate_waited_packets",
                      .per = TrackedPer::kAcknowledged,
                      .half = kHalfWait,
                      .doc = "how much longer than on idle links the router's packets to the destination "
                             "router took lately by this kind of path, in packets that a global link could "
                             "carry meanwhile; 0 if none has arrived"},
                     {.name = "candidate_waited_age",
                      .per = TrackedPer::kAcknowledged,
                      .half = kHalfAgeNs,
                      .doc = "ns since the router heard of the last one; 1 if it never did"}},
          .parameters = {{"memory_ns", kMemoryNs, "ns",
                          "after that time without word what was known counts half", between(1, 1e9)},
                         {"new_weight", kNewWeight, "", "of a packet that follows at once on another one",
                          between(0, 1)}},
          .make = make_acknowledged_waits,
          .bytes = AcknowledgedWaits::bytes};
}

}  // namespace dragonfly
