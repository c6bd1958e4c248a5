#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/fast_divisor.hpp"
#include "core/large_pages.hpp"
#include "core/pick.hpp"
#include "core/prefetch.hpp"
#include "routing/group_messages.hpp"
#include "routing/remote_hops.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"

namespace dragonfly {

namespace {

enum CrossingField : std::uint32_t {
  kBetween,
  kLast,
  kMinimal,
  kAll,
  kDelayed
};  // kDelayed + a field: delayed

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
// Delayed: a router reads its own counts and those that the others have sent (kMessages).
// Source: this project, after LIA (TACO 2025), sections 3.2.2 and 4.3.2, whose counters are of one router and
// of the paths that packets might take, not of those that they took.
template <bool kMessages>
class SentCrossings final : public RouterTracker {
 public:
  SentCrossings(const TrackerSite& site, TimePs window_ps, Tick period = 1, std::uint32_t bits = 4)
      : topology_{site.topology},
        first_router_{site.first_router},
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
        counts_(std::size_t{site.num_routers} / types_ * (types_ + groups_)),
        numbers_{bits} {
    if constexpr (kMessages) {
      messages_.emplace(site, period, types_ + groups_);
      own_counts_.resize(std::size_t{site.num_routers} * (types_ + groups_));
    }
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
    if constexpr (kMessages) {
      archive.fixed(own_counts_);
      archive(*messages_);
    }
  }

  [[nodiscard]] TrackedEvents events() const noexcept override {
    return {.forwards = true, .messages = kMessages};
  }

  Tick send_messages(Tick now) override {
    if constexpr (!kMessages) return kNever;
    return messages_->send_until(now, [this](Tick time, std::uint16_t* rows) {
      move_to(time);
      const std::uint32_t numbers = types_ + groups_;
      for (std::size_t i = 0; i < own_counts_.size(); ++i) rows[i] = numbers_.rounded(own_counts_[i]);
      for (std::size_t i = 0; i < own_counts_.size(); i += numbers) {
        rows[i] = numbers_.rounded((own_counts_[i] + kSentStep / 2) / kSentStep);
      }
    });
  }

  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    const std::uint32_t own = topology_.group_of(router);
    const std::uint32_t group = own - first_group_;
    const std::optional<NonMinimalPath> nonminimal = sent_by(packet);
    const std::uint32_t sender = kMessages ? router - first_router_ : group;
    move_to(now);
    if (packet.destination_group != own) {
      // Packets on non-minimal paths, or sent by ports, use the entry of the own group, which has no packets
      // of its own.
      const bool minimal = nonminimal && !packet.non_minimal;
      count(sender, group, types_ + (minimal ? packet.destination_group : own), now);
      ++sent_[group];
      if constexpr (kMessages) ++own_count(sender, 0);
    }
    if (packet.destination_router == router || !nonminimal) return;
    const RemoteHops hops =
        remote_hops(topology_, router, packet.destination_router, packet.destination_group, *nonminimal);
    for (const std::uint32_t type : {hops.between[0], hops.between[1], hops.last}) {
      if (type != 0) count(sender, group, type, now);
    }
  }

  void prefetch_numbers(std::uint32_t reader, std::uint32_t destination_router) const noexcept override {
    if constexpr (!kMessages) return;
    const std::uint32_t own = reader - first_router_;
    const std::uint32_t to = types_ + topology_.group_of(destination_router);
    const std::uint32_t* const counts = &own_counts_[std::size_t{own} * (types_ + groups_)];
    prefetch(counts);
    prefetch(counts + to);
    messages_->prefetch_numbers(own, to);
  }

  // kBetween and kLast: see TrackedPer::kBetweenLinks and kLastLinkType.
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    move_to(now);
    const std::uint32_t group = topology_.group_of(reader) - first_group_;
    const Counts counted = counts_seen(field, reader, group, now);
    std::uint32_t packets = 0;
    double per_packet = per_crossing_;
    switch (field % kDelayed) {
      case kBetween:
        packets = most_crossings(counted, column);
        break;
      case kLast:
        packets = counted(column);
        break;
      case kMinimal:
        packets = column == topology_.group_of(reader) ? 0 : counted(types_ + column);
        per_packet =
            global_packet_ps_ / (window_ps_ * topology_.capacity_between(topology_.group_of(reader), column));
        break;
      default:
        packets = field < kDelayed ? sent_[group] : counted.sent();
        per_packet = per_sent_[group];
        break;
    }
    return static_cast<float>(packets * per_packet);
  }
  void read_all(std::uint32_t field, std::uint32_t reader, std::span<const std::uint32_t> columns, Tick now,
                float* numbers) override {
    const std::uint32_t shown = field % kDelayed;
    if (shown != kBetween && shown != kLast) {
      return RouterTracker::read_all(field, reader, columns, now, numbers);
    }
    move_to(now);
    const std::uint32_t group = topology_.group_of(reader) - first_group_;
    const Counts counted = counts_seen(field, reader, group, now);
    if (counted.inbox == nullptr || !counted.inbox->has_sums()) {
      return read_types(shown, columns, numbers, counted);
    }
    // The usual case has no branch per number, and a copy of the inbox stays in registers.
    read_types(shown, columns, numbers, [inbox = *counted.inbox, own = counted.own](std::uint32_t type) {
      return pick(type != 0, own[type] + inbox.ready_sum(type), 0U);
    });
  }

 private:
  // `shown`: kBetween or kLast; counted(type): the count of a type of local link.
  template <class Counted>
  void read_types(std::uint32_t shown, std::span<const std::uint32_t> columns, float* numbers,
                  Counted counted) const {
    if (shown == kBetween) {
      read_each(columns, numbers,
                [&](std::uint32_t column) { return most_crossings(counted, column) * per_crossing_; });
    } else {
      read_each(columns, numbers, [&](std::uint32_t column) { return counted(column) * per_crossing_; });
    }
  }

  static constexpr std::uint32_t kSentStep = 4;  // packets to other groups are sent in fours

  // The counts of a group, or those that a reader knows: of the messages, and its own.
  struct Counts {
    const std::uint32_t* all = nullptr;  // counts of the group; null: those that the reader knows
    const std::uint32_t* own = nullptr;
    const GroupMessages::Inbox* inbox = nullptr;

    [[nodiscard]] std::uint32_t operator()(std::uint32_t of) const noexcept {
      if constexpr (kMessages) {
        if (all == nullptr) return of == 0 ? 0 : own[of] + inbox->sum(of);
      }
      return all[of];
    }
    // Packets to other groups, that the reader knows.
    [[nodiscard]] std::uint32_t sent() const noexcept { return own[0] + inbox->sum(0) * kSentStep; }
  };
  [[nodiscard]] Counts counts_seen(std::uint32_t field, std::uint32_t reader, std::uint32_t group,
                                   Tick now) noexcept {
    if constexpr (kMessages) {
      const std::uint32_t own = reader - first_router_;
      if (field >= kDelayed) return {nullptr, &own_count(own, 0), &messages_->inbox(own, now)};
    }
    return {.all = &counter(group, 0)};
  }

  // The larger number of crossings of the two types of a column of TrackedPer::kBetweenLinks.
  template <class Counted>
  [[nodiscard]] std::uint32_t most_crossings(Counted counted, std::uint32_t column) const noexcept {
    const std::uint32_t first = by_types_.divide(column);
    return std::max<std::uint32_t>(counted(first), counted(column - first * types_));
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
  // `sender`: a router with messages, else the group.
  void count(std::uint32_t sender, std::uint32_t group, std::uint32_t of, Tick now) {
    ++counter(group, of);
    if constexpr (kMessages) ++own_count(sender, of);
    window_.add({sender, of}, now);
  }
  // `of`: a type of local link, or types_ + a destination group. Type 0 stays 0.
  [[nodiscard]] std::uint32_t& counter(std::uint32_t group, std::uint32_t of) noexcept {
    return counts_[std::size_t{group} * (types_ + groups_) + of];
  }
  // A count of a router: `of` as for counter(), but 0 for all packets to other groups.
  [[nodiscard]] std::uint32_t& own_count(std::uint32_t router, std::uint32_t of) noexcept {
    return own_counts_[std::size_t{router} * (types_ + groups_) + of];
  }
  void move_to(Tick now) {
    window_.move_to(now, [this](SlidingWindow::Note note) {
      const std::uint32_t group = kMessages ? by_types_.divide(note.router) : note.router;
      --counter(group, note.group);
      const bool counts_packet = note.group >= types_;
      if (counts_packet) --sent_[group];
      if constexpr (kMessages) {
        --own_count(note.router, note.group);
        if (counts_packet) --own_count(note.router, 0);
      }
    });
  }

  const Dragonfly& topology_;
  std::uint32_t first_router_;
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
  SharedVector<std::uint32_t> counts_;  // [group]: crossings by type, then minimal packets by group
  MessageNumbers numbers_;
  std::optional<GroupMessages> messages_{};
  SharedVector<std::uint32_t> own_counts_{};  // [router * (types + groups) + of]: see own_count()
};

constexpr double kWindowNs = 500;
constexpr double kSentPeriodNs = 600;

std::unique_ptr<RouterTracker> make_sent_crossings(const TrackerInfo& info, const Parameters& given,
                                                   const TrackerSite& site) {
  const auto window_ps = static_cast<TimePs>(number_parameter(info, given, "window_ns") * kPsPerNs);
  if (!site.sends_messages) return std::make_unique<SentCrossings<false>>(site, window_ps);
  return std::make_unique<SentCrossings<true>>(site, window_ps, message_period(info, given, site),
                                               message_bits(info, given));
}

}  // namespace

TrackerInfo sent_crossings_tracker() {
  std::vector<ParameterInfo> parameters{{"window_ns", kWindowNs, "ns",
                                         "time that a packet counts after it has left its injection queue",
                                         between(1, 1e5)}};
  std::ranges::copy(message_parameters(kSentPeriodNs), std::back_inserter(parameters));
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
                  .knowledge = Knowledge::kIdeal},
                 {.name = "candidate_between_demand_delayed",
                  .per = TrackedPer::kBetweenLinks,
                  .half = 1,
                  .doc = "candidate_between_demand by the messages that the router has received",
                  .knowledge = Knowledge::kDelayed},
                 {.name = "candidate_last_type_demand_delayed",
                  .per = TrackedPer::kLastLinkType,
                  .half = 1,
                  .doc = "candidate_last_type_demand by the messages that the router has received",
                  .knowledge = Knowledge::kDelayed},
                 {.name = "destination_group_minimal_demand_delayed",
                  .per = TrackedPer::kDestination,
                  .half = 1,
                  .doc = "destination_group_minimal_demand by the messages that the router has received",
                  .knowledge = Knowledge::kDelayed},
                 {.name = "group_demand_delayed",
                  .half = 1,
                  .doc = "group_demand by the messages that the router has received",
                  .knowledge = Knowledge::kDelayed}},
      .parameters = std::move(parameters),
      .make = make_sent_crossings,
      .message_numbers =
          [](const Dragonfly& topology, std::uint32_t /*global_vcs*/) {
            return topology.a() + topology.num_groups() - 1;
          },
      .bytes = SentCrossings<false>::bytes};
}

}  // namespace dragonfly
