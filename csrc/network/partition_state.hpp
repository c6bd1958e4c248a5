// The state of a partition: its routers, its hosts, its packets, its events. Data only; the functions are in
// event_loop.hpp and the files that it names.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "core/event_queues.hpp"
#include "core/large_pages.hpp"
#include "decisions/pending_decisions.hpp"
#include "network/blueprint.hpp"
#include "network/delivery_record.hpp"
#include "network/host_programs.hpp"
#include "network/observation_table.hpp"
#include "network/packet_store.hpp"
#include "network/partition_messages.hpp"
#include "network/partition_trackers.hpp"
#include "routing/output_port.hpp"
#include "routing/packet.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

inline constexpr std::uint16_t kNoInputVc = 0xffff;

// A VC buffer of an input port: a list of packets.
struct InputVc {
  std::uint32_t head = kNil;
  std::uint32_t tail = kNil;
  std::uint32_t last_served = 0;  // stamp of its last grant, see the allocator
  std::uint32_t upstream = kNil;  // owner of the buffer's credits: Credit::item, or a host of this partition
  static constexpr bool kArchivedWhole = true;
};
static_assert(sizeof(InputVc) == 16);

// The other end of an input port's link between routers.
struct InputPort {
  std::uint16_t partition = 0;
  std::uint16_t group = 0;
};

// The waiting time of a port. `since`: the begin of the present wait; `stalled`: the sum before that, since
// the last reset.
struct OutputStall {
  Tick since = 0;
  Tick stalled = 0;
  static constexpr bool kArchivedWhole = true;
};
struct InputStall {
  Tick since = 0;
  Tick stalled = 0;
  std::uint32_t waiting = 0;  // heads that wait for room behind the crossbar
  [[nodiscard]] Tick until(Tick now) const noexcept { return stalled + (waiting > 0 ? now - since : 0); }
  void archive(Archive& archive) { archive(since, stalled, waiting); }
};

enum class HostState : std::uint8_t {
  kSilent,      // no further message
  kGenerating,  // the next packet enters the source queue when the host's event is due
  kSending,     // its port sends then
  kBlocked,     // has a packet, but no credit
};

struct HostSender {
  SourceCursor cursor{};
  Tick entered = 0;  // time at which the packet to be sent next entered the source queue
  Tick timer_end = -1;
  std::uint64_t number = 0;       // packets sent so far
  std::uint64_t entered_sum = 0;  // sum of the `entered` of all sent packets, modulo 2^64
  std::uint32_t place = 0;        // number % source queue, if that is bounded
  std::uint32_t left = 0;         // packets of the current message not yet sent
  std::uint32_t credits = 0;
  HostId destination{};            // destination of the current message
  std::uint32_t route_offset = 0;  // its prescribed route
  std::uint16_t route_length = 0;
  HostState state = HostState::kSilent;
  void archive(Archive& archive) {
    archive(cursor, entered, timer_end, number, entered_sum, place, left, credits, destination, route_offset,
            route_length, state);
  }
};

// The count of a host's generated packets, and its position.
struct Backlog {
  SourceCursor cursor{};  // everything before is counted
  std::uint64_t packets = 0;
  std::uint64_t entered_sum = 0;  // sum of their times of entry into the source queue, modulo 2^64
  void archive(Archive& archive) { archive(cursor, packets, entered_sum); }
};

// Destinations that were drawn ahead for a host (TrafficSource::draw_ahead): of the messages from `first` on,
// in a step of the schedule.
struct PrefetchedDestinations {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t first = kNone;
  std::uint32_t step = 0;
  std::array<std::uint32_t, TrafficSource::kPrefetchedDestinations> destinations{};
};

struct PartitionState {
  // `blueprint` must outlive the state.
  PartitionState(const Blueprint& blueprint, std::uint32_t index);

  // Numbers of partitions, ports and buffers: a router's ports and input VCs begin at a power of two.
  [[nodiscard]] std::uint32_t router_of_input(std::uint32_t input_vc) const noexcept {
    return input_vc >> plan.input_shift;
  }
  [[nodiscard]] std::uint32_t index_of_input(std::uint32_t input_vc) const noexcept {
    return input_vc & ((1U << plan.input_shift) - 1U);
  }
  [[nodiscard]] std::uint32_t port_id(std::uint32_t router, std::uint32_t port) const noexcept {
    return router << plan.port_shift | port;
  }
  // Whether a packet may leave the queue of this port only with a credit.
  [[nodiscard]] bool needs_credit(const OutputPort& output) const noexcept {
    return output.link_class != LinkClass::kHost && !plan.shared_output;
  }
  [[nodiscard]] std::uint32_t buffer_behind(const OutputPort& output) const noexcept {
    return plan.buffer_behind[index_of(output.link_class)];
  }
  // Ticks that a packet takes longer on the link of this port than on others of its class.
  [[nodiscard]] Tick more_ticks_at(std::uint32_t id) const noexcept {
    return plan.more_ticks[(std::size_t{first_router} << plan.port_shift) + id];
  }
  // Sends a packet over a link at whose other end it arrives in another order than by the ring of its class.
  void send_between(std::uint32_t packet, std::uint32_t input_vc, Tick arrival) {
    if (sent_to.size() < store.packets.size()) sent_to.resize(store.packets.size());
    sent_to[packet] = input_vc;
    store.next[packet] = std::exchange(sent_packets.head(arrival), packet);
    busy.mark(arrival);
  }
  // Whether an input VC of a router requests the crossbar.
  [[nodiscard]] bool is_ready(std::uint32_t router, std::uint32_t input) const noexcept {
    return (ready[router * plan.ready_words + input / 64] >> (input % 64) & 1U) != 0;
  }
  [[nodiscard]] bool waits_for_room(std::uint32_t input_vc) const;
  // Packets that have left their last router and do not count as delivered yet.
  [[nodiscard]] std::uint64_t in_flight_to_hosts() const noexcept { return late.size() + to_hosts.size(); }
  // Calls visit(packet, input VC) for every packet on a link inside the partition, or to it.
  template <class Visit>
  void for_each_arriving(Visit visit) const {
    for (const EventRing<Arrival>& ring : arrivals) {
      ring.for_each([&](const Arrival& arrival) { visit(arrival.packet, arrival.input_vc); });
    }
    for (const std::uint32_t first : sent_packets.heads()) {
      for (std::uint32_t i = first; i != kNil; i = store.next[i]) visit(i, sent_to[i]);
    }
  }
  // Calls visit(packet) for every packet of the partition, when messages from other partitions are taken in.
  template <class Visit>
  void for_each_packet(Visit visit) const {
    for_each_arriving([&](std::uint32_t packet, std::uint32_t) { visit(packet); });
    for (const LateDelivery& delivery : late) visit(delivery.packet);
    to_hosts.for_each([&](const Arrival& arrival) { visit(arrival.packet); });
    const auto visit_list = [&](std::uint32_t packet, std::uint32_t tail) {
      for (; packet != tail; packet = store.next[packet]) visit(packet);
      visit(tail);
    };
    for (const InputVc& input : input_vcs) {
      if (input.head != kNil) visit_list(input.head, input.tail);
    }
    for (std::uint32_t router = 0; router < num_routers; ++router) {
      for (Port port = 0; port < plan.topology.radix(); ++port) {
        const OutputPort& output = ports.port(router, port);
        for (std::uint32_t vc = 0; vc < output.vcs; ++vc) {
          const VcQueue& queue = output.queues()[vc];
          if (queue.queued > 0) visit_list(queue.head, queue.tail);
        }
      }
    }
  }
  template <class Visit>
  void for_each_credit(Visit visit) const {
    for (const EventRing<Credit>& ring : credits) {
      ring.for_each([&](const Credit& credit) { visit(credit.item); });
    }
    for (const std::uint32_t first : sent_credits.heads()) {
      for (std::uint32_t i = first; i != kNil; i = credit_pool[i].next) visit(credit_pool[i].credit.item);
    }
  }
  // Whether no event waits but those of hosts that are far away, and alarms.
  [[nodiscard]] bool silent() const noexcept;
  // Due time of the next message.
  [[nodiscard]] Tick next_message() const noexcept {
    const Tick host = far_hosts.empty() ? kNever : far_hosts.top().when;
    return alarms.empty() ? host : std::min(host, alarms.top().when);
  }
  // Archives all fields that change (core/archive.hpp), read into a state of the same plan. Scratch and
  // constants of the constructor are left out. Throws ConfigError for values that cannot be the state of such
  // a partition.
  void archive(Archive& archive);

  // Memory of the queues of events that every partition has.
  [[nodiscard]] static std::uint64_t queue_bytes(const Blueprint& plan) noexcept;

  // A packet on a link to an input VC; or to its host, which is no input VC.
  struct Arrival {
    LowTick when = 0;
    std::uint32_t packet = 0;
    std::uint32_t input_vc = 0;
    static constexpr bool kArchivedWhole = true;
  };
  struct HostCredit {
    LowTick when = 0;
    std::uint32_t host = 0;
    static constexpr bool kArchivedWhole = true;
  };
  // A packet that reached a router, or the head of a buffer, and has no decision there yet.
  struct Unrouted {
    std::uint32_t packet;
    std::uint32_t input_vc;
    static constexpr bool kArchivedWhole = true;
  };
  struct LateDelivery {
    std::uint32_t packet = 0;
    Tick delivered = 0;
    void archive(Archive& archive) { archive(packet, delivered); }
  };
  struct HostEvent {
    Tick when = 0;
    std::uint32_t host = 0;
    void archive(Archive& archive) { archive(when, host); }
    bool operator>(const HostEvent& other) const noexcept { return when > other.when; }
  };
  using HostEvents = std::priority_queue<HostEvent, std::vector<HostEvent>, std::greater<>>;
  struct PooledCredit {
    Credit credit;
    Feedback feedback;
    std::uint32_t next = kNil;
    static constexpr bool kArchivedWhole = true;
  };

  const Blueprint& plan;
  const Timing timing;  // a copy: at hand
  const std::uint32_t index;
  const std::uint32_t first_router;
  const std::uint32_t num_routers;
  const std::uint32_t first_host;
  const std::uint32_t num_hosts;

  // Time.
  Tick window_start = 0;
  Tick cursor = 0;       // everything before has happened
  Tick next_edge = 0;    // the first edge of the clock after the present time, as a number of clocks
  Tick count_until = 0;  // deliveries up to here are counted at once
  PartitionMessages messages_out;  // messages of the present window, or of the one before

  // Routers.
  PortBlocks ports;                         // output ports
  SharedVector<OutputStall> output_stalls;  // [port id]
  SharedVector<InputPort> inputs;           // [port id]
  SharedVector<InputStall> input_stalls;    // [port id]
  SharedVector<InputVc> input_vcs;          // [input VC]
  SharedVector<std::uint16_t>
      requested;                       // [input VC]: port and VC that its head requests, see requested_of()
  SharedVector<std::uint64_t> ready;   // [router * ready_words]: bits of input VCs that request the crossbar
  SharedVector<std::uint32_t> served;  // [router]: highest stamp of a grant so far
  SharedVector<std::uint16_t> group_of;  // [router]
  SharedVector<std::uint16_t>
      first_waiting;  // [port id * queue_stride + vc]: input VCs that wait for room there
  SharedVector<std::uint16_t> next_waiting;  // [input VC]: the next one, both numbered within the router
  SharedVector<Tick> input_free;             // [port id]: time from which the crossbar serves the input again
  SharedVector<Tick>
      output_free;  // [port id]: time from which the output is free, if a packet takes longer than a clock
  SharedVector<Tick> router_edge;             // [router]: next edge at which the allocator runs
  SharedVector<std::uint16_t> last_requests;  // round-robin, [port id]: the input VC that requested last
  SharedVector<std::uint16_t> last_inputs;    // round-robin, [port id * 2 + whether a host's]: the input port
                                              // that was served last

  // Events. Clock edges: [edge % depth * words + router / 64], bits of routers.
  std::uint32_t edge_words = 0;
  SharedVector<std::uint64_t> edges;
  std::vector<std::uint32_t> edge_planned;  // [edge % depth]: whether any bit is set
  std::vector<EventRing<Credit>> credits;   // [link class]; [0]: unused
  std::vector<EventRing<Feedback>>
      feedback;  // [link class]: reports with these credits; empty without a learner
  EventRing<HostCredit> host_credits;
  std::vector<EventRing<Arrival>> arrivals;  // [link class]; [0]: from hosts
  EventRing<Arrival> to_hosts;               // arrivals at hosts; used with programs only
  enum Departures : std::size_t { kToHosts, kLocal, kGlobal, kDepartures };
  std::vector<SlotLists> departures;  // port ids
  SlotLists hosts_due;
  SlotLists effects;                   // input VCs whose decisions take effect
  TimeSlots sent_packets;              // lists by PacketStore::next
  std::vector<std::uint32_t> sent_to;  // [packet]: the input VC of a packet from another partition
  TimeSlots sent_credits;              // lists in credit_pool
  std::vector<PooledCredit> credit_pool;
  std::vector<std::uint32_t> unused_credits;
  BusyTimes busy;
  HostEvents far_hosts;  // beyond the slots' horizon
  HostEvents alarms;     // times at which programs are called
  std::vector<Unrouted> unrouted;

  // Hosts.
  SharedVector<HostSender> hosts;
  std::uint32_t drawn_packets = 0;             // TrafficSource::drawn_packets()
  SharedVector<PrefetchedDestinations> drawn;  // [host], if the source draws ahead
  SharedVector<Tick> departed;                 // [host * source queue + HostSender::place], if bounded
  std::vector<Backlog> backlog;                // [host], if source queues are unbounded
  bool skips = false;  // a message that finds the source queue full never waits for room
  Tick stop_after = kNever;
  std::unique_ptr<HostPrograms> programs;  // null: open loop
  std::vector<std::uint32_t> woken;        // scratch
  std::vector<std::uint32_t> sending;      // scratch

  // Packets, and their counts.
  PacketStore store;
  std::uint64_t in_network = 0;  // packets in its routers and on its links
  std::vector<LateDelivery> late;
  DeliveryRecord record;
  std::vector<std::uint64_t> router_injected;  // [router]: packets injected since the last reset
  std::vector<std::uint64_t> router_delivered;
  std::uint64_t trace_hash = 0;
  std::uint64_t injected_ever = 0;  // packets injected since the start
  std::uint64_t delivered_ever = 0;
  Tick last_delivery = 0;
  // The time that packets were in the system, as if those that were injected and not delivered since the
  // start had been generated, and delivered, at time 0; modulo 2^64.
  std::uint64_t packet_time = 0;

  // Decisions.
  PartitionTrackers trackers;
  RouterView view;
  std::unique_ptr<PendingDecisions> pending;  // null: packets are never routed from outside
  bool external = false;                      // an outside policy decides
  std::array<RouteChoice, 32> choices{};
  // The rows that the decisions of one of Deciders::policies, or of its background policy, show.
  struct Table {
    std::unique_ptr<ObservationTable> rows;
    std::uint32_t of = 0;  // Deciders::policies_before when it was made
  };
  std::vector<Table> tables;  // [decider]; last: background

  // Scratch of the allocator.
  std::vector<std::uint64_t> keys;      // keys of the requesting input VCs; round-robin: bits of their places
  std::vector<std::uint32_t> requests;  // [i]: input VCs of a router, at most one an input port
  std::vector<std::uint32_t> best_requests;  // [output port]: key of the one that is to be served

 private:
  void reserve();
  void build_ports();
};

// A port and a VC in 16 bits.
static_assert(kMaxRadix * 3 << kVcBits <= 0x10000);
[[nodiscard]] inline std::uint16_t requested_of(const Hop& hop) noexcept {
  return static_cast<std::uint16_t>(hop.port << kVcBits | hop.vc);
}
[[nodiscard]] inline std::uint32_t port_of(std::uint16_t requested) noexcept { return requested >> kVcBits; }
[[nodiscard]] inline std::uint32_t vc_of(std::uint16_t requested) noexcept {
  return requested & ((1U << kVcBits) - 1U);
}

}  // namespace dragonfly
