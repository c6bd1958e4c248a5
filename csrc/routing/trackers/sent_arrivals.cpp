#include "routing/last_router.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"
#include "routing/trackers/tally.hpp"
#include "routing/trackers/traffic_parameters.hpp"

namespace dragonfly {

namespace {

enum Field : std::uint32_t { kLastLink, kDestinationRouter };

// What a router's own packets did lately, by the last local link that they take: to which router they went,
// and from which router of its group they come to it.
//
// If all hosts of a router send to those of one other router, nothing that counts by groups shows what
// overflows: all detours through the sender's own global links enter the destination's group by the same one
// or two routers, and the link from there to the destination would carry what p hosts send. A real router
// knows this, as it is its own packets and its own answers. Packets of others for the same router are not
// seen; where a few routers send to one, each sees its share.
// Source: this project.
class SentArrivals final : public RouterTracker {
 public:
  SentArrivals(const TrackerSite& site, TimePs window_ps)
      : topology_{site.topology},
        first_router_{site.first_router},
        per_packet_{site.links[1].packet_ps / static_cast<double>(window_ps)},
        window_{site.ticks_of(window_ps)},
        counts_{std::size_t{site.num_routers} * site.topology.p() * kRoomOfHost} {}

  static std::uint64_t bytes(const Dragonfly& topology) {
    return Tally::bytes(std::uint64_t{topology.num_hosts()} * kRoomOfHost);
  }

  [[nodiscard]] TrackedEvents hears() const noexcept override { return {.forwards = true}; }

  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    if (packet.destination_router == router || packet.plan == Plan::kRouted) return;
    Detour detour;
    if (packet.plan == Plan::kToDetour) {
      detour = {.kind = packet.detour_kind, .router = packet.detour_router, .group = packet.detour_group};
    }
    const std::uint32_t last =
        last_router_before(topology_, router, packet.destination_router, packet.destination_group, detour);
    const std::uint32_t own = router - first_router_;
    move_to(now);
    counts_.add(own, packet.destination_router, topology_.local_index_of(last));
    counts_.add(own, packet.destination_router, all());
    window_.add({own, arrival_of(topology_, packet.destination_router, last)}, now);
  }

  // kLastLink: see TrackedPer::kLastLink.
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    move_to(now);
    const std::uint32_t own = reader - first_router_;
    const std::uint32_t a = topology_.a();
    const std::uint32_t packets = field == kDestinationRouter ? counts_.count(own, column, all())
                                                              : counts_.count(own, column / a, column % a);
    return static_cast<float>(packets * per_packet_);
  }

 private:
  static constexpr std::uint32_t kRoomOfHost = 16;  // slots of the table to begin with: two for each packet

  // The detail of a destination router behind the routers of its group: whatever its packets came by.
  [[nodiscard]] std::uint32_t all() const noexcept { return topology_.a(); }
  void move_to(Tick now) {
    window_.move_to(now, [this](SlidingWindow::Note note) {
      counts_.remove(note.router, note.group / topology_.a(), note.group % topology_.a());
      counts_.remove(note.router, note.group / topology_.a(), all());
    });
  }

  const Dragonfly& topology_;
  std::uint32_t first_router_;
  double per_packet_;     // of what a local link carries in a window
  SlidingWindow window_;  // its notes: a router and an arrival
  Tally counts_;          // of a router: by destination router and the router before it
};

std::unique_ptr<RouterTracker> make_sent_arrivals(const TrackerInfo& info, const Parameters& given,
                                                  const TrackerSite& site) {
  return std::make_unique<SentArrivals>(site, window_parameter(info, given));
}

}  // namespace

TrackerInfo sent_arrivals_tracker() {
  std::vector<ParameterInfo> parameters = window_parameters();
  parameters.resize(1);  // the window
  return {.name = "sent-arrivals",
          .summary = "what a router's own packets did lately, by the last local link of their ways",
          .fields = {{.name = "candidate_last_link_demand",
                      .per = TrackedPer::kLastLink,
                      .half = 1,
                      .doc = "packets that the router's hosts sent to the destination router, in the window, "
                             "over the same last local link as this path takes, per packets that it carries; "
                             "0 for paths that take none"},
                     {.name = "destination_router_demand",
                      .per = TrackedPer::kDestinationRouter,
                      .half = 1,
                      .doc = "packets that the router's hosts sent to the destination router, in the window, "
                             "per packets that a local link carries"}},
          .parameters = std::move(parameters),
          .make = make_sent_arrivals,
          .bytes = SentArrivals::bytes};
}

}  // namespace dragonfly
