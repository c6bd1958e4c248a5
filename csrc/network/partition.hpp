// A partition: one or more whole groups with their routers, hosts, packets and events.
//
// Everything that crosses a global link takes at least the look-ahead (the smaller of its packet and
// credit delays), so a partition runs on its own for that long; what leaves it waits in mailboxes.
//
// Why the order of events inside an instant does not matter. An instant is worked off kind by kind:
// clock edges, credits, departures, hosts, arrivals, decisions that take effect, new decisions.
// Within a kind, events touch disjoint state: an edge its own router, a departure its own port, an
// arrival its own buffer (one link brings at most one packet at a time), a credit one counter of one
// port. What they send elsewhere arrives later. Ties between packets are broken by the allocator's
// own keys, random draws belong to packets. So results depend neither on the order of the lists, nor
// on mailboxes, nor on how groups are cut into partitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "core/timing_wheel.hpp"
#include "decisions/decision_desk.hpp"
#include "network/blueprint.hpp"
#include "network/delivery_record.hpp"
#include "network/feedback_lines.hpp"
#include "network/host_programs.hpp"
#include "network/input_port.hpp"
#include "network/packet_store.hpp"
#include "network/partition_trackers.hpp"
#include "network/question_sheet.hpp"
#include "routing/output_port.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// What one partition sends to another during a window.
struct Mailbox {
  struct Item {
    std::uint32_t item;   // a packet (its `next` is the input VC, numbered by the receiver), or a credit
    std::uint32_t delay;  // from the start of the window in which it was sent to its arrival
  };
  std::vector<Item> packets;
  std::vector<Item> credits;
  Tick window_start = 0;
};

// An input VC of any partition.
struct InputVcId {
  std::uint32_t partition = kNil;
  std::uint32_t input_vc = kNil;
  [[nodiscard]] bool exists() const noexcept { return partition != kNil; }
  bool operator==(const InputVcId&) const = default;
};

class Partition {
 public:
  // `open`: null where packets are never routed from outside.
  Partition(const Blueprint& blueprint, PacketStore& store, FeedbackLines& feedback, OpenDecisions* open,
            std::uint32_t index);

  // Memory of the timing wheel that every partition has.
  [[nodiscard]] static std::uint64_t wheel_bytes(Tick horizon) noexcept {
    return TimingWheel<kKinds>::bytes(horizon);
  }

  // Takes in what other partitions sent, for a window that ends before `end`. Packets delivered after
  // `horizon` are counted only when time gets there.
  void open_window(Tick end, Tick horizon, std::span<Mailbox* const> inboxes, std::span<Mailbox> outboxes);
  // Runs to the end of the window; false: it stopped because decisions must be answered first.
  bool go_on();

  // From now on the desk is asked instead of the policy.
  void start_asking() noexcept { asking_ = desk_ != nullptr; }
  // Answers all decisions on the desk, in their order. Precondition: the actions are legal.
  void answer(const std::int32_t* actions);
  [[nodiscard]] DecisionDesk& desk() noexcept { return *desk_; }
  // Counts the deliveries up to and including `now` that were still under way to their hosts.
  void settle(Tick now);
  // Whether nothing happens here before next_message(), unless mail comes.
  [[nodiscard]] bool silent() const noexcept { return in_network_ == 0 && wheel_.empty(); }
  [[nodiscard]] Tick next_message() const noexcept {
    return far_hosts_.empty() ? Blueprint::kNeverTick : far_hosts_.top().when;
  }
  // Everything up to and including this instant has happened here.
  [[nodiscard]] Tick clock() const noexcept { return std::max<Tick>(0, cursor_ - 1); }
  // The next window starts at `now`. Precondition: nothing is due before.
  void skip_to(Tick now) noexcept { now_ = now; }
  // No further message is generated after `now`, and programs are no longer asked.
  void stop_generating(Tick now);

  void reset_statistics(Tick now);
  [[nodiscard]] const DeliveryRecord& record() const noexcept { return record_; }
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_hash_; }
  [[nodiscard]] std::uint64_t in_network() const noexcept { return in_network_; }
  // Packets that wait in source queues at `now`.
  [[nodiscard]] std::uint64_t in_source_queues(Tick now);
  // Since the start, not since the last reset.
  [[nodiscard]] std::uint64_t injected_ever() const noexcept { return injected_ever_; }
  [[nodiscard]] std::uint64_t delivered_ever() const noexcept { return delivered_ever_; }

  [[nodiscard]] std::uint32_t first_router() const noexcept { return first_router_; }
  [[nodiscard]] std::uint32_t num_routers() const noexcept { return num_routers_; }
  [[nodiscard]] const std::vector<OutputPort>& output_ports() const noexcept { return outputs_; }
  [[nodiscard]] const std::vector<std::uint64_t>& router_injected() const noexcept {
    return router_injected_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& router_delivered() const noexcept {
    return router_delivered_;
  }
  [[nodiscard]] std::vector<LoggedPacket> take_log();
  // Null in an open-loop run.
  [[nodiscard]] const HostPrograms* programs() const noexcept { return programs_.get(); }
  // Whether a host here without a program sends, in a closed-loop run.
  [[nodiscard]] bool has_background() const noexcept { return has_background_; }
  // What its routers remember.
  [[nodiscard]] PartitionTrackers& trackers() noexcept { return trackers_; }

  // For the watchdog. Remembers which packets head the input VCs; returns whether some of them are the
  // same as at the last call and were there for the whole time of the watchdog.
  [[nodiscard]] bool note_heads(Tick now);
  // Whether the head of an input VC is one of those.
  [[nodiscard]] bool unmoved(std::uint32_t input_vc) const { return unmoved_[input_vc]; }
  // The input VC that must make room before an unmoved head can move; none if there is no such.
  [[nodiscard]] InputVcId waits_for(std::uint32_t input_vc) const;
  [[nodiscard]] std::string describe_head(std::uint32_t input_vc) const;
  [[nodiscard]] std::uint32_t num_input_vcs() const noexcept {
    return static_cast<std::uint32_t>(input_vcs_.size());
  }
  // A count that rises whenever a packet moves.
  [[nodiscard]] std::uint64_t movements() const;

  // Broken bookkeeping inside this partition, or an empty string. `now`: no event before it is left.
  [[nodiscard]] std::string check_invariants() const;
  // Bookkeeping of credits across partitions: use[partition][sender * queue_stride + vc] collects the
  // credits in use as seen from where packets and credits are; compare_credits() then compares them
  // with what the senders believe.
  [[nodiscard]] std::size_t num_senders() const noexcept { return num_outputs_ + num_hosts_; }
  void count_credits(std::span<const Mailbox> outboxes, std::span<std::vector<std::uint32_t>> use) const;
  void count_arriving(std::uint32_t packet, std::span<std::vector<std::uint32_t>> use) const;
  [[nodiscard]] std::string compare_credits(const std::vector<std::uint32_t>& use) const;

 private:
  enum Kind : std::size_t { kEdge, kCredit, kDeparture, kHost, kArrival, kEffect, kKinds };
  // A credit names its sender: output ports first (router * radix + port), then hosts; times 16 plus VC.
  static constexpr std::uint32_t kVcBits = 4;
  // With programs an item of kHost may also be a packet that reaches its host, or the alarm of a host.
  static constexpr std::uint32_t kDeliveryBit = 1U << 31;
  static constexpr std::uint32_t kAlarmBit = 1U << 30;

  struct Undecided {
    std::uint32_t packet;
    std::uint32_t input_vc;
  };
  struct LateDelivery {
    std::uint32_t packet;
    Tick delivered;
  };
  struct FarHostEvent {
    Tick when;
    std::uint32_t host;
    bool operator>(const FarHostEvent& other) const noexcept { return when > other.when; }
  };

  void build_ports(FeedbackLines& feedback);
  void build_hosts();

  // Kinds of events (partition_events.cpp, partition_edge.cpp, partition_hosts.cpp).
  void step(Tick now);
  void clock_edge(std::uint32_t router, Tick now);
  void take_credit(std::uint32_t item, Tick now);
  void depart(std::uint32_t output, Tick now);
  void arrive(std::uint32_t packet, Tick now);
  void take_effect(std::uint32_t input_vc);
  [[gnu::noinline]] void make_decisions(Tick now);
  enum class Asker : std::uint8_t { kPlain, kSeeing, kLearner };  // what the policy is
  template <Asker asker>
  [[gnu::noinline]] void put_questions(Tick now);
  [[gnu::always_inline]] void go_on(const Undecided& undecided, Tick now);
  static void note_report(Packet& packet, const Answer& answer) noexcept;
  [[nodiscard]] bool ask(const Undecided& undecided, Tick now);
  [[nodiscard]] RouteContext context_of(const Packet& packet, std::uint32_t router, std::uint32_t group);
  // What learners and trackers hear of, where there are any (overheard_).
  void hear_credit(std::uint32_t output, Tick now);
  void hear_grant(std::uint32_t input_port, LinkClass came_by, const Packet& packet, const OutputPort& output,
                  Tick now);
  void hear_refusal(const InputVc& input, Tick now);
  void send_feedback(std::uint32_t input_port, const Packet& packet);
  void take_feedback(std::uint32_t output, Tick now);
  void report_hop(const InputPort& port, std::uint32_t packet, Tick now);
  [[gnu::always_inline]] void await_effect(std::uint32_t packet, std::uint32_t input_vc, Tick now);
  // Hosts are worked off by one of two versions, chosen once per instant: with programs on some, or without.
  template <bool kPrograms>
  void host_event(std::uint32_t host, Tick now);

  void grant(std::uint32_t router, InputVc& input, OutputPort& output, VcQueue& queue, std::uint32_t stamp,
             Tick now);
  [[gnu::always_inline]] void expose_head(InputVc& input, Tick now);
  [[gnu::always_inline]] void make_ready(InputVc& input);
  [[gnu::always_inline]] void plan_edge(std::uint32_t router, Tick edge);
  [[gnu::always_inline]] void plan_departure(std::uint32_t output, OutputPort& port, Tick ready);
  [[nodiscard]] bool needs_credit(const OutputPort& output) const noexcept {
    return output.link_class != LinkClass::kHost && !plan_.shared_output;
  }
  [[nodiscard]] std::uint32_t choose_ready_vc(const OutputPort& output, const VcQueue* queues, Tick now,
                                              std::int32_t& earliest) const noexcept;
  void wake_waiting(std::uint32_t router, VcQueue& queue);
  [[nodiscard]] bool decides_again(InputVc& input);
  void wait_for_room(InputVc& input, OutputPort& output, VcQueue& queue, Tick now);
  [[gnu::always_inline]] void credit_upstream(const InputPort& port, std::uint8_t vc, Tick now);
  void eject(std::uint32_t packet, Tick delivered);
  void await_delivery(std::uint32_t packet, Tick delivered);
  void deliver(std::uint32_t packet, Tick delivered);

  // Programs on hosts (partition_programs.cpp).
  void run_programs(Tick now);
  void hand_over(std::uint32_t packet, Tick now);
  void start_programs();
  void heed(std::uint32_t host, Tick alarm, Tick now);
  [[nodiscard]] bool begin_message(std::uint32_t host, HostSender& sender);
  [[nodiscard]] std::uint64_t queued_by_program(std::uint32_t host, Tick until) const;

  void host_credit(std::uint32_t host, Tick now);
  template <bool kPrograms>
  void send_from_host(std::uint32_t host, HostSender& sender, Tick now);
  template <bool kPrograms>
  void next_packet(std::uint32_t host, HostSender& sender);
  [[nodiscard]] bool next_message(std::uint32_t host, HostSender& sender);
  [[nodiscard]] bool is_crowded_out(std::uint32_t host, const SourceCursor& cursor, std::uint64_t number,
                                    std::uint32_t packets) const;
  void schedule_host(std::uint32_t host, HostSender& sender, Tick now);
  void push_host(std::uint32_t host, Tick when, Tick now);

  std::uint32_t new_packet();
  void free_packet(std::uint32_t packet) { free_packets_.push_back(packet); }
  [[nodiscard]] std::uint64_t allocator_key(const InputVc& input) const noexcept;

  const Blueprint& plan_;
  const std::uint32_t index_;
  const std::uint32_t first_router_;
  const std::uint32_t num_routers_;
  const std::uint32_t first_host_;
  const std::uint32_t num_hosts_;
  const std::uint32_t radix_;
  const std::uint32_t num_outputs_;

  TimingWheel<kKinds> wheel_;
  Tick now_ = 0;              // start of the present window
  Tick window_end_ = 0;       // the present window ends before
  Tick cursor_ = 0;           // everything before has happened
  Tick next_clock_edge_ = 0;  // the first multiple of the clock after the present instant
  Tick count_until_ = 0;      // deliveries up to here are counted at once
  std::span<Mailbox> outboxes_{};

  std::vector<OutputPort> outputs_;  // [router * radix + port]
  std::vector<std::uint16_t>
      last_inputs_;  // [router * radix + port]: input VC that the crossbar served last, if round-robin
  std::vector<VcQueue> queues_;     // [(router * radix + port) * queue_stride + vc]
  std::vector<InputPort> inputs_;   // [router * radix + port]
  std::vector<InputVc> input_vcs_;  // [router * input_vcs + index]
  std::vector<RouterState> routers_;
  std::vector<std::uint16_t> ready_;  // [router * input_vcs + i]: indices of asking input VCs
  std::vector<HostSender> hosts_;
  std::vector<Tick> departures_;              // [host * source queue + number % source queue], if bounded
  std::vector<SourceCursor> backlog_cursor_;  // how far generated packets were counted, per host
  std::vector<std::uint64_t> backlog_count_;
  std::priority_queue<FarHostEvent, std::vector<FarHostEvent>, std::greater<>> far_hosts_;
  std::vector<std::uint32_t> routes_;  // prescribed routes of packets and host messages
  bool skips_ = false;                 // what finds the source queue full never waits for room
  Tick stop_after_ = Blueprint::kNeverTick;

  PacketStore& store_;
  Packet* const packets_;        // of all partitions
  PathRecord* const paths_;      // [packet], with a packet log
  MessagePart* const messages_;  // [packet], with programs
  std::unique_ptr<HostPrograms> programs_;
  bool has_background_ = false;
  std::vector<std::uint32_t> woken_;    // scratch of run_programs()
  std::vector<std::uint32_t> sending_;  // the same
  std::vector<std::uint32_t> free_packets_;
  std::vector<Undecided> undecided_;
  std::vector<Question> questions_;        // of the present instant
  std::vector<Answer> answers_;            // to them
  std::unique_ptr<QuestionSheet> sheet_;   // what they show, if the policy wants to see rows
  std::uint32_t sheet_of_ = 0;             // Blueprint::policies_before when that was made
  std::vector<FeedbackEnd> feedback_out_;  // [router * radix + port]: what goes with credits of that input
  std::vector<FeedbackEnd> feedback_in_;   // [router * radix + port]: what comes with credits to that output
  PartitionTrackers trackers_;
  Surroundings around_;
  bool overheard_ = false;  // somebody listens to credits and grants
  std::unique_ptr<DecisionDesk> desk_;
  bool asking_ = false;
  std::vector<std::uint64_t> keys_;  // scratch of the allocator
  std::vector<LateDelivery> late_;
  std::vector<std::uint64_t> noted_heads_;  // [input VC], at the last call of note_heads()
  std::vector<bool> unmoved_;               // [input VC]

  DeliveryRecord record_;
  std::vector<std::uint64_t> router_injected_;
  std::vector<std::uint64_t> router_delivered_;
  std::uint64_t trace_hash_ = 0;
  std::uint64_t in_network_ = 0;
  std::uint64_t injected_ever_ = 0;
  std::uint64_t delivered_ever_ = 0;
};

}  // namespace dragonfly
