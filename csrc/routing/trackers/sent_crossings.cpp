#include <algorithm>
#include <optional>

#include "core/fast_divisor.hpp"
#include "routing/remote_hops.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"

namespace dragonfly {

namespace {

enum CrossingField : std::uint32_t { kBetween, kLast, kMinimal, kAll };

// Recent crossings by a group's packets of links that the group's own routers cannot see.
//
// A group counts, for each type of local link (to the router k ahead), how often the packets that it sent
// cross such links in the groups of their non-minimal paths or as their last hops, those of packets that stay
// in the group among them. If the other groups send alike, a link of this type carries so many packets: a
// non-minimal path's link between and another one's last link are the same link to both, so they are one
// number. It also counts the packets that it sent minimally to each other group, and all that it sent to
// others.
//
// Ideal: all routers of the group read the counts at once, as with occupancies of links in `ugal-ideal`.
// Source: this project, after LIA (TACO 2025), sections 3.2.2 and 4.3.2, whose counters are of one router and
// of the paths that packets might take, not of those that they took.
class SentCrossings final : public RouterTracker {
 public:
  SentCrossings(const TrackerSite& site, TimePs window_ps)
      : topology_{site.topology},
        first_group_{site.topology.group_of(site.first_router)},
        groups_{site.topology.num_groups()},
        types_{site.topology.a()},
        by_types_{types_},
        per_crossing_{site.links[1].packet_ps / (static_cast<double>(window_ps) * types_)},
        global_packet_ps_{site.links[index_of(site.topology.global_class())].packet_ps},
        window_ps_{static_cast<double>(window_ps)},
        window_{site.ticks_of(window_ps)},
        sent_(site.num_routers / types_),
        per_sent_(sent_.size()),
        counts_(std::size_t{site.num_routers} / types_ * (types_ + groups_)) {
    const double per_link =
        site.links[index_of(site.topology.global_class())].packet_ps / static_cast<double>(window_ps);
    for (std::uint32_t group = 0; group < per_sent_.size(); ++group) {
      per_sent_[group] = per_link / std::max(1U, global_links(first_group_ + group));
    }
  }

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_groups()} *
           (sizeof(std::uint32_t) * (topology.a() + topology.num_groups() + 1U) + sizeof(double));
  }

  void archive(Archive& archive) override {
    archive(window_);
    archive.fixed(sent_);
    archive.fixed(counts_);
  }

  [[nodiscard]] TrackedEvents events() const noexcept override { return {.forwards = true}; }

  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    const std::uint32_t own = topology_.group_of(router);
    const std::uint32_t group = own - first_group_;
    const std::optional<NonMinimalPath> nonminimal = sent_by(packet);
    move_to(now);
    if (packet.destination_group != own) {
      // Packets on non-minimal paths, or sent by ports, use the entry of the own group, which has no packets
      // of its own.
      const bool minimal = nonminimal && !packet.non_minimal;
      count(group, types_ + (minimal ? packet.destination_group : own), now);
      ++sent_[group];
    }
    if (packet.destination_router == router || !nonminimal) return;
    const RemoteHops hops =
        remote_hops(topology_, router, packet.destination_router, packet.destination_group, *nonminimal);
    count_crossing(group, hops.between[0], now);
    count_crossing(group, hops.between[1], now);
    count_crossing(group, hops.last, now);
  }

  // kBetween and kLast: see TrackedPer::kBetweenLinks and kLastLinkType.
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    move_to(now);
    const std::uint32_t group = topology_.group_of(reader) - first_group_;
    std::uint32_t packets = 0;
    double per_packet = per_crossing_;
    switch (field) {
      case kBetween:
        packets = most_crossings(&counter(group, 0), column);
        break;
      case kLast:
        packets = counter(group, column);
        break;
      case kMinimal:
        packets = column == topology_.group_of(reader) ? 0 : counter(group, types_ + column);
        per_packet =
            global_packet_ps_ / (window_ps_ * topology_.capacity_between(topology_.group_of(reader), column));
        break;
      default:
        packets = sent_[group];
        per_packet = per_sent_[group];
        break;
    }
    return static_cast<float>(packets * per_packet);
  }
  void read_all(std::uint32_t field, std::uint32_t reader, std::span<const std::uint32_t> columns, Tick now,
                float* numbers) override {
    move_to(now);
    const std::uint32_t* const crossings = &counter(topology_.group_of(reader) - first_group_, 0);
    switch (field) {
      case kBetween:
        return read_each(columns, numbers, [&](std::uint32_t column) {
          return most_crossings(crossings, column) * per_crossing_;
        });
      case kLast:
        return read_each(columns, numbers,
                         [&](std::uint32_t column) { return crossings[column] * per_crossing_; });
      default:
        return RouterTracker::read_all(field, reader, columns, now, numbers);
    }
  }

 private:
  // The larger number of crossings of the two types of a column of TrackedPer::kBetweenLinks.
  [[nodiscard]] std::uint32_t most_crossings(const std::uint32_t* crossings,
                                             std::uint32_t column) const noexcept {
    const std::uint32_t first = by_types_.divide(column);
    return std::max(crossings[first], crossings[column - first * types_]);
  }
  // Ports that lead to other groups.
  [[nodiscard]] std::uint32_t global_links(std::uint32_t group) const {
    std::uint32_t links = 0;
    for (std::uint32_t router = group * types_; router < (group + 1) * types_; ++router) {
      for (Port port = topology_.first_global_port(); port < topology_.radix(); ++port) {
        links += topology_.group_behind(router, port) != Id<void>::kNoneValue ? 1U : 0U;
      }
    }
    return links;
  }
  void count_crossing(std::uint32_t group, std::uint32_t type, Tick now) {
    if (type != 0) count(group, type, now);
  }
  void count(std::uint32_t group, std::uint32_t of, Tick now) {
    ++counter(group, of);
    window_.add({group, of}, now);
  }
  // `of`: a type of local link, or types_ + a destination group. Type 0 stays 0.
  [[nodiscard]] std::uint32_t& counter(std::uint32_t group, std::uint32_t of) noexcept {
    return counts_[std::size_t{group} * (types_ + groups_) + of];
  }
  void move_to(Tick now) {
    window_.move_to(now, [this](SlidingWindow::Note note) {
      --counter(note.router, note.group);
      if (note.group >= types_) --sent_[note.router];
    });
  }

  const Dragonfly& topology_;
  std::uint32_t first_group_;
  std::uint32_t groups_;
  std::uint32_t types_;
  FastDivisor by_types_;
  double per_crossing_;  // one crossing as a share of what the links of a type in a group carry per window
  double global_packet_ps_;
  double window_ps_;
  SlidingWindow window_;
  std::vector<std::uint32_t> sent_;  // [group]: packets to all others
  std::vector<double>
      per_sent_;  // [group]: one packet as a share of what all its global links carry per window
  std::vector<std::uint32_t> counts_;  // [group]: crossings by type, then minimal packets by group
};

constexpr double kWindowNs = 500;

std::unique_ptr<RouterTracker> make_sent_crossings(const TrackerInfo& info, const Parameters& given,
                                                   const TrackerSite& site) {
  return std::make_unique<SentCrossings>(
      site, static_cast<TimePs>(number_parameter(info, given, "window_ns") * kPsPerNs));
}

}  // namespace

TrackerInfo sent_crossings_tracker() {
  return {
      .name = "sent-crossings",
      .summary = "recent load of a group's packets on links that the group's routers cannot see",
      .fields = {{.name = "candidate_between_demand",
                  .per = TrackedPer::kBetweenLinks,
                  .half = 1,
                  .doc =
                      "recent use of the local links that the path takes in its intermediate group: packets "
                      "of the router's group that crossed them, as non-minimal or as last hops, over what "
                      "these links carry; the larger share if the path crosses two; 0 if it crosses none",
                  .knowledge = Knowledge::kIdeal},
                 {.name = "candidate_last_type_demand",
                  .per = TrackedPer::kLastLinkType,
                  .half = 1,
                  .doc = "recent use of the path's last local link, counted as in candidate_between_demand",
                  .knowledge = Knowledge::kIdeal},
                 {.name = "destination_group_minimal_demand",
                  .per = TrackedPer::kDestination,
                  .half = 1,
                  .doc = "packets that the router's group sent minimally to the destination group in the "
                         "window, over the packets that its links there carry",
                  .knowledge = Knowledge::kIdeal},
                 {.name = "group_demand",
                  .half = 1,
                  .doc = "packets that the router's group sent to other groups in the window, over the "
                         "packets that its global links carry",
                  .knowledge = Knowledge::kIdeal}},
      .parameters = {{"window_ns", kWindowNs, "ns",
                      "time that a packet counts after it has left its injection queue", between(1, 1e5)}},
      .make = make_sent_crossings,
      .bytes = SentCrossings::bytes};
}

}  // namespace dragonfly
