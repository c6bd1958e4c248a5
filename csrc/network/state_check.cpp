#include "network/state_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "routing/choices.hpp"

namespace dragonfly {

namespace {

constexpr Tick kLatest = kNever / 2;
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 53;

template <class T>
std::uint8_t flag_at(const T& of, std::size_t offset) noexcept {
  std::uint8_t byte = 0;
  std::memcpy(&byte, reinterpret_cast<const std::byte*>(&of) + offset, 1);
  return byte;
}

// Of one partition. `placed_` notes where each packet is: a packet in two lists, or twice in one, would be a
// circle.
class Soundness {
 public:
  Soundness(const Archive& archive, const PartitionState& s)
      : archive_{archive},
        s_{s},
        topology_{s.plan.topology},
        fresh_{s.plan, s.index},
        placed_(s.store.packets.size()) {}

  void check() {
    require(s_.window_start >= 0 && s_.window_start <= kLatest && s_.cursor >= 0 && s_.cursor <= kLatest &&
                s_.next_edge >= 0 && s_.next_edge <= kLatest && s_.count_until >= -1 &&
                s_.count_until <= kLatest,
            "a clock is broken");
    check_store();
    check_ports();
    check_edges();
    check_inputs();
    check_effects();
    check_under_way();
    check_credits();
    check_hosts();
    for (const Acknowledgement& heard : s_.trackers.acknowledgements().all())
      check_acknowledgement(archive_, s_, heard);
    if (s_.desk != nullptr) check_desk();
    check_unused();
    check_record();
  }

  static void check_acknowledgement(const Archive& archive, const PartitionState& s,
                                    const Acknowledgement& heard) {
    archive.require(heard.source_router - s.first_router < s.num_routers &&
                        heard.destination_router < s.plan.topology.num_routers() &&
                        heard.kind < kAcknowledgedKinds,
                    "an acknowledgement comes from nowhere");
  }

  // Numbers that are only shown: small enough to be added up, and consistent where somebody divides by them.
  static bool is_count(std::uint64_t count) noexcept { return count <= kMostCounted; }
  static bool is_sum(std::int64_t sum) noexcept { return sum >= 0 && sum <= kLatest; }
  static bool has(const LatencyHistogram& histogram, std::uint64_t count) noexcept {
    return adds_up(histogram.counts(), count);
  }
  static bool adds_up(const std::vector<std::uint64_t>& counts, std::uint64_t count) noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : counts) {
      if (!is_count(one) || !is_count(sum)) return false;
      sum += one;
    }
    return sum == count;
  }

  // A packet as such, wherever it is.
  static void check_packet(const Archive& archive, const PartitionState& s, const Packet& packet,
                           const PacketTimes& times, Tick until) {
    const Dragonfly& topology = s.plan.topology;
    archive.require(flag_at(packet, offsetof(Packet, non_minimal)) <= 1, "a flag is neither 0 nor 1");
    archive.require(
        packet.source_host < topology.num_hosts() && packet.destination_host < topology.num_hosts(),
        "a packet has no host");
    archive.require(packet.destination_router == topology.router_of_host(packet.destination_host) &&
                        packet.destination_group == topology.group_of(packet.destination_router),
                    "a packet goes to two places");
    archive.require(
        times.created >= 0 && times.created <= until && times.injected >= 0 && times.injected <= until,
        "a packet is older than time, or not made yet");
    archive.require(
        static_cast<std::uint8_t>(packet.plan) <= static_cast<std::uint8_t>(Plan::kRouted) &&
            static_cast<std::uint8_t>(packet.detour_kind) <= static_cast<std::uint8_t>(DetourKind::kL),
        "a packet has no plan");
    const bool router = packet.detour_router < topology.num_routers();
    const bool group = packet.detour_group < topology.num_groups();
    bool sound = true;
    switch (packet.plan) {
      case Plan::kMinimal:
        break;
      case Plan::kByGateway:
        sound = router && topology.group_of(packet.detour_router) ==
                              topology.group_of(topology.router_of_host(packet.source_host));
        break;
      case Plan::kToDetour:
      case Plan::kFromDetour:
        sound = group && (!visits_router(packet.detour_kind) ||
                          (router && topology.group_of(packet.detour_router) == packet.detour_group));
        break;
      case Plan::kRouted:
        sound = packet.detour_group > 0 &&
                std::uint64_t{packet.detour_router} + packet.detour_group <= s.plan.source.routes().size();
        break;
    }
    archive.require(sound, "a packet goes by nowhere");
  }

  // Whether the packet comes to its destination from this router of the system on VCs that there are.
  static void check_way(const Archive& archive, const Blueprint& plan, Packet packet, std::uint32_t router) {
    constexpr std::uint32_t kMost = 64;
    const Dragonfly& topology = plan.topology;
    for (std::uint32_t i = 0; i < kMost; ++i) {
      Hop hop;
      if (packet.plan == Plan::kRouted) {
        const auto route = plan.source.routes().subspan(packet.detour_router, packet.detour_group);
        const bool at_end = std::size_t{packet.hops} + 1 >= route.size();
        archive.require(at_end ? router == packet.destination_router : route[packet.hops] == router,
                        "a packet is off its route");
        hop = plan.paths.routed(packet, router, route);
      } else {
        hop = plan.paths.next(packet, router, topology.group_of(router), plan.paths.source_stage(packet));
      }
      archive.require(hop.port < topology.radix(), "a packet goes nowhere");
      const LinkClass link = topology.port_class(hop.port);
      archive.require(hop.vc < plan.vcs[index_of(link)], "a packet needs a channel that does not exist");
      if (link == LinkClass::kHost) {
        archive.require(router == packet.destination_router &&
                            packet.destination_host == router * topology.p() + hop.port,
                        "a packet arrives at another host");
        return;
      }
      const Endpoint far = topology.neighbor(router, hop.port);
      archive.require(far.port != kNoPort && packet.hops < 0xff, "a packet leaves by no link");
      router = far.router;
      ++packet.hops;
    }
    archive.require(false, "a packet never arrives");
  }
  static void check_credit(const Archive& archive, const PartitionState& s, const Credit& credit,
                           std::size_t link) {
    const std::uint32_t id = credit.item >> kVcBits;
    archive.require(id < s.ports.size() && (id & ((1U << s.plan.port_shift) - 1U)) < s.plan.topology.radix(),
                    "a credit is for no port");
    const OutputPort& output = s.ports[id];
    archive.require(
        (credit.item & ((1U << kVcBits) - 1U)) < output.vcs && output.link_class != LinkClass::kHost,
        "a credit is for no channel");
    archive.require(link == 0 || index_of(output.link_class) == link, "a credit is of another kind");
  }
  static void check_feedback(const Archive& archive, const PartitionState& s, const Feedback& feedback) {
    if (feedback.row == kNil) return;
    archive.require(s.plan.learner != nullptr && feedback.row < s.plan.learner->shape(s.plan.topology).rows,
                    "a report is about nothing");
  }
  // A message between two hosts of a job.
  static void check_part(const Archive& archive, const PartitionState& s, const Packet& packet,
                         const MessagePart& part) {
    archive.require(part.policy < s.plan.deciders.size() && static_cast<std::size_t>(part.lane) < kLanes,
                    "a packet has no policy");
    if (part.packets == 0) return;
    const auto& to = s.plan.workload->place_of(packet.destination_host);
    const auto& from = s.plan.workload->place_of(packet.source_host);
    archive.require(to.exists() && from.exists() && to.job == from.job, "a message goes to another job");
  }
  // Rows that are shown, or kept to be shown.
  static void check_row(const Archive& archive, const std::byte* row, const DecisionPlan& asked) {
    archive.require(asked.rows.is_sound(row), "a flag is neither 0 nor 1, or of no action");
  }
  static void check_open(const Archive& archive, const PartitionState& s, const Packet& packet,
                         std::uint32_t count, const std::byte* heads, const std::byte* rows) {
    const DecisionPlan& asked = *s.plan.decisions;
    archive.require(count <= std::min<std::uint32_t>(s.store.open->most(), packet.hops + 1U),
                    "too many decisions are open");
    for (std::uint32_t i = 0; i < count; ++i) {
      OpenDecision one;
      std::memcpy(static_cast<void*>(&one), heads + i * sizeof(OpenDecision), sizeof(OpenDecision));
      archive.require(one.id >= 0 && host_of_decision(one.id) < s.plan.topology.num_hosts(),
                      "a decision is of no host");
      archive.require(one.agent >= 0 && static_cast<std::uint32_t>(one.agent) < s.plan.topology.num_routers(),
                      "a router does not exist");
      if (asked.spec.flag("keep_transitions")) check_row(archive, rows + i * asked.rows.bytes(), asked);
    }
  }
  // What travels with a mailed packet is read by PacketStore::unpack() without a look at the end. Returns
  // where that of the next one begins.
  static std::size_t check_baggage(const Archive& archive, const PartitionState& s, const Mail& mail,
                                   const Mail::SentPacket& sent) {
    const std::byte* at = mail.baggage.data() + sent.baggage;
    std::size_t left = mail.baggage.size() - sent.baggage;
    const auto part_of = [&](std::size_t size) {
      archive.require(size <= left, "the baggage of a packet is missing");
      left -= size;
      return std::exchange(at, at + size);
    };
    if (s.store.with_paths) {
      PathRecord path;
      std::memcpy(&path, part_of(sizeof(PathRecord)), sizeof(PathRecord));
      archive.require(path.length <= PathRecord::kLongest, "a path is too long");
    }
    if (s.store.with_messages) {
      MessagePart part;
      std::memcpy(static_cast<void*>(&part), part_of(sizeof(MessagePart)), sizeof(MessagePart));
      check_part(archive, s, sent.packet, part);
    }
    if (s.store.open) {
      std::uint32_t count = 0;
      std::memcpy(&count, part_of(sizeof(count)), sizeof(count));
      archive.require(count <= s.store.open->most(), "too many decisions are open");
      const std::byte* const heads = part_of(count * sizeof(OpenDecision));
      const bool keeps = s.plan.decisions->spec.flag("keep_transitions");
      const std::byte* const rows = part_of(keeps ? count * s.plan.decisions->rows.bytes() : 0);
      check_open(archive, s, sent.packet, count, heads, rows);
      if (s.plan.decisions->spec.flag("keep_feedback")) {
        const std::byte* const note = part_of(sizeof(HopNote));
        archive.require(
            note[offsetof(HopNote, chosen)] <= std::byte{1} && note[offsetof(HopNote, asked)] <= std::byte{1},
            "a flag is neither 0 nor 1");
      }
    }
    return mail.baggage.size() - left;
  }

 private:
  void require(bool holds, const char* what) const { archive_.require(holds, what); }

  // The time, from the cursor on, of a slot.
  [[nodiscard]] Tick time_of_slot(std::size_t slot, std::size_t slots) const noexcept {
    return s_.cursor + static_cast<Tick>((slot - static_cast<std::size_t>(s_.cursor)) & (slots - 1));
  }

  void check_store() const {
    const PacketStore& store = s_.store;
    for (const std::uint32_t next : store.next) {
      require(next == kNil || next < store.packets.size(), "a list leads nowhere");
    }
    for (std::size_t i = 0; i < store.paths.size(); ++i) {
      require(store.paths[i].length <= PathRecord::kLongest, "a path is too long");
    }
    require(s_.mailed_to.size() <= store.packets.size(), "mail is for packets that do not exist");
  }

  void place(std::uint32_t packet) {
    require(packet < placed_.size() && placed_[packet] == 0, "a packet is in two places, or in none");
    placed_[packet] = 1;
    check_packet(archive_, s_, s_.store.packets[packet], s_.store.times[packet],
                 s_.cursor + s_.timing.horizon);
    if (s_.store.with_messages) check_part(archive_, s_, s_.store.packets[packet], s_.store.messages[packet]);
  }
  // Whether `hop` leads somewhere from this router (of the partition).
  [[nodiscard]] bool leads_on(std::uint32_t router, const Hop& hop) const {
    if (hop.port >= topology_.radix()) return false;
    const OutputPort& output = s_.ports[s_.port_id(router, hop.port)];
    return hop.vc < output.vcs && (output.link_class == LinkClass::kHost || output.peer != kNil);
  }
  void check_way(const Packet& packet, std::uint32_t router) const {
    check_way(archive_, s_.plan, packet, router);
  }
  // The packet is at this router of the system, or will be when it has passed `more` links.
  void check_at(std::uint32_t packet_index, std::uint32_t router, std::uint32_t more) const {
    Packet packet = s_.store.packets[packet_index];
    packet.hops = static_cast<std::uint8_t>(packet.hops + more);
    check_way(packet, router);
    const std::uint32_t source = topology_.router_of_host(packet.source_host);
    const bool learns = s_.plan.paths.ladder().budget().any_port;
    if (learns || !packet.goes_straight()) return;  // the others decide no more
    const std::uint32_t group = topology_.group_of(router);
    if (group != topology_.group_of(source) || group == packet.destination_group) return;
    require(packet.hops <= topology_.local_way_hops() * 2, "a packet has come too far");
    require(router != source || packet.hops == 0, "a packet is back where it began");
  }

  void check_ports() {
    for (std::uint32_t id = 0; id < s_.ports.size(); ++id) {
      const std::uint32_t router = id >> s_.plan.port_shift;
      const std::uint32_t port = id - (router << s_.plan.port_shift);
      const OutputPort& output = s_.ports[id];
      const OutputPort& made = fresh_.ports[id];
      require(output.peer == made.peer && output.peer_partition == made.peer_partition &&
                  output.vcs == made.vcs && output.link_class == made.link_class,
              "a port leads elsewhere");
      require(flag_at(output, offsetof(OutputPort, scheduled)) <= 1 &&
                  flag_at(output, offsetof(OutputPort, blocked)) <= 1,
              "a flag is neither 0 nor 1");
      const std::uint32_t vcs = output.vcs;
      require(output.sendable >> vcs == 0 && output.waiting >> vcs == 0 && output.next_vc <= vcs,
              "a channel does not exist");
      std::uint32_t queued = 0;
      for (std::uint32_t vc = 0; vc < s_.plan.queue_stride; ++vc) {
        const VcQueue& queue = output.queues()[vc];
        const VcQueue& empty = fresh_.ports[id].queues()[vc];
        require(queue.head == kNil || queue.head < placed_.size(), "a queue begins nowhere");
        require(vc < vcs || (queue.queued == 0 && queue.credits == empty.credits),
                "a channel does not exist");
        require(queue.credits <= std::max<std::uint32_t>(empty.credits, 1),
                "there are more credits than places");
        if (queue.queued == 0) continue;
        queued += queue.queued;
        require(port < topology_.radix() && (output.link_class == LinkClass::kHost || output.peer != kNil),
                "packets wait for no link");
        const std::uint32_t own = s_.first_router + router;
        std::uint32_t last = kNil;
        std::uint32_t count = 0;
        for (std::uint32_t i = queue.head; count < queue.queued; i = s_.store.next[i]) {
          place(i);
          last = i;
          ++count;
          if (output.link_class == LinkClass::kHost) {
            require(s_.store.packets[i].destination_host == own * topology_.p() + port,
                    "a packet arrives at another host");
          } else {
            check_at(i, topology_.neighbor(own, static_cast<Port>(port)).router, 1);
          }
        }
        require(last == queue.tail, "a queue has another end");
      }
      require(queued == output.queued, "a port counts wrongly");
    }
    std::vector<std::uint8_t> planned(s_.ports.size());
    for (std::size_t kind = 0; kind < PartitionState::kDepartures; ++kind) {
      each_item(s_.departures[kind], [&](std::uint32_t id, Tick) {
        require(planned[id] == 0 && s_.ports[id].scheduled, "a departure is planned twice, or not wanted");
        planned[id] = 1;
        const LinkClass link = s_.ports[id].link_class;
        const std::size_t own = link == LinkClass::kHost       ? PartitionState::kToHosts
                                : link == s_.plan.global_class ? PartitionState::kGlobal
                                                               : PartitionState::kLocal;
        require(own == kind && (id & ((1U << s_.plan.port_shift) - 1U)) < topology_.radix(),
                "a departure is of another kind");
      });
    }
    for (std::uint32_t id = 0; id < s_.ports.size(); ++id) {
      require(s_.ports[id].scheduled == (planned[id] != 0), "a departure is forgotten");
    }
  }

  // Each item of lists by time, with its time; an item in two places ends the walk.
  template <class Visit>
  void each_item(const SlotLists& lists, Visit visit) const {
    std::vector<std::uint8_t> seen(lists.items());
    const auto& heads = lists.slots().heads();
    for (std::size_t slot = 0; slot < heads.size(); ++slot) {
      for (std::uint32_t i = heads[slot]; i != kNil; i = lists.next(i)) {
        require(i < seen.size() && seen[i] == 0, "a list of events leads in a circle, or nowhere");
        seen[i] = 1;
        visit(i, time_of_slot(slot, heads.size()));
      }
    }
  }

  void check_edges() const {
    for (std::size_t i = 0; i < s_.edges.size(); ++i) {
      const std::size_t first = (i % s_.edge_words) * 64;
      const std::size_t there = std::min<std::size_t>(64, s_.num_routers - first);
      require(there == 64 || s_.edges[i] >> there == 0, "a router does not exist");
    }
  }

  [[nodiscard]] bool is_input(std::uint32_t input_vc) const {
    return input_vc < s_.input_vcs.size() && s_.index_of_input(input_vc) < s_.plan.input_vcs &&
           s_.input_vcs[input_vc].upstream != kNil;
  }

  void check_inputs() {
    waits_.assign(s_.input_vcs.size(), 0);
    buffer_of_.assign(placed_.size(), kNil);
    for (std::uint32_t input_vc = 0; input_vc < s_.input_vcs.size(); ++input_vc) {
      const InputVc& input = s_.input_vcs[input_vc];
      require(input.upstream == fresh_.input_vcs[input_vc].upstream, "a buffer is fed by another port");
      const std::uint32_t router = s_.router_of_input(input_vc);
      const std::uint32_t index = s_.index_of_input(input_vc);
      const bool ready = index < s_.plan.ready_words * 64 && s_.is_ready(router, index);
      if (input.head == kNil) {
        require(!ready, "an empty buffer asks");
        continue;
      }
      require(is_input(input_vc), "a buffer does not exist");
      require(input.tail != kNil, "a buffer has no end");
      for (std::uint32_t i = input.head, last = kNil; last != input.tail; i = s_.store.next[i]) {
        place(i);
        last = i;
        buffer_of_[i] = input_vc;
        check_at(i, s_.first_router + router, 0);
      }
      if (ready) require_wanted(input_vc);
    }
    for (std::size_t at = 0; at < s_.first_waiting.size(); ++at) {
      const auto id = static_cast<std::uint32_t>(at / s_.plan.queue_stride);
      const auto vc = static_cast<std::uint32_t>(at % s_.plan.queue_stride);
      const std::uint32_t router = id >> s_.plan.port_shift;
      std::uint16_t index = s_.first_waiting[at];
      require(index == kNoInputVc || vc < s_.ports[id].vcs, "somebody waits for no channel");
      for (; index != kNoInputVc;) {
        require(index < s_.plan.input_vcs, "a buffer does not exist");
        const std::uint32_t input_vc = (router << s_.plan.input_shift) + index;
        require(waits_[input_vc] == 0 && s_.input_vcs[input_vc].head != kNil && !s_.is_ready(router, index),
                "a buffer waits twice, or in vain");
        waits_[input_vc] = 1;
        require_wanted(input_vc);
        const std::uint16_t to = s_.wanted[input_vc];
        require(s_.port_id(router, port_of(to)) == id && vc_of(to) == vc,
                "a buffer waits for something else");
        index = s_.next_waiting[input_vc];
      }
    }
    for (std::size_t i = 0; i < s_.ready.size(); ++i) {
      const std::size_t first = (i % s_.plan.ready_words) * 64;
      require(first + 64 <= s_.plan.input_vcs || s_.ready[i] >> (s_.plan.input_vcs - first) == 0,
              "a buffer does not exist");
    }
    for (const std::uint16_t last : s_.last_inputs)
      require(last < topology_.radix(), "an input port does not exist");
    require(s_.undecided.empty(), "decisions are left over");
  }
  void require_wanted(std::uint32_t input_vc) const {
    const std::uint32_t router = s_.router_of_input(input_vc);
    const std::uint16_t to = s_.wanted[input_vc];
    const Hop hop{static_cast<Port>(port_of(to)), static_cast<std::uint8_t>(vc_of(to))};
    require(leads_on(router, hop), "a buffer asks for no port");
    require_on_way(s_.input_vcs[input_vc].head, router, hop);
  }
  // Behind that hop the packet still comes to its destination.
  void require_on_way(std::uint32_t packet_index, std::uint32_t router, const Hop& hop) const {
    Packet packet = s_.store.packets[packet_index];
    const std::uint32_t own = s_.first_router + router;
    if (topology_.port_class(hop.port) == LinkClass::kHost) {
      require(packet.destination_host == own * topology_.p() + hop.port, "a packet arrives at another host");
      return;
    }
    require(packet.hops < 0xff, "a packet never arrives");
    ++packet.hops;
    check_way(packet, topology_.neighbor(own, hop.port).router);
  }

  void check_effects() {
    effect_at_.assign(s_.input_vcs.size(), -1);
    each_item(s_.effects, [&](std::uint32_t input_vc, Tick when) {
      require(is_input(input_vc), "a buffer does not exist");
      require(s_.input_vcs[input_vc].head != kNil && waits_[input_vc] == 0 &&
                  !s_.is_ready(s_.router_of_input(input_vc), s_.index_of_input(input_vc)),
              "a decision takes effect twice, or on nothing");
      effect_at_[input_vc] = when;
    });
    pending_.assign(placed_.size(), 0);
    if (s_.desk != nullptr) {
      for (std::uint32_t i = 0; i < s_.desk->size(); ++i) {
        const PendingDecision& asked = s_.desk->pending(i);
        require(asked.packet < placed_.size() && buffer_of_[asked.packet] == asked.input_vc &&
                    pending_[asked.packet] == 0,
                "a decision is about another packet");
        pending_[asked.packet] = 1;
      }
    }
    // Whoever goes on without another decision knows where to.
    for (std::uint32_t packet = 0; packet < placed_.size(); ++packet) {
      const std::uint32_t input_vc = buffer_of_[packet];
      if (input_vc == kNil) continue;
      const Decided& decided = s_.store.decided[packet];
      require(!s_.plan.decide_on_arrival || s_.timing.routing_delay == 0 ||
                  decided.when == s_.store.packets[packet].arrived,
              "a packet was decided about at another time");
      const bool head = s_.input_vcs[input_vc].head == packet;
      if (!s_.plan.decide_on_arrival && !(head && effect_at_[input_vc] >= 0)) continue;
      if (s_.plan.decide_on_arrival && head && effect_at_[input_vc] < 0)
        continue;  // asks, waits, or is pending
      const Hop& hop = decided.hop;
      const std::uint32_t router = s_.router_of_input(input_vc);
      // What waits for its decision gets a hop then, before it goes on.
      if (pending_[packet] != 0 && !s_.desk->decided_before()) continue;
      require(leads_on(router, hop), "a packet knows no way");
      require_on_way(packet, router, hop);
    }
  }

  void check_under_way() {
    const auto arriving = [&](std::uint32_t packet, std::uint32_t input_vc, std::uint32_t more) {
      require(is_input(input_vc), "a packet comes to no buffer");
      place(packet);
      check_at(packet, s_.first_router + s_.router_of_input(input_vc), more);
    };
    for (std::size_t link = 0; link < s_.arrivals.size(); ++link) {
      s_.arrivals[link].for_each([&](const PartitionState::Arrival& arrival) {
        arriving(arrival.packet, arrival.input_vc, link == 0 ? 0 : 1);
        const LinkClass by = s_.plan.input_index[s_.index_of_input(arrival.input_vc)].link_class;
        require(index_of(by) == link, "a packet comes by another link");
      });
    }
    for (const std::uint32_t first : s_.mailed_packets.heads()) {
      for (std::uint32_t i = first; i != kNil; i = s_.store.next[i]) {
        require(i < s_.mailed_to.size(), "mail is for nobody");
        arriving(i, s_.mailed_to[i], 1);
      }
    }
    const auto leaving = [&](std::uint32_t packet) {
      place(packet);
      require(s_.store.packets[packet].destination_host - s_.first_host < s_.num_hosts,
              "a host is elsewhere");
    };
    s_.to_hosts.for_each([&](const PartitionState::Arrival& arrival) { leaving(arrival.packet); });
    require(s_.to_hosts.empty() || s_.programs != nullptr, "nobody hears of deliveries");
    for (const PartitionState::LateDelivery& late : s_.late) {
      leaving(late.packet);
      require(late.delivered >= 0 && late.delivered <= kLatest, "a delivery has no time");
    }
  }

  void check_credits() {
    require(s_.credits[0].empty(), "hosts' credits are elsewhere");
    for (std::size_t link = 1; link < s_.credits.size(); ++link) {
      s_.credits[link].for_each([&](const Credit& credit) { check_credit(archive_, s_, credit, link); });
      if (s_.feedback.empty()) continue;
      require(s_.feedback[link].size() == s_.credits[link].size(), "a report is missing");
      s_.feedback[link].for_each([&](const Feedback& feedback) { check_feedback(archive_, s_, feedback); });
    }
    s_.host_credits.for_each([&](const PartitionState::HostCredit& credit) {
      require(credit.host < s_.num_hosts, "a host does not exist");
    });
    std::vector<std::uint8_t> seen(s_.credit_pool.size());
    const auto once = [&](std::uint32_t i) {
      require(i < seen.size() && seen[i] == 0, "a credit is in two lists");
      seen[i] = 1;
    };
    for (const std::uint32_t first : s_.mailed_credits.heads()) {
      for (std::uint32_t i = first; i != kNil; i = s_.credit_pool[i].next) {
        once(i);
        check_credit(archive_, s_, s_.credit_pool[i].credit, 0);
        check_feedback(archive_, s_, s_.credit_pool[i].feedback);
      }
    }
    for (const std::uint32_t unused : s_.unused_credits) once(unused);
  }

  void check_hosts() {
    const std::uint32_t limit = s_.plan.options.source_queue_packets;
    std::vector<std::uint8_t> planned(s_.num_hosts);
    const auto plan_of = [&](std::uint32_t host) {
      require(host < s_.num_hosts && planned[host] == 0, "a host is called twice");
      planned[host] = 1;
    };
    each_item(s_.hosts_due, [&](std::uint32_t host, Tick) { plan_of(host); });
    for (PartitionState::HostEvents far = s_.far_hosts; !far.empty(); far.pop()) plan_of(far.top().host);
    for (PartitionState::HostEvents alarms = s_.alarms; !alarms.empty(); alarms.pop()) {
      require(alarms.top().host < s_.num_hosts && s_.programs != nullptr &&
                  s_.programs->runs_on(alarms.top().host),
              "an alarm is for nobody");
    }
    for (std::uint32_t host = 0; host < s_.num_hosts; ++host) {
      const HostSender& sender = s_.hosts[host];
      require(sender.state <= HostState::kBlocked, "a host does nothing that it may do");
      require((planned[host] != 0) ==
                  (sender.state == HostState::kGenerating || sender.state == HostState::kSending),
              "a host is never called, or in vain");
      require(sender.destination.value < topology_.num_hosts() || sender.left == 0, "a host sends to nobody");
      require(limit == 0 ? sender.place == 0 : sender.place < limit, "a source queue has no such place");
      require(std::uint64_t{sender.route_offset} + sender.route_length <= s_.plan.source.routes().size() ||
                  sender.route_length == 0,
              "a route does not exist");
      require(sender.entered >= -kLatest && sender.timer_end >= -kLatest && sender.timer_end <= kLatest,
              "a host has no time");
      const bool programmed = s_.programs != nullptr && s_.programs->runs_on(host);
      require(programmed || s_.plan.source.knows(HostId{s_.first_host + host}, sender.cursor),
              "a message does not exist");
      require(sender.left > 0 || sender.state == HostState::kSilent, "a host has nothing to send");
    }
    // A generator skips its times until a packet has left, so this must not be in the far future.
    const auto has_been = [&](Tick when) { return when >= 0 && when <= s_.cursor; };
    require(std::ranges::all_of(s_.departed, has_been), "a packet has left in the future");
    for (std::size_t host = 0; host < s_.backlog_cursor.size(); ++host) {
      if (s_.programs != nullptr && s_.programs->runs_on(static_cast<std::uint32_t>(host))) continue;
      require(s_.plan.source.knows(HostId{s_.first_host + static_cast<std::uint32_t>(host)},
                                   s_.backlog_cursor[host]),
              "a message does not exist");
    }
    if (s_.programs != nullptr) s_.programs->require_sound(archive_, s_.plan.deciders.size());
  }

  void check_id(std::int64_t id) const {
    require(id == -1 || (id >= 0 && host_of_decision(id) < topology_.num_hosts()),
            "a decision is of no host");
  }
  void check_agent(std::int32_t agent) const {
    require(agent >= -1 && agent < static_cast<std::int32_t>(topology_.num_routers()),
            "a router does not exist");
  }

  void check_desk() {
    DecisionDesk& desk = *s_.desk;
    const DecisionPlan& asked = *s_.plan.decisions;
    for (std::uint32_t i = 0; i < desk.size(); ++i) {
      const PendingDecision& one = desk.pending(i);
      const std::uint32_t router = s_.router_of_input(one.input_vc);
      require(one.router == s_.first_router + router && one.group == s_.group_of[router],
              "a decision is of another router");
      const bool head = s_.input_vcs[one.input_vc].head == one.packet;
      require(s_.plan.decide_on_arrival || head, "a decision is about a packet that waits behind others");
      require(one.time >= desk.first_time() && one.time <= s_.cursor, "a decision has no time");
      const Packet& packet = s_.store.packets[one.packet];
      require(!s_.plan.decide_on_arrival || packet.arrived == low_of(one.time),
              "a decision came at another time");
      if (head && effect_at_[one.input_vc] >= 0 && s_.timing.routing_delay > 0) {
        require(effect_at_[one.input_vc] >= desk.first_time() + s_.timing.routing_delay,
                "a decision takes effect before it is made");
      }
      require(one.source_host == packet.source_host && one.number == packet.number && one.hops == packet.hops,
              "a decision is about another packet");
      check_row(archive_, desk.row(i), asked);
      check_actions(one, i, packet, router);
    }
    TransitionLog& log = desk.log();
    for (std::size_t i = 0; i < log.size(); ++i) {
      const CompletedDecision& done = log.heads()[i];
      check_id(done.id);
      check_id(done.next_id);
      check_agent(done.agent);
      check_agent(done.next_agent);
      require(done.agent >= 0, "a router does not exist");
      if (!log.keeps_rows()) continue;
      check_row(archive_, log.row(i), asked);
      check_row(archive_, log.next_row(i), asked);
    }
    for (std::size_t i = 0; i < desk.reports().size(); ++i) {
      const HopReport& report = desk.reports().data()[i];
      check_id(report.id);
      check_id(report.next_id);
      check_agent(report.agent);
      require(report.agent >= 0, "a router does not exist");
    }
    const OpenDecisions& open = *s_.store.open;
    for (std::uint32_t packet = 0; packet < placed_.size(); ++packet) {
      const std::uint32_t count = open.count(packet);
      require(count == 0 || placed_[packet] != 0, "a decision is about no packet");
      check_open(archive_, s_, s_.store.packets[packet], count,
                 reinterpret_cast<const std::byte*>(&open.head(packet, 0)), open.row(packet, 0));
    }
  }
  // What is legal leads somewhere.
  void check_actions(const PendingDecision& one, std::uint32_t i, const Packet& packet,
                     std::uint32_t router) const {
    const DecisionPlan& asked = *s_.plan.decisions;
    const DecisionDesk& desk = *s_.desk;
    Packet before = packet;
    if (desk.decided_before()) {
      desk.undo(i, before);
      check_packet(archive_, s_, before, s_.store.times[one.packet], s_.cursor + s_.timing.horizon);
      check_way(before, one.router);
    }
    for (std::uint32_t action = 0; action < asked.num_actions; ++action) {
      if (!asked.rows.allows(desk.row(i), action)) continue;
      Packet sent = before;
      Answer answer;
      if (one.forced) return;  // it follows its plan, which was checked
      if (asked.by_port()) {
        answer.port = static_cast<Port>(asked.first_port + action);
        answer.shortest = true;
        require(
            answer.port < topology_.radix() && topology_.neighbor(one.router, answer.port).port != kNoPort,
            "a legal action leads nowhere");
      } else {
        require(action < asked.num_candidates, "a legal action leads nowhere");
        const Candidate& candidate = desk.candidates(i)[action];
        require(
            candidate.kind >= 0 && candidate.kind <= 1 + static_cast<int>(DetourKind::kL) &&
                candidate.intermediate_group >= -1 &&
                candidate.intermediate_group < static_cast<std::int32_t>(topology_.num_groups()) &&
                candidate.intermediate_router >= -1 &&
                candidate.intermediate_router < static_cast<std::int32_t>(topology_.num_routers()) &&
                candidate.minimal_choice >= 0 &&
                static_cast<std::uint32_t>(candidate.minimal_choice) < std::max(1U, topology_.num_choices()),
            "a candidate path does not exist");
        answer = answer_of(candidate);
        if (answer.detour.exists()) {
          sent.plan = Plan::kToDetour;
          sent.detour_kind = answer.detour.kind;
          sent.detour_router = answer.detour.router;
          sent.detour_group = answer.detour.group;
          check_packet(archive_, s_, sent, s_.store.times[one.packet], s_.cursor + s_.timing.horizon);
          sent = before;
        } else if (answer.gateway != kNil) {
          require(topology_.group_of(answer.gateway) == one.group, "a gateway is in another group");
        }
      }
      const Hop hop = take_answer(s_.plan.paths, sent, one.router, one.group, answer);
      require(leads_on(router, hop), "a legal action leads nowhere");
      if (topology_.port_class(hop.port) == LinkClass::kHost) continue;
      ++sent.hops;
      check_way(sent, topology_.neighbor(one.router, hop.port).router);
    }
  }

  void check_record() const {
    const DeliveryRecord& record = s_.record;
    bool sound =
        is_count(record.injected) && is_count(record.delivered) && record.minimal <= record.delivered &&
        is_count(record.lost) && is_sum(record.latency_ps) && is_sum(record.network_latency_ps) &&
        is_sum(record.latency_max_ps) && record.latency_min_ps >= 0 &&
        (record.delivered == 0 || record.latency_min_ps <= record.latency_max_ps) &&
        adds_up(record.hops, record.delivered) && has(record.latencies, record.delivered) &&
        adds_up(s_.router_injected, record.injected) && adds_up(s_.router_delivered, record.delivered) &&
        is_count(s_.injected_ever) && is_count(s_.delivered_ever);
    for (std::uint32_t id = 0; id < s_.ports.size(); ++id) {
      sound = sound && is_count(s_.ports[id].sent) && is_sum(s_.output_stalls[id].stalled) &&
              is_sum(s_.output_stalls[id].since) && is_sum(s_.input_stalls[id].stalled) &&
              is_sum(s_.input_stalls[id].since);
    }
    for (const SeriesBin& bin : record.series) {
      sound = sound && is_sum(bin.injected) && is_sum(bin.delivered) && is_sum(bin.latency_ps) &&
              is_sum(bin.hops) && is_sum(bin.arrived) && is_sum(bin.arrived_latency_ps);
    }
    for (const HostSender& sender : s_.hosts) sound = sound && is_count(sender.number);
    for (const std::uint64_t count : s_.backlog_count) sound = sound && is_count(count);
    require(sound, "its counts do not add up");
  }

  void check_unused() {
    for (const std::uint32_t packet : s_.store.unused) {
      require(packet < placed_.size() && placed_[packet] == 0, "a packet is in two places, or in none");
      placed_[packet] = 1;
    }
  }

  const Archive& archive_;
  const PartitionState& s_;
  const Dragonfly& topology_;
  const PartitionState fresh_;
  std::vector<std::uint8_t> placed_;      // [packet]
  std::vector<std::uint32_t> buffer_of_;  // [packet]: the input VC that it is in
  std::vector<std::uint8_t> pending_;     // [packet]
  std::vector<std::uint8_t> waits_;       // [input VC]: for room
  std::vector<Tick> effect_at_;           // [input VC]; -1: none
};

}  // namespace

void require_sound(const Archive& archive, const PartitionState& s) { Soundness{archive, s}.check(); }

void require_sound(const Archive& archive, const Mail& mail, std::span<const Partition> all) {
  const auto receiver = [&](std::uint32_t to) -> const PartitionState& {
    archive.require(to < all.size(), "mail is for no partition");
    return all[to].state();
  };
  std::size_t baggage = 0;
  for (const Mail::SentPacket& sent : mail.packets) {
    const PartitionState& to = receiver(sent.to);
    Soundness::check_packet(archive, to, sent.packet, sent.times, kLatest);
    archive.require(sent.input_vc < to.input_vcs.size() &&
                        to.index_of_input(sent.input_vc) < to.plan.input_vcs &&
                        to.input_vcs[sent.input_vc].upstream != kNil && sent.packet.hops < 0xff,
                    "a packet comes to no buffer");
    Packet packet = sent.packet;
    ++packet.hops;
    Soundness::check_way(archive, to.plan, packet, to.first_router + to.router_of_input(sent.input_vc));
    if (!to.store.has_baggage()) continue;
    archive.require(sent.baggage == baggage, "the baggage of a packet is missing");
    baggage = Soundness::check_baggage(archive, to, mail, sent);
  }
  archive.require(baggage == mail.baggage.size(), "there is more baggage than packets");
  for (const Mail::SentCredit& sent : mail.credits) {
    Soundness::check_credit(archive, receiver(sent.to), sent.credit, 0);
  }
  archive.require(mail.feedback.empty() || mail.feedback.size() == mail.credits.size(),
                  "a report is missing");
  for (std::size_t i = 0; i < mail.feedback.size(); ++i) {
    Soundness::check_feedback(archive, receiver(mail.credits[i].to), mail.feedback[i]);
  }
  for (const Mail::SentAcknowledgement& sent : mail.acknowledgements) {
    Soundness::check_acknowledgement(archive, receiver(sent.to), sent.acknowledgement);
  }
  archive.require(mail.messages.empty() ||
                      (all.front().state().programs != nullptr && mail.messages.size() == all.size()),
                  "messages go to no program");
}

}  // namespace dragonfly
