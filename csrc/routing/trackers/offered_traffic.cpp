#include <algorithm>
#include <iterator>

#include "core/large_pages.hpp"
#include "core/prefetch.hpp"
#include "routing/group_messages.hpp"
#include "routing/offered_traffic.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"
#include "routing/trackers/traffic_parameters.hpp"
#include "routing/traffic_level.hpp"

namespace dragonfly {

namespace {

// A router's global counters: the packets of its hosts towards each other group.
//   injected  packets that left the injection queues in the last window: what is carried (section 3.1)
//   stored    packets that are in the injection queues
//   offered   injected + w * stored, LIA's extended counter: stays high where saturation lowers what is
//             carried (equation 2)
// Source: LIA (TACO 2025), sections 4.2, 4.3.1 and 5.2; the window as in TPR there.
class OfferedTraffic : public RouterTracker {
 public:
  OfferedTraffic(const TrackerSite& site, TimePs window_ps, double stored_weight,
                 const TrafficThresholds& thresholds)
      : topology_{site.topology},
        groups_{site.topology.num_groups()},
        first_router_{site.first_router},
        stored_weight_{stored_weight},
        thresholds_{thresholds},
        global_packet_ps_{site.links[index_of(site.topology.global_class())].packet_ps},
        window_ps_{static_cast<double>(window_ps)},
        window_{site.ticks_of(window_ps)},
        counts_(std::size_t{site.num_routers} * groups_) {
    const std::uint32_t h = topology_.h();
    for (std::uint32_t i = 0; i < site.num_routers; ++i) {
      for (std::uint32_t j = 0; j < h; ++j) {
        const auto port = static_cast<Port>(topology_.first_global_port() + j);
        const std::uint32_t group = topology_.group_behind(first_router_ + i, port);
        if (group != Id<void>::kNoneValue) own_groups_.push_back(group);
      }
      own_end_.push_back(static_cast<std::uint32_t>(own_groups_.size()));
    }
  }

  static std::uint64_t bytes(const Dragonfly& topology) {
    const std::uint64_t links = (topology.h() + 1U) * sizeof(std::uint32_t);
    return topology.num_routers() * (topology.num_groups() * sizeof(Count) + links);
  }

  void archive(Archive& archive) override {
    archive(window_);
    archive.fixed(counts_);
  }

  [[nodiscard]] TrackedEvents events() const noexcept override {
    return {.injections = true, .forwards = true};
  }

  void packet_injected(std::uint32_t router, const Packet& packet) override {
    ++of(router - first_router_, packet.destination_group).stored;
  }
  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    const std::uint32_t own = router - first_router_;
    Count& count = of(own, packet.destination_group);
    --count.stored;
    ++count.injected;
    move_to(now);
    window_.add({own, packet.destination_group}, now);
  }

  void prefetch_numbers(std::uint32_t reader, std::uint32_t destination_router) const noexcept override {
    const std::size_t row = std::size_t{reader - first_router_} * groups_;
    prefetch(&counts_[row + topology_.group_of(destination_router)]);
  }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    move_to(now);
    const std::uint32_t own = reader - first_router_;
    const std::uint32_t own_group = topology_.group_of(reader);
    const auto there = [&] { return offered(column == own_group ? none_ : of(own, column)); };
    switch (static_cast<Offered>(field)) {
      case Offered::kOffered:
        return offered(of(own, (own_group + 1 + column) % groups_));
      case Offered::kOfferedThere:
        return there();
      case Offered::kSaturatedLinks:
        return saturated_links(own);
      case Offered::kOwnLinks:
        return own_end_[own] - own_begin(own);
      case Offered::kDemandThere:
        return static_cast<float>(there() * demand_of_packet(own_group, column) * topology_.a());
      case Offered::kLevelThere:
        return static_cast<double>(thresholds_.level_of(there()));
      case Offered::kGroupDemandThere:
      case Offered::kGroupDemandThereDelayed:
        break;
    }
    return group_demand(own, column);
  }

  // The share of a packet in the capacity of the links from one group to another in a window.
  [[nodiscard]] double demand_of_packet(std::uint32_t from, std::uint32_t to) const noexcept {
    return global_packet_ps_ / (window_ps_ * topology_.capacity_between(from, to));
  }
  // Packets that a router's share of the links to another group carries in a window. Thresholds are the same
  // for all groups: those of the pairs with the most links.
  [[nodiscard]] static double share_packets(const TrackerSite& site, TimePs window_ps) noexcept {
    const double packet_ps = site.links[index_of(site.topology.global_class())].packet_ps;
    return static_cast<double>(window_ps) * site.topology.trunking() / (packet_ps * site.topology.a());
  }

 protected:
  struct Count {
    std::uint32_t injected = 0;
    std::uint32_t stored = 0;
    static constexpr bool kArchivedWhole = true;
  };

  [[nodiscard]] const SharedVector<Count>& counts() const noexcept { return counts_; }
  [[nodiscard]] Count& of(std::uint32_t own, std::uint32_t group) noexcept {
    return counts_[std::size_t{own} * groups_ + group];
  }
  [[nodiscard]] double packets(const Count& count) const noexcept {
    return count.injected + stored_weight_ * count.stored;
  }
  void move_to(Tick now) {
    window_.move_to(now, [this](SlidingWindow::Note note) { --of(note.router, note.group).injected; });
  }

 private:
  [[nodiscard]] double group_demand(std::uint32_t own, std::uint32_t to) noexcept {
    const std::uint32_t first = own - topology_.local_index_of(first_router_ + own);
    std::uint64_t injected = 0;
    std::uint64_t stored = 0;
    for (std::uint32_t mate = first; mate < first + topology_.a(); ++mate) {
      const Count& count = of(mate, to);
      injected += count.injected;
      stored += count.stored;
    }
    const double packets = static_cast<double>(injected) + stored_weight_ * static_cast<double>(stored);
    return static_cast<float>(packets * demand_of_packet(topology_.group_of(first_router_ + own), to));
  }
  // Rounded to a float, so that observations show the very number that policies compare.
  [[nodiscard]] double offered(const Count& count) const noexcept {
    return static_cast<float>(packets(count));
  }
  [[nodiscard]] std::uint32_t own_begin(std::uint32_t own) const noexcept {
    return own == 0 ? 0 : own_end_[own - 1];
  }
  [[nodiscard]] std::uint32_t saturated_links(std::uint32_t own) noexcept {
    std::uint32_t saturated = 0;
    for (std::uint32_t i = own_begin(own); i < own_end_[own]; ++i) {
      saturated += offered(of(own, own_groups_[i])) > thresholds_.saturated_packets ? 1U : 0U;
    }
    return saturated;
  }

  const Dragonfly& topology_;
  std::uint32_t groups_;
  std::uint32_t first_router_;
  double stored_weight_;
  TrafficThresholds thresholds_;
  double global_packet_ps_;
  double window_ps_;
  SlidingWindow window_;
  Count none_{};                           // the own group is not among the counters
  SharedVector<Count> counts_;             // [router * groups + group]
  std::vector<std::uint32_t> own_groups_;  // groups behind the global links of one router after the other
  std::vector<std::uint32_t> own_end_;     // [router]: end of its groups in own_groups_
};

// The counters with messages to the routers of the group: offered packets for each group, in halves.
class SentOfferedTraffic final : public OfferedTraffic {
 public:
  SentOfferedTraffic(const TrackerSite& site, TimePs window_ps, double stored_weight,
                     const TrafficThresholds& thresholds, Tick period, MessageNumbers numbers)
      : OfferedTraffic{site, window_ps, stored_weight, thresholds},
        topology_{site.topology},
        first_router_{site.first_router},
        numbers_{numbers},
        messages_{site, period, site.topology.num_groups()} {}

  void archive(Archive& archive) override {
    OfferedTraffic::archive(archive);
    archive(messages_);
  }

  [[nodiscard]] TrackedEvents events() const noexcept override {
    return {.injections = true, .forwards = true, .messages = true};
  }

  Tick send_messages(Tick now) override {
    return messages_.send_until(now, [this](Tick time, std::uint16_t* rows) {
      move_to(time);
      for (const Count& count : counts()) {
        *rows++ = numbers_.rounded(static_cast<std::uint32_t>(packets(count) / kStep + 0.5));
      }
    });
  }

  void prefetch_numbers(std::uint32_t reader, std::uint32_t destination_router) const noexcept override {
    OfferedTraffic::prefetch_numbers(reader, destination_router);
    messages_.prefetch_numbers(reader - first_router_, topology_.group_of(destination_router));
  }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    if (static_cast<Offered>(field) != Offered::kGroupDemandThereDelayed) {
      return OfferedTraffic::read(field, reader, column, now);
    }
    move_to(now);
    const std::uint32_t own = reader - first_router_;
    const double all = packets(of(own, column)) + messages_.inbox(own, now).sum(column) * kStep;
    return static_cast<float>(all * demand_of_packet(topology_.group_of(reader), column));
  }

 private:
  static constexpr double kStep = 0.5;  // packets

  const Dragonfly& topology_;
  std::uint32_t first_router_;
  MessageNumbers numbers_;
  GroupMessages messages_;
};

constexpr double kDemandPeriodNs = 500;

std::unique_ptr<RouterTracker> make_offered_traffic(const TrackerInfo& info, const Parameters& given,
                                                    const TrackerSite& site) {
  const TimePs window_ps = window_parameter(info, given);
  const double stored_weight = number_parameter(info, given, "stored_weight");
  const TrafficThresholds thresholds =
      thresholds_of(info, given, OfferedTraffic::share_packets(site, window_ps));
  if (!site.sends_messages) {
    return std::make_unique<OfferedTraffic>(site, window_ps, stored_weight, thresholds);
  }
  return std::make_unique<SentOfferedTraffic>(site, window_ps, stored_weight, thresholds,
                                              message_period(info, given, site),
                                              MessageNumbers{message_bits(info, given)});
}

constexpr float kUnit = 16;
constexpr float kMost = 1U << 16;  // more packets than buffers hold
constexpr float kHalfDemand = 4;

}  // namespace

TimePs window_parameter(const ParameterOwner& owner, const Parameters& given) {
  return static_cast<TimePs>(number_parameter(owner, given, "window_ns") * kPsPerNs);
}

std::vector<ParameterInfo> window_parameters() {
  return {
      {"window_ns", 200.0, "ns",
       "time that a packet counts after it has left its injection queue. Source: HW of LIA, TACO 2025, table "
       "1",
       between(1, 1e5)},
      {"stored_weight", 0.1, "",
       "weight of a packet in an injection queue. Source: w of LIA, TACO 2025, table 1", between(0, 1e6)}};
}

TrackerInfo offered_traffic_tracker() {
  std::vector<ParameterInfo> parameters = window_parameters();
  std::ranges::copy(threshold_parameters(), std::back_inserter(parameters));
  std::ranges::copy(message_parameters(kDemandPeriodNs), std::back_inserter(parameters));
  const auto links = [](const char* name, const char* doc) {
    return TrackedField{.name = name, .unit = kUnit, .high = kMost, .doc = doc};
  };
  return {
      .name = "offered-traffic",
      .summary = "global counters: packets of a router's hosts for each group, sent lately and waiting",
      .fields = {{.name = "offered_packets",
                  .per = TrackedPer::kGroup,
                  .unit = kUnit,
                  .high = kMost,
                  .doc = "extended counter: packets of the router's hosts for the group in the window, plus "
                         "w times the packets for it in the router's injection queues"},
                 {.name = "destination_offered_packets",
                  .per = TrackedPer::kDestination,
                  .unit = kUnit,
                  .high = kMost,
                  .doc = "offered_packets of the destination group"},
                 links("saturated_links",
                       "global links of the router whose group's offered_packets exceed "
                       "saturated_packets"),
                 links("own_links", "connected global links of the router"),
                 {.name = "destination_demand",
                  .per = TrackedPer::kDestination,
                  .half = kHalfDemand,
                  .doc = "offered_packets of the destination group times the routers of a group, over the "
                         "packets that the group's links there carry in the window"},
                 {.name = "destination_group_demand",
                  .per = TrackedPer::kDestination,
                  .half = kHalfDemand,
                  .doc = "destination_demand of the whole group: sum of its routers, without delay (ideal)",
                  .knowledge = Knowledge::kIdeal},
                 {.name = "destination_traffic_level",
                  .per = TrackedPer::kDestination,
                  .unit = 2,
                  .doc = "level of the traffic to the destination group: 0 (benign) below low_packets, 2 "
                         "(adverse) above high_packets, 1 in between"},
                 {.name = "destination_group_demand_delayed",
                  .per = TrackedPer::kDestination,
                  .half = kHalfDemand,
                  .doc = "destination_group_demand by the messages that the router has received: each other "
                         "router sends its offered packets for every group",
                  .knowledge = Knowledge::kDelayed}},
      .parameters = std::move(parameters),
      .make = make_offered_traffic,
      .message_numbers = [](const Dragonfly& topology,
                            std::uint32_t /*global_vcs*/) { return topology.num_groups(); },
      .bytes = OfferedTraffic::bytes};
}

}  // namespace dragonfly
