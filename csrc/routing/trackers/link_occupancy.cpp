#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

enum OccupancyField : std::uint32_t { kOccupancy, kVcOccupancy, kQueued };

// The occupancies of all global links of the group, without delay: more than any real router could read.
// Nothing is stored, the ports are read at each call. Source: UGAL-G of LIA (TACO 2025), section 5.2; Kim et
// al., ISCA 2008.
class LinkOccupancy final : public RouterTracker {
 public:
  explicit LinkOccupancy(const TrackerSite& site)
      : topology_{site.topology}, first_router_{site.first_router} {
    for (std::uint32_t q = 0; q < topology_.global_positions(); ++q) {
      const Endpoint link = topology_.global_port_at(0, q);
      places_.push_back({topology_.local_index_of(link.router), link.port});
    }
  }

  void archive(Archive& /*archive*/) override {}

  [[nodiscard]] TrackedEvents events() const noexcept override { return {}; }
  void look_at(const PartitionPorts& ports) override { all_ = ports; }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick /*now*/) override {
    const std::uint32_t group = first_of_group(reader);
    if (field == kOccupancy) return port_at(group, column).occupancy;
    return field == kQueued ? queued(group, column) : vc_occupancy(group, column);
  }
  void read_all(std::uint32_t field, std::uint32_t reader, std::span<const std::uint32_t> columns,
                Tick /*now*/, float* numbers) override {
    const std::uint32_t group = first_of_group(reader);
    switch (field) {
      case kOccupancy:
        return read_each(columns, numbers, [&](std::uint32_t q) { return port_at(group, q).occupancy; });
      case kVcOccupancy:
        return read_each(columns, numbers, [&](std::uint32_t hop) { return vc_occupancy(group, hop); });
      default:
        return read_each(columns, numbers, [&](std::uint32_t hop) { return queued(group, hop); });
    }
  }

 private:
  struct Place {
    std::uint32_t router;  // within its group
    std::uint32_t port;
  };

  // The first router of the reader's group, within the partition.
  [[nodiscard]] std::uint32_t first_of_group(std::uint32_t reader) const noexcept {
    return reader - topology_.local_index_of(reader) - first_router_;
  }
  // The port of the global link at position q of the group with that first router.
  [[nodiscard]] const OutputPort& port_at(std::uint32_t group, std::uint32_t q) const noexcept {
    const Place place = places_[q];
    return all_.ports->port(group + place.router, place.port);
  }
  // `hop`: a column of TrackedPer::kFirstGlobalHop.
  [[nodiscard]] std::uint32_t queued(std::uint32_t group, std::uint32_t hop) const noexcept {
    return port_at(group, hop / kMostVcsOfLink).queued;
  }
  [[nodiscard]] std::uint32_t vc_occupancy(std::uint32_t group, std::uint32_t hop) const noexcept {
    const OutputPort& port = port_at(group, hop / kMostVcsOfLink);
    const VcQueue& queue = port.queues()[hop % kMostVcsOfLink];
    const std::uint32_t in_use = all_.buffers[index_of(port.link_class)] - queue.credits;
    return all_.credits_at_crossbar ? in_use : in_use + queue.queued;
  }

  const Dragonfly& topology_;
  std::uint32_t first_router_;
  PartitionPorts all_;
  std::vector<Place> places_;  // [position of a global link]: instead of two divisions per read
};

std::unique_ptr<RouterTracker> make_link_occupancy(const TrackerInfo& /*info*/, const Parameters& /*given*/,
                                                   const TrackerSite& site) {
  return std::make_unique<LinkOccupancy>(site);
}

}  // namespace

TrackerInfo link_occupancy_tracker() {
  return {
      .name = "link-occupancy",
      .summary = "occupancy of the global links of the whole group, without delay (ideal)",
      .fields = {{.name = "link_packets",
                  .per = TrackedPer::kGroupLink,
                  .unit = 64,
                  .high = 1024,
                  .doc =
                      "packets of the global link, without delay: queued, or sent with the credit not back",
                  .knowledge = Knowledge::kIdeal},
                 {.name = "candidate_link_packets",
                  .per = TrackedPer::kFirstGlobalHop,
                  .unit = 64,
                  .high = 1024,
                  .doc = "packets of the VC that the path would use on its first global link: queued, or "
                         "sent with the credit not back",
                  .knowledge = Knowledge::kIdeal},
                 {.name = "candidate_link_queued_packets",
                  .per = TrackedPer::kFirstGlobalHop,
                  .unit = 64,
                  .high = 1024,
                  .doc = "packets in the output queue before the path's first global link",
                  .knowledge = Knowledge::kIdeal}},
      .parameters = {},
      .make = make_link_occupancy};
}

}  // namespace dragonfly
