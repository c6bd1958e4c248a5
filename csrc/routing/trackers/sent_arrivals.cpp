#include <cstddef>
#include <optional>

#include "routing/last_router.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/traffic_parameters.hpp"

namespace dragonfly {

namespace {

enum Field : std::uint32_t { kLastLink, kDestinationRouter };

// What a router's own packets did lately, by the last local link that they take: to which router they went,
// and from which router of its group they come to it.
//
// If all hosts of a router send to those of one other router, nothing that counts by groups shows what
// overflows: all non-minimal paths through the sender's own global links enter the destination's group by the
// same one or two routers, and the link from there to the destination would carry what p hosts send. A real
// router knows this, as it is its own packets and its own answers. Packets of others for the same router are
// not seen; where a few routers send to one, each sees its share.
//
// Each router has the arrivals of its last packets in a row, which is looked through whenever somebody asks:
// of a window there are few (a link carries six to twenty), and a row stays in the cache where a table of
// counts did not. Reading takes as long as there are packets of the router in the window. Source: this
// project.
class SentArrivals final : public RouterTracker {
 public:
  SentArrivals(const TrackerSite& site, TimePs window_ps)
      : topology_{site.topology},
        first_router_{site.first_router},
        per_packet_{site.links[1].packet_ps / static_cast<double>(window_ps)},
        window_{site.ticks_of(window_ps)},
        recent_(site.num_routers) {}

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_routers()} * sizeof(Recent);
  }

  void archive(Archive& archive) override { archive.fixed(recent_); }

  [[nodiscard]] TrackedEvents hears() const noexcept override { return {.forwards = true}; }

  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    const std::optional<Detour> detour = sent_by(packet);
    if (packet.destination_router == router || !detour) return;
    const std::uint32_t last =
        last_router_before(topology_, router, packet.destination_router, packet.destination_group, *detour);
    Recent& recent = recent_[router - first_router_];
    recent.move_to(now);
    recent.due.push_back(now + window_);
    recent.arrivals.push_back(arrival_of(topology_, packet.destination_router, last));
  }

  // kLastLink: see TrackedPer::kLastLink.
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    Recent& recent = recent_[reader - first_router_];
    recent.move_to(now);
    const std::uint32_t a = topology_.a();
    const std::uint32_t packets =
        field == kDestinationRouter ? recent.count(column * a, a) : recent.count(column, 1);
    return static_cast<float>(packets * per_packet_);
  }

 private:
  // The packets of one router in the window, by time.
  struct Recent {
    std::vector<Tick> due;  // when they no longer count
    std::vector<std::uint32_t> arrivals;
    std::size_t first = 0;

    void archive(Archive& archive) {
      archive(due, arrivals);
      archive.require(due.size() == arrivals.size(), "two lists of arrivals differ in length");
      archive.below(first, due.size() + 1, "more arrivals are over than there are");
    }
    void move_to(Tick now) {
      if (first == due.size() || due[first] > now) return;
      do {
        ++first;
      } while (first < due.size() && due[first] <= now);
      // A constant amount of work per packet, and no more room than twice what ever counts at once.
      if (first * 2 < due.size()) return;
      const auto gone = static_cast<std::ptrdiff_t>(first);
      due.erase(due.begin(), due.begin() + gone);
      arrivals.erase(arrivals.begin(), arrivals.begin() + gone);
      first = 0;
    }
    // Those with an arrival from `from` on, so many different ones.
    [[nodiscard]] std::uint32_t count(std::uint32_t from, std::uint32_t different) const noexcept {
      std::uint32_t packets = 0;
      for (std::size_t i = first; i < arrivals.size(); ++i)
        packets += arrivals[i] - from < different ? 1U : 0U;
      return packets;
    }
  };

  const Dragonfly& topology_;
  std::uint32_t first_router_;
  double per_packet_;  // of what a local link carries in a window
  Tick window_;
  std::vector<Recent> recent_;  // [router]
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
