#include <algorithm>
#include <bit>

#include "routing/group_messages.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

enum OccupancyField : std::uint32_t {
  kOccupancy,
  kVcOccupancy,
  kQueued,
  kOccupancyDelayed,
  kVcOccupancyDelayed,
  kQueuedDelayed
};

// The occupancies of all global links of the group, without delay: more than any real router could read.
// Nothing is stored, the ports are read at each call. Source: UGAL-G of LIA (TACO 2025), section 5.2; Kim et
// al., ISCA 2008.
class LinkOccupancy : public RouterTracker {
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

 protected:
  struct Place {
    std::uint32_t router;  // within its group
    std::uint32_t port;
  };

  [[nodiscard]] Place place(std::uint32_t q) const noexcept { return places_[q]; }
  [[nodiscard]] std::uint32_t own(std::uint32_t reader) const noexcept { return reader - first_router_; }
  [[nodiscard]] const OutputPort& port(std::uint32_t router, std::uint32_t port) const noexcept {
    return all_.ports->port(router, port);
  }
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
    return vc_occupancy_at(port_at(group, hop / kMostVcsOfLink), hop % kMostVcsOfLink);
  }
  [[nodiscard]] std::uint32_t vc_occupancy_at(const OutputPort& port, std::uint32_t vc) const noexcept {
    const VcQueue& queue = port.queues()[vc];
    const std::uint32_t in_use = all_.buffers[index_of(port.link_class)] - queue.credits;
    return all_.credits_at_crossbar ? in_use : in_use + queue.queued;
  }

 private:
  const Dragonfly& topology_;
  std::uint32_t first_router_;
  PartitionPorts all_;
  std::vector<Place> places_;  // [position of a global link]: instead of two divisions per read
};

// The occupancies with messages to the routers of the group: per global link the queue, and the occupancy of
// each VC. The reader's own links are read without delay.
class SentLinkOccupancy final : public LinkOccupancy {
 public:
  SentLinkOccupancy(const TrackerSite& site, Tick period, MessageNumbers numbers)
      : LinkOccupancy{site},
        topology_{site.topology},
        routers_{site.num_routers},
        vcs_{site.links[index_of(site.topology.global_class())].vcs},
        step_{step_packets(site)},
        numbers_{numbers},
        messages_{site, period, numbers_of(site.topology, vcs_)} {
    for (std::uint32_t q = 0; q < topology_.global_positions(); ++q) {
      const Place link = place(q);
      const std::uint32_t queue = (link.port - topology_.first_global_port()) * (1 + vcs_);
      sources_.push_back({link.router, link.port, link.router * numbers_of(topology_, vcs_) + queue});
    }
  }

  static std::uint32_t numbers_of(const Dragonfly& topology, std::uint32_t vcs) noexcept {
    return topology.h() * (1 + vcs);
  }

  void archive(Archive& archive) override { archive(messages_); }

  [[nodiscard]] TrackedEvents events() const noexcept override { return {.messages = true}; }

  Tick send_messages(Tick now) override {
    return messages_.send_until(now, [this](Tick /*time*/, std::uint16_t* rows) {
      for (std::uint32_t router = 0; router < routers_; ++router) {
        for (std::uint32_t j = 0; j < topology_.h(); ++j) {
          const OutputPort& link = port(router, topology_.first_global_port() + j);
          *rows++ = sent(link.queued);
          for (std::uint32_t vc = 0; vc < vcs_; ++vc) *rows++ = sent(vc_occupancy_at(link, vc));
        }
      }
    });
  }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    float number = 0;
    read_all(field, reader, {&column, 1}, now, &number);
    return number;
  }
  void read_all(std::uint32_t field, std::uint32_t reader, std::span<const std::uint32_t> columns, Tick now,
                float* numbers) override {
    if (field < kOccupancyDelayed) return LinkOccupancy::read_all(field, reader, columns, now, numbers);
    const Reader reads{.router = own(reader),
                       .index = own(reader) - first_of_group(reader),
                       .inbox = messages_.inbox(own(reader), now)};
    switch (field) {
      case kOccupancyDelayed:
        return read_each(columns, numbers, [&](std::uint32_t q) {
          const Source& link = sources_[q];
          if (link.router == reads.index) return port(reads.router, link.port).occupancy;
          std::uint32_t steps = 0;
          for (std::uint32_t i = 1; i <= vcs_; ++i)
            steps += reads.inbox.number_at(link.router, link.queue + i);
          return steps * step_;
        });
      case kVcOccupancyDelayed:
        return read_each(columns, numbers, [&](std::uint32_t hop) {
          const Source& link = sources_[hop / kMostVcsOfLink];
          const std::uint32_t vc = hop % kMostVcsOfLink;
          if (link.router == reads.index) return vc_occupancy_at(port(reads.router, link.port), vc);
          return reads.inbox.number_at(link.router, link.queue + 1 + vc) * step_;
        });
      default:
        return read_each(columns, numbers, [&](std::uint32_t hop) {
          const Source& link = sources_[hop / kMostVcsOfLink];
          if (link.router == reads.index) return port(reads.router, link.port).queued;
          return reads.inbox.number_at(link.router, link.queue) * step_;
        });
    }
  }

 private:
  // The packets of a step of messages: with four bits, messages count up to three of the largest buffers.
  static std::uint32_t step_packets(const TrackerSite& site) noexcept {
    const std::uint32_t buffer = site.links[index_of(site.topology.global_class())].buffer_packets;
    return std::max(1U, std::bit_ceil(buffer) / 64);
  }
  [[nodiscard]] std::uint16_t sent(std::uint32_t packets) const noexcept {
    return numbers_.rounded((packets + step_ / 2) / step_);
  }
  struct Source {
    std::uint32_t router;  // within its group
    std::uint32_t port;
    std::uint32_t queue;  // place of the link's queue in the messages of the group; its VCs follow
  };
  struct Reader {
    std::uint32_t router;  // within the partition
    std::uint32_t index;   // within its group
    const GroupMessages::Inbox& inbox;
  };

  const Dragonfly& topology_;
  std::uint32_t routers_;
  std::uint32_t vcs_;
  std::uint32_t step_;
  MessageNumbers numbers_;
  GroupMessages messages_;
  std::vector<Source> sources_;  // [position of a global link]
};

constexpr double kOccupancyPeriodNs = 450;

std::unique_ptr<RouterTracker> make_link_occupancy(const TrackerInfo& info, const Parameters& given,
                                                   const TrackerSite& site) {
  if (!site.sends_messages) return std::make_unique<LinkOccupancy>(site);
  return std::make_unique<SentLinkOccupancy>(site, message_period(info, given, site),
                                             MessageNumbers{message_bits(info, given)});
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
                  .knowledge = Knowledge::kIdeal},
                 {.name = "link_packets_delayed",
                  .per = TrackedPer::kGroupLink,
                  .unit = 64,
                  .high = 1024,
                  .doc = "link_packets by the messages that the router has received",
                  .knowledge = Knowledge::kDelayed},
                 {.name = "candidate_link_packets_delayed",
                  .per = TrackedPer::kFirstGlobalHop,
                  .unit = 64,
                  .high = 1024,
                  .doc = "candidate_link_packets by the messages that the router has received",
                  .knowledge = Knowledge::kDelayed},
                 {.name = "candidate_link_queued_packets_delayed",
                  .per = TrackedPer::kFirstGlobalHop,
                  .unit = 64,
                  .high = 1024,
                  .doc = "candidate_link_queued_packets by the messages that the router has received",
                  .knowledge = Knowledge::kDelayed}},
      .parameters = message_parameters(kOccupancyPeriodNs),
      .make = make_link_occupancy,
      .message_numbers = SentLinkOccupancy::numbers_of};
}

}  // namespace dragonfly
