#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

// The occupancies of all global links of the group, without delay: more than any real router could read.
// Nothing is stored, the ports are read at each call. Source: UGAL-G of LIA (TACO 2025), section 5.2; Kim et
// al., ISCA 2008.
class LinkOccupancy final : public TrackerOfMany<LinkOccupancy> {
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
    if (field == 0) return port_at(reader, column).occupancy;
    const OutputPort& port = port_at(reader, column / kMostVcsOfLink);
    if (field == 2) return port.queued;
    const VcQueue& queue = port.queues()[column % kMostVcsOfLink];
    const std::uint32_t in_use = all_.buffers[index_of(port.link_class)] - queue.credits;
    return all_.credits_at_crossbar ? in_use : in_use + queue.queued;
  }

 private:
  struct Place {
    std::uint32_t router;  // within its group
    std::uint32_t port;
  };

  // The port of the global link at position q of the reader's group.
  [[nodiscard]] const OutputPort& port_at(std::uint32_t reader, std::uint32_t q) const noexcept {
    const Place place = places_[q];
    return all_.ports->port(reader - topology_.local_index_of(reader) - first_router_ + place.router,
                            place.port);
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
