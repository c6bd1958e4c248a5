#include <algorithm>
#include <cmath>

#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

struct Thresholds {
  double increase[2];  // thresholds at level 0 and 1
  double decrease[2];  // thresholds at level 1 and 2
};

// ACOR's level of a router: how long its non-minimal paths are, g -> gl -> lgl.
//   A counter rises with every attempt of a packet that heads an injection queue and has been sent on a
//   non-minimal path by an earlier attempt, which failed: so by one with each refusal. The level rises as
//   soon as the counter has reached the increase threshold of the level; it falls when the hysteresis
//   interval ends with no more than the decrease threshold. When the level rises, and when the interval ends,
//   counter and interval start anew.
// Source: ACOR, Benito et al., JPDC 2019, as LIA (TACO 2025) uses it, sections 2.2.2 and 5.2 and table 1. The
// unit is that of FOGSim, the authors' simulator (pbAcor.cc, switchModule.cc): a head draws a path at each
// attempt, two a cycle, one in each round of the allocator, while its input port is free.
//
// Where a head decides anew after a refusal (decide_at "attempt"), each refusal counts. Where it keeps its
// path, a crossbar that another packet takes counts once, since the authors' head would draw another path;
// without room behind the crossbar all its draws would fail, two a cycle.
//
// No event happens in between: every write or read first processes the cycles that have passed.
class NonMinimalLength final : public RouterTracker {
 public:
  NonMinimalLength(const TrackerSite& site, const Thresholds& thresholds, TimePs hysteresis_ps)
      : first_router_{site.first_router},
        hosts_{site.topology.p()},
        clock_{site.clock},
        interval_{std::max<Tick>(site.ticks_of(hysteresis_ps) / site.clock, 1)},
        thresholds_{thresholds},
        routers_(site.num_routers, State{.left = interval_}),
        heads_(std::size_t{site.num_routers} * hosts_, Head::kNew) {}

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_routers()} * (sizeof(State) + topology.p());
  }

  void archive(Archive& archive) override {
    archive.fixed(routers_);
    archive.fixed(heads_);
  }

  [[nodiscard]] TrackedEvents events() const noexcept override {
    return {.forwards = true, .refused_heads = true};
  }

  void head_refused(std::uint32_t router, Port host_port, const Packet& packet, Refusal why,
                    Tick now) override {
    const std::uint32_t own = router - first_router_;
    Head& head = heads_[std::size_t{own} * hosts_ + host_port];
    if (head == Head::kWaits || (head == Head::kNew && !packet.non_minimal)) return;
    State& state = routers_[own];
    work_off(state, now);
    if (why == Refusal::kNoRoom) {
      head = Head::kWaits;
      ++state.waiting;
    } else {
      if (why == Refusal::kAnew || head == Head::kNew) ++state.counter;
      head = Head::kRefused;
    }
  }
  void packet_forwarded(std::uint32_t router, Port host_port, const Packet& /*packet*/, Tick now) override {
    const std::uint32_t own = router - first_router_;
    Head& head = heads_[std::size_t{own} * hosts_ + host_port];
    if (head == Head::kWaits) {
      work_off(routers_[own], now);
      --routers_[own].waiting;
    }
    head = Head::kNew;
  }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t /*column*/,
                            Tick now) override {
    State& state = routers_[reader - first_router_];
    work_off(state, now);
    return field == 0 ? state.level : static_cast<double>(state.counter);
  }

 private:
  static constexpr std::uint32_t kAttempts = 2;  // attempts per cycle of a head that waits

  enum class Head : std::uint8_t {
    kNew,      // no refusal on a non-minimal path yet
    kRefused,  // refused on a non-minimal path
    kWaits,    // refused on a non-minimal path, and waits for room
  };
  struct State {
    std::int64_t cycle = 0;  // cycle up to which the counter has all refusals
    std::int64_t left = 0;   // cycles of the interval
    std::uint64_t counter = 0;
    std::uint32_t waiting = 0;  // heads
    std::uint32_t level = 0;
    static constexpr bool kArchivedWhole = true;
  };

  void work_off(State& state, Tick now) const noexcept {
    std::int64_t cycles = now / clock_ - state.cycle;
    state.cycle += cycles;
    while (cycles > 0) {
      const std::uint32_t attempts = kAttempts * state.waiting;
      const bool may_rise = state.level < 2;
      const double enough = may_rise ? thresholds_.increase[state.level] : 0;
      std::int64_t step = std::min(cycles, state.left);
      if (may_rise) {
        // Step to the cycle in which the counter reaches the threshold, or has reached it: at least one
        // cycle.
        const double missing = enough - static_cast<double>(state.counter);
        const double until = missing <= 0 ? 1 : attempts > 0 ? std::ceil(missing / attempts) : HUGE_VAL;
        if (until < static_cast<double>(step)) step = static_cast<std::int64_t>(until);
      }
      cycles -= step;
      state.left -= step;
      state.counter += static_cast<std::uint64_t>(step) * attempts;
      const auto counted = static_cast<double>(state.counter);
      const bool rises = may_rise && counted >= enough;
      if (rises) {
        ++state.level;
      } else if (state.left == 0 && state.level > 0 && counted <= thresholds_.decrease[state.level - 1]) {
        --state.level;
      }
      if (!rises && state.left > 0) continue;
      state.counter = 0;
      state.left = interval_;
      if (state.waiting > 0 || state.level > 0) continue;
      // Nothing more to come: only the place in the interval moves on.
      state.left -= cycles % interval_;
      cycles = 0;
    }
  }

  std::uint32_t first_router_;
  std::uint32_t hosts_;
  Tick clock_;
  std::int64_t interval_;  // cycles
  Thresholds thresholds_;
  std::vector<State> routers_;
  std::vector<Head> heads_;  // [router * hosts + host port]: head of the port's queue
};

std::unique_ptr<RouterTracker> make_nonminimal_length(const TrackerInfo& info, const Parameters& given,
                                                      const TrackerSite& site) {
  const auto attempts = [&](const char* name) { return number_parameter(info, given, name); };
  return std::make_unique<NonMinimalLength>(
      site,
      Thresholds{.increase = {attempts("first_increase"), attempts("second_increase")},
                 .decrease = {attempts("first_decrease"), attempts("second_decrease")}},
      static_cast<TimePs>(number_parameter(info, given, "hysteresis_ns") * kPsPerNs));
}

}  // namespace

TrackerInfo nonminimal_length_tracker() {
  return {
      .name = "nonminimal-length",
      .summary =
          "ACOR's level of a router: the length of its non-minimal paths, by the blocked heads of its "
          "injection queues",
      .fields = {{.name = "nonminimal_level",
                  .unit = 2,
                  .doc = "non-minimal paths of the level: 0, by own global links (g); 1, also on to a random "
                         "router (gl); 2, by all routers (lgl)"},
                 {.name = "blocked_cycles",
                  .half = 16,
                  .doc = "attempts of blocked heads of injection queues in this interval"}},
      .parameters = {{"first_increase", 15.0, "attempts",
                      "blocked attempts in an interval from which on level 0 rises to 1. Source: IT1 of LIA, "
                      "TACO 2025, table 1",
                      between(1, 1e9)},
                     {"second_increase", 50.0, "attempts",
                      "blocked attempts in an interval from which on level 1 rises to 2. Source: IT2 of LIA, "
                      "TACO 2025, table 1",
                      between(1, 1e9)},
                     {"first_decrease", 5.0, "attempts",
                      "blocked attempts in an interval up to which level 1 falls to 0. Source: DT1 of LIA, "
                      "TACO 2025, table 1",
                      between(0, 1e9)},
                     {"second_decrease", 15.0, "attempts",
                      "blocked attempts in an interval up to which level 2 falls to 1. Source: DT2 of LIA, "
                      "TACO 2025, table 1",
                      between(0, 1e9)},
                     {"hysteresis_ns", 500.0, "ns",
                      "interval in which blocked attempts are counted. Source: HI of LIA, TACO 2025, table 1",
                      between(1, 1e6)}},
      .make = make_nonminimal_length,
      .bytes = NonMinimalLength::bytes};
}

}  // namespace dragonfly
