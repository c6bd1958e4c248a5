#include <algorithm>

#include "core/large_pages.hpp"
#include "core/prefetch.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"

namespace dragonfly {

namespace {

enum HostLoadField : std::uint32_t { kLoadThere, kLoadOfHosts };

// Load that the hosts of a router put on links to other groups, as if all routers of the group sent alike.
//
// The window is ten times that of the global counters of LIA (offered_traffic.cpp), because a router alone
// counts few packets: uniform traffic sends to each of 32 groups only some packets in 2 us, and the counts
// must tell uniform from adversarial traffic.
//
// Source: this project, after LIA (TACO 2025), section 4.2.
class HostLoad final : public RouterTracker {
 public:
  HostLoad(const TrackerSite& site, TimePs window_ps)
      : topology_{site.topology},
        first_router_{site.first_router},
        columns_{site.topology.num_groups() + 1},
        packet_share_{site.links[index_of(site.topology.global_class())].packet_ps /
                      static_cast<double>(window_ps)},
        window_{site.ticks_of(window_ps)},
        global_links_(site.num_routers / site.topology.a()),
        counts_(std::size_t{site.num_routers} * columns_) {
    const std::uint32_t first_group = topology_.group_of(first_router_);
    for (std::uint32_t i = 0; i < global_links_.size(); ++i) {
      for (std::uint32_t to = 0; to < topology_.num_groups(); ++to) {
        if (to == first_group + i) continue;
        global_links_[i] += static_cast<std::uint32_t>(topology_.links_between(first_group + i, to).size());
      }
    }
  }

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_routers()} * (topology.num_groups() + 1U) * sizeof(std::uint32_t);
  }

  void archive(Archive& archive) override {
    archive(window_);
    archive.fixed(counts_);
  }

  [[nodiscard]] TrackedEvents events() const noexcept override { return {.forwards = true}; }

  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    if (packet.destination_group == topology_.group_of(router)) return;
    move_to(now);
    const std::uint32_t own = router - first_router_;
    ++count(own, packet.destination_group);
    ++count(own, columns_ - 1);
    window_.add({own, packet.destination_group}, now);
  }

  void prefetch_numbers(std::uint32_t reader, std::uint32_t destination_router) const noexcept override {
    const std::uint32_t* const counts = &counts_[std::size_t{reader - first_router_} * columns_];
    prefetch(counts + topology_.group_of(destination_router));
    prefetch(counts + columns_ - 1);
  }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    move_to(now);
    const std::uint32_t group = topology_.group_of(reader);
    const std::uint32_t own = reader - first_router_;
    const double share = packet_share_ * topology_.live_host_routers(group);
    if (field == kLoadOfHosts) {
      const std::uint32_t links = std::max(1U, global_links_[own / topology_.a()]);
      return static_cast<float>(count(own, columns_ - 1) * share / links);
    }
    if (column == group) return 0;
    return static_cast<float>(count(own, column) * share / topology_.capacity_between(group, column));
  }

 private:
  [[nodiscard]] std::uint32_t& count(std::uint32_t own, std::uint32_t column) noexcept {
    return counts_[std::size_t{own} * columns_ + column];
  }
  void move_to(Tick now) {
    window_.move_to(now, [this](SlidingWindow::Note note) {
      --count(note.router, note.group);
      --count(note.router, columns_ - 1);
    });
  }

  const Dragonfly& topology_;
  std::uint32_t first_router_;
  std::uint32_t columns_;  // the groups, and the sum over all of them
  double packet_share_;    // one packet as a share of what a global link carries per window
  SlidingWindow window_;
  std::vector<std::uint32_t> global_links_;  // [group]
  SharedVector<std::uint32_t> counts_;       // [router * columns + group]
};

constexpr double kHostLoadWindowNs = 2'000;

std::unique_ptr<RouterTracker> make_host_load(const TrackerInfo& info, const Parameters& given,
                                              const TrackerSite& site) {
  return std::make_unique<HostLoad>(
      site, static_cast<TimePs>(number_parameter(info, given, "window_ns") * kPsPerNs));
}

}  // namespace

TrackerInfo host_load_tracker() {
  return {
      .name = "host-load",
      .summary = "recent load of a router's hosts on links between groups",
      .fields =
          {{.name = "destination_load",
            .per = TrackedPer::kDestination,
            .half = 1,
            .doc = "packets that the router's hosts sent to the destination group in the last "
                   "microseconds, times the routers of a group with hosts, over the packets that the group's "
                   "links there carry"},
           {.name = "host_load",
            .half = 1,
            .doc =
                "packets that the router's hosts sent to all other groups in the last microseconds, times "
                "the routers of a group with hosts, over the packets that the group's global links carry"}},
      .parameters = {{"window_ns", kHostLoadWindowNs, "ns",
                      "time that a packet counts after it has left its injection queue", between(1, 1e5)}},
      .make = make_host_load,
      .bytes = HostLoad::bytes};
}

}  // namespace dragonfly
