// The events of a partition: the clock loop and the functions that it calls.
//
// Why the order of events inside a time does not matter. All events of a time are processed kind by kind:
// clock edges, credits, departures, hosts, arrivals, decisions that take effect, new decisions. Within a
// kind, events touch disjoint state: an edge its own router, a departure its own port, an arrival its own
// buffer (one link brings at most one packet at a time), a credit one counter of one port. All that they send
// elsewhere arrives later. Ties between packets are broken by the allocator's own keys, and random numbers
// belong to packets. So results depend neither on the order of the lists, nor on the order of messages
// between partitions, nor on how groups are cut into partitions.
//
// All functions are compiled for several modes, one of which is general: a specialised mode does not look up
// at each event what its run has fixed. The functions are in files by purpose:
//   events_ports.hpp      credits, departures, arrivals
//   events_allocator.hpp  clock edges: which packets cross the crossbar
//   events_decisions.hpp  which policy decides for a packet
// Hosts and deliveries are the same in all modes (hosts.hpp, delivery.hpp).
#pragma once

#include <cstdint>

#include "network/partition_state.hpp"

namespace dragonfly {

// The source of decisions.
enum class DecisionSource : std::uint8_t {
  kMinimal,  // they go minimally
  kPolicy,   // one policy that needs nothing but RouteContext
  kLearner,
  kTracking,  // one policy, with trackers or rows of features
  kExternal,  // an outside policy, for all packets
  kGeneral,   // any mixture: prescribed routes, programs, several of these
};

// The architecture of the routers.
enum class Routers : std::uint8_t {
  kQueued,  // an output queue per VC, a quick crossbar (Blueprint::single_cycle_crossbar) without a pipeline
            // behind it, at most 64 input VCs
  kWide,    // kQueued with more than 64 input VCs
  kShared,  // one output queue per port
  kAny,
};

struct Mode {
  DecisionSource source = DecisionSource::kGeneral;
  Routers routers = Routers::kAny;
  bool on_arrival = false;  // decisions are made on arrival; not used if source is kGeneral
  [[nodiscard]] constexpr bool any() const noexcept { return source == DecisionSource::kGeneral; }
  // Whether trackers may be notified of events.
  [[nodiscard]] constexpr bool tracks() const noexcept {
    return any() || source == DecisionSource::kTracking;
  }
};

// The reason why the loop returned.
enum class Stop : std::uint8_t {
  kDecisions,  // decisions must be made first
  kDone,       // the jobs that end have just done all that they had to do here
  kEnd,        // everything before the given time has happened
};

template <Mode mode>
struct EventLoop {
  using State = PartitionState;

  // Runs to `end`, a time in the window or the end of it. `until_done`: or until the open work is done, which
  // must not be so yet; the time at which that comes true is worked off completely.
  static Stop go_on(State& s, Tick end, bool until_done);
  // Applies actions to all pending decisions, in their order: Partition::decide().
  static void apply_all(State& s, const std::int32_t* actions);
  // Partition::switch_links() and leave_ports().
  static void switch_links(State& s, const LinkChanges::Ports& ports, Tick now);
  static void leave_ports(State& s, std::span<const Endpoint> dead, Tick now);

 private:
  static constexpr std::uint32_t kAllocatorRounds = 2;  // rounds of round-robin arbiters per clock cycle
  static constexpr std::size_t kDecisionsAtOnce = 32;
  enum class PolicyKind : std::uint8_t { kPlain, kSeeing, kLearner };  // kind of the called policy

  // Compile-time constants in specialised loops; run-time values in the general loop.
  static bool on_arrival(const State& s) noexcept {
    return mode.any() ? s.plan.decide_on_arrival : mode.on_arrival;
  }
  static bool shared_output(const State& s) noexcept {
    return mode.routers == Routers::kAny ? s.plan.shared_output : mode.routers == Routers::kShared;
  }
  static constexpr bool kFew = mode.routers == Routers::kQueued;
  static constexpr bool kQueued = kFew || mode.routers == Routers::kWide;
  static constexpr bool kExternal = mode.source == DecisionSource::kExternal;
  // Whether queues are long enough to fetch the packet behind the head. Queues are short if all packets go
  // minimally.
  static constexpr bool kLooksBehind = mode.source != DecisionSource::kMinimal;
  static bool single_cycle_crossbar(const State& s) noexcept {
    return kQueued || s.plan.single_cycle_crossbar;
  }
  static bool with_through(const State& s) noexcept { return !kQueued && s.store.with_through; }
  static std::uint32_t edge_depth(const State& s) noexcept { return kQueued ? 1U : s.plan.edge_depth; }
  static std::uint32_t ready_words(const State& s) noexcept { return kFew ? 1U : s.plan.ready_words; }
  static std::uint32_t input_shift(const State& s) noexcept {
    return kFew ? kFewInputVcsShift : s.plan.input_shift;
  }
  static std::uint32_t router_of(const State& s, std::uint32_t input_vc) noexcept {
    return input_vc >> input_shift(s);
  }
  static std::uint32_t index_in(const State& s, std::uint32_t input_vc) noexcept {
    return input_vc & ((1U << input_shift(s)) - 1U);
  }
  static bool external(const State& s) noexcept { return mode.any() ? s.external : kExternal; }
  static bool learns(const State& s) noexcept {
    return mode.any() ? s.plan.deciders.learner != nullptr : mode.source == DecisionSource::kLearner;
  }

  // The clock loop.
  static Tick next_due(const State& s, Tick end);
  static void step(State& s, Tick now);
  static void look_ahead(const State& s, Tick now);
  static void prefetch_behind(const State& s, std::uint32_t input_vc);
  static void prefetch_arriving(const State& s, std::uint32_t packet);
  static void prefetch_all(const State& s, std::uint32_t packet);
  static void prefetch_leaving(const State& s, std::uint32_t port, bool to_host);

  // Ports.
  static void take_credit(State& s, const Credit& credit, const Feedback& feedback, Tick now);
  template <State::Departures kind>
  static void depart(State& s, std::uint32_t id, Tick now);
  // Departs onto a link with a share of its rate: a copy, so that other departures read a bit and no more.
  template <State::Departures kind>
  static void depart_degraded(State& s, std::uint32_t id, Tick now);
  template <State::Departures kind, bool kDegraded>
  static void depart_from(State& s, std::uint32_t id, OutputPort& output, Tick now);
  template <State::Departures kind>
  static void depart_all(State& s, Tick now);
  template <bool kFromHost>
  static void arrive(State& s, std::uint32_t packet, std::uint32_t input_vc, Tick now);
  template <State::Departures kind>
  static void prefetch_next(const State& s, const OutputPort& output, std::uint32_t packet);
  static std::uint32_t choose_ready_vc(const State& s, const OutputPort& output, Tick now,
                                       std::int32_t& earliest);
  static void send_to_partition(State& s, const OutputPort& output, std::uint32_t packet,
                                std::uint32_t input_vc, Tick arrival);
  static void plan_departure(State& s, std::uint32_t id, OutputPort& output, Tick ready, Tick now);
  static void schedule(State& s, std::uint32_t id, OutputPort& output, Tick when);
  static void wake_waiting(State& s, std::uint32_t id, std::uint32_t vc, Tick now);
  static void end_block(State& s, std::uint32_t id, OutputPort& output, Tick now);
  static std::uint32_t behind(const State& s, std::uint32_t packet, bool last);
  static void expose_head(State& s, std::uint32_t router, std::uint32_t index, Tick now);
  static void make_ready(State& s, std::uint32_t router, std::uint32_t index, const Hop& hop);
  static void plan_edge(State& s, std::uint32_t router, Tick edge);
  static void plan_effect(State& s, std::uint32_t input_vc, Tick when);

  // The allocator.
  static void clock_edge(State& s, std::uint32_t router, Tick now);
  static std::uint32_t take_requests(State& s, std::uint32_t router);
  static void serve(State& s, std::uint32_t router, const std::uint64_t* keys, std::uint32_t count, Tick now);
  static void quick_edge(State& s, std::uint32_t router, Tick now);
  static void slow_edge(State& s, std::uint32_t router, Tick now);
  static void round_robin_edge(State& s, std::uint32_t router, Tick now);
  static bool allocate_round(State& s, std::uint32_t router, Tick now);
  static bool is_path_free(const State& s, std::uint32_t router, std::uint32_t index, Tick now);
  static void leave_requesting(State& s, std::uint32_t router, std::uint32_t index, Tick now, Tick& retry);
  static void plan_retry(State& s, std::uint32_t router, Tick retry);
  static bool try_grant(State& s, std::uint32_t router, std::uint32_t index, std::uint16_t to,
                        std::uint32_t stamp, Tick now);
  static void grant(State& s, std::uint32_t router, std::uint32_t index, std::uint32_t stamp, Tick now);
  static void grant(State& s, std::uint32_t router, std::uint32_t index, std::uint32_t id, OutputPort& output,
                    std::uint32_t vc, std::uint32_t stamp, Tick now);
  static void credit_upstream(State& s, std::uint32_t router, std::uint32_t index, std::uint32_t packet,
                              Tick now);
  static Feedback report_to(const State& s, std::uint32_t packet, std::uint32_t group);
  static void notify_trackers(State& s, std::uint32_t router, std::uint32_t index, std::uint32_t packet,
                              const OutputPort& output, Tick now);
  static bool has_room(const State& s, const OutputPort& output, std::uint32_t vc);
  static bool is_own_host(const State& s, std::uint32_t index) {
    return s.plan.input_index[index].link_class == LinkClass::kHost;
  }
  static std::uint64_t allocator_key(const State& s, std::uint32_t router, std::uint32_t index);
  static std::uint32_t circle_of(const State& s, std::uint32_t router, std::uint32_t index);
  static void wait_for_room(State& s, std::uint32_t router, std::uint32_t index, Tick now);
  static bool refuse(State& s, std::uint32_t router, std::uint32_t index, Refusal why, Tick now);
  static bool refuse_host(State& s, std::uint32_t router, std::uint32_t index, Refusal why, Tick now);
  static AfterRefusal after_refusal_of(const State& s, std::uint32_t router, std::uint32_t packet);

  // Events of links.
  static bool is_routed_as_known(State& s, std::uint32_t packet);
  static const PathFollower& paths_of(const State& s, std::uint32_t packet) {
    return s.store.with_versions ? s.plan.paths_by_version[s.store.versions[packet]] : s.plan.paths;
  }
  static void requeue(State& s, std::uint32_t router, std::uint32_t packet, const Hop& hop, Tick now);
  static Hop open_hop(State& s, std::uint32_t router, std::uint32_t packet, const Hop& hop);
  static Hop route_again(State& s, std::uint32_t router, std::uint32_t packet);

  // Decisions.
  static void decide_or_follow(State& s, std::uint32_t packet, std::uint32_t router, std::uint32_t index,
                               Tick now);
  static bool needs_decision(const State& s, const Packet& packet, std::uint32_t router, std::uint32_t group,
                             Port input_port);
  static void follow(State& s, std::uint32_t packet, std::uint32_t router, std::uint32_t index, Tick now);
  static void follow(State& s, const State::Unrouted& unrouted, Tick now);
  static void await_effect(State& s, std::uint32_t packet, std::uint32_t router, std::uint32_t index,
                           const Hop& hop, Tick now);
  static void await_effect(State& s, std::uint32_t packet, std::uint32_t input_vc, const Hop& hop, Tick now) {
    await_effect(s, packet, router_of(s, input_vc), index_in(s, input_vc), hop, now);
  }
  static void make_decisions(State& s, Tick now);
  template <bool kShared>
  static void decide_by_policy(State& s, std::uint32_t decider, Tick now);
  static void decide_by_jobs(State& s, Tick now);
  static void decide_by_background(State& s, Tick now);
  // kShared: of several deciders, only the packets that are this one's.
  template <PolicyKind kind, bool kShared>
  static void call_policy(State& s, std::uint32_t decider, Tick now);
  template <bool kLearns>
  static void decide_and_apply(State& s, const RoutingPolicy& policy,
                               std::span<const DecisionContext> decisions, Tick now);
  static bool raise(State& s, const State::Unrouted& unrouted, Tick now);
  // Context: RouteContext, or a class that is made from it and `own`.
  template <class Context = RouteContext, class... Own>
  static Context context_of(const State& s, std::uint32_t packet, std::uint32_t input_vc, Own... own);
};

// The loop that is compiled for the partition's present mode.
using GoOn = Stop (*)(PartitionState&, Tick, bool);
[[nodiscard]] GoOn loop_of(const PartitionState& s) noexcept;
// The instances, each in a file of its own: they take long to compile.
[[nodiscard]] GoOn go_on_general() noexcept;
[[nodiscard]] GoOn go_on_minimal(Routers routers, bool on_arrival) noexcept;
[[nodiscard]] GoOn go_on_policy(Routers routers, bool on_arrival) noexcept;
[[nodiscard]] GoOn go_on_learner(Routers routers, bool on_arrival) noexcept;
[[nodiscard]] GoOn go_on_tracking(Routers routers, bool on_arrival) noexcept;
[[nodiscard]] GoOn go_on_external(Routers routers, bool on_arrival) noexcept;

}  // namespace dragonfly
