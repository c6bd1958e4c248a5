#include <algorithm>

#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"
#include "routing/trackers/traffic_parameters.hpp"

namespace dragonfly {

namespace {

enum RemoteField : std::uint32_t { kOfPeer, kOfDestination, kDemandOfDestination };

// A router's remote counters: the load of its own traffic on the local links of intermediate groups, if all
// of it took non-minimal paths without a second local hop. There is one per type k of local link: those to
// the router k ahead, modulo the group's size.
//
// The paper's R_k is the sum over destination groups of their global counter times the probability that such
// a non-minimal path uses a link of type k. Its equation 3 writes that probability for one sign of the palm
// tree; here it is counted on the wiring: over all groups between, and with trunking all pairs of a link in
// and a link out, all alike; a pair that meets in one router needs no local hop. On the palm tree this is
// equation 3 but for the groups that lie between source and destination, where the paper itself neglects a
// shift by one (footnote 1). Trunking spreads the same traffic over more types, which is the paper's
// "threshold t times higher" (section 3.2.2). On grids a type is a difference of router numbers, and that
// several types share links is not seen. Source: LIA (TACO 2025), sections 3.2.2 and 4.3.2.
class RemoteTraffic final : public RouterTracker {
 public:
  RemoteTraffic(const TrackerSite& site, TimePs window_ps, double stored_weight)
      : topology_{site.topology},
        types_{site.topology.a() - 1},
        first_router_{site.first_router},
        first_group_{site.topology.group_of(site.first_router)},
        stored_weight_{stored_weight},
        per_packet_{site.links[1].packet_ps / static_cast<double>(window_ps)},
        window_{site.ticks_of(window_ps)},
        sums_(std::size_t{site.num_routers} * types_) {
    const std::uint32_t groups = topology_.num_groups();
    paths_ = paths_between(topology_);
    for (std::uint32_t i = 0; i < site.num_routers; i += topology_.a()) {
      for (std::uint32_t to = 0; to < groups; ++to) count_paths(topology_.group_of(first_router_ + i), to);
    }
  }

  // Computed as if links of every type served every pair of groups, which is nearly so in full systems.
  static std::uint64_t bytes(const Dragonfly& topology) {
    const std::uint64_t types = topology.a() - 1U;
    const std::uint64_t groups = topology.num_groups();
    return topology.num_routers() * types * sizeof(Sum) +
           groups * groups * (types * sizeof(Use) + sizeof(std::size_t));
  }

  void archive(Archive& archive) override {
    archive(window_);
    archive.fixed(sums_);
  }

  [[nodiscard]] TrackedEvents events() const noexcept override {
    return {.injections = true, .forwards = true};
  }

  void packet_injected(std::uint32_t router, const Packet& packet) override {
    each_use(router - first_router_, packet.destination_group,
             [](Sum& sum, std::uint32_t paths) { sum.stored += paths; });
  }
  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    const std::uint32_t own = router - first_router_;
    each_use(own, packet.destination_group, [](Sum& sum, std::uint32_t paths) {
      sum.stored -= paths;
      sum.injected += paths;
    });
    move_to(now);
    window_.add({own, packet.destination_group}, now);
  }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    move_to(now);
    const std::uint32_t own = reader - first_router_;
    if (field == kOfPeer) return packets(sums_[std::size_t{own} * types_ + column]);
    double most = 0;
    each_use(own, column, [&](const Sum& sum, std::uint32_t) { most = std::max(most, packets(sum)); });
    return field == kOfDestination ? most : static_cast<float>(most * per_packet_);
  }

 private:
  struct Use {
    std::uint32_t type;   // k - 1
    std::uint32_t paths;  // paths over links of this type
  };
  struct Sum {  // sums of packets, each times its number of paths
    std::uint64_t injected = 0;
    std::uint64_t stored = 0;
    static constexpr bool kArchivedWhole = true;
  };

  // The mean number of paths from a group to another one by a third; (g - 2) * trunking^2 if all pairs of
  // groups have equal numbers of links.
  static double paths_between(const Dragonfly& topology) {
    const std::uint64_t groups = topology.num_groups();
    std::uint64_t paths = 0;
    for (std::uint32_t between = 0; between < groups; ++between) {
      std::uint64_t all = 0;
      std::uint64_t back = 0;
      for (std::uint32_t other = 0; other < groups; ++other) {
        const std::uint64_t links = topology.links_between(between, other).size();
        all += links;
        back += links * links;
      }
      paths += all * all - back;
    }
    if (paths == 0) return static_cast<double>(topology.trunking()) * topology.trunking();
    return static_cast<double>(paths) / static_cast<double>(groups * (groups - 1));
  }

  // Counts the paths from a group of this partition to another one that use links of each type.
  void count_paths(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> paths(types_, 0);
    for (std::uint32_t between = 0; between < topology_.num_groups(); ++between) {
      if (from == to || between == from || between == to) continue;
      const auto links_out = topology_.links_between(between, to);
      for (const Endpoint& in : topology_.links_between(between, from)) {
        const auto meets = [&in](const Endpoint& link) { return link.router == in.router; };
        if (std::ranges::any_of(links_out, meets)) continue;
        for (const Endpoint& out : links_out) ++paths[topology_.places_ahead(in.router, out.router) - 1];
      }
    }
    for (std::uint32_t type = 0; type < types_; ++type) {
      if (paths[type] > 0) uses_.push_back({type, paths[type]});
    }
    uses_end_.push_back(uses_.size());
  }

  template <class With>
  void each_use(std::uint32_t own, std::uint32_t to, With with) {
    const std::size_t row =
        std::size_t{topology_.group_of(first_router_ + own) - first_group_} * topology_.num_groups() + to;
    for (std::size_t i = row == 0 ? 0 : uses_end_[row - 1]; i < uses_end_[row]; ++i) {
      with(sums_[std::size_t{own} * types_ + uses_[i].type], uses_[i].paths);
    }
  }

  // Rounded to a float, so that observations show the very number that policies compare.
  [[nodiscard]] double packets(const Sum& sum) const noexcept {
    const double weighted =
        static_cast<double>(sum.injected) + stored_weight_ * static_cast<double>(sum.stored);
    return static_cast<float>(weighted / paths_);
  }

  void move_to(Tick now) {
    window_.move_to(now, [this](SlidingWindow::Note note) {
      each_use(note.router, note.group, [](Sum& sum, std::uint32_t paths) { sum.injected -= paths; });
    });
  }

  const Dragonfly& topology_;
  std::uint32_t types_;
  std::uint32_t first_router_;
  std::uint32_t first_group_;
  double stored_weight_;
  double per_packet_;  // one packet as a share of what a local link carries per window
  double paths_ = 1;   // paths from a group to another one
  SlidingWindow window_;
  std::vector<Sum> sums_;              // [router * types + k - 1]
  std::vector<Use> uses_;              // one pair (group of this partition, group) after the other
  std::vector<std::size_t> uses_end_;  // [pair]
};

std::unique_ptr<RouterTracker> make_remote_traffic(const TrackerInfo& info, const Parameters& given,
                                                   const TrackerSite& site) {
  return std::make_unique<RemoteTraffic>(site, window_parameter(info, given),
                                         number_parameter(info, given, "stored_weight"));
}

}  // namespace

TrackerInfo remote_traffic_tracker() {
  return {
      .name = "remote-traffic",
      .summary =
          "remote counters: load that a router's traffic would put on local links of intermediate groups",
      .fields = {{.name = "remote_packets",
                  .per = TrackedPer::kPeer,
                  .unit = 16,
                  .high = 1U << 16,
                  .doc = "packets in the window, plus w times the waiting packets, for local links of "
                         "intermediate groups to the router that many places ahead"},
                 {.name = "destination_remote_packets",
                  .per = TrackedPer::kDestination,
                  .unit = 16,
                  .high = 1U << 16,
                  .doc = "largest remote_packets of the links that serve the destination group"},
                 {.name = "destination_remote_demand",
                  .per = TrackedPer::kDestination,
                  .half = 1,
                  .doc =
                      "destination_remote_packets over the packets that a local link carries in the window"}},
      .parameters = window_parameters(),
      .make = make_remote_traffic,
      .bytes = RemoteTraffic::bytes};
}

}  // namespace dragonfly
