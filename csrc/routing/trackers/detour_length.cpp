#include <algorithm>
#include <cmath>

#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

struct Thresholds {
  double increase[2];  // at level 0 and 1
  double decrease[2];  // at level 1 and 2
};

// ACOR's level of a router: how long its detours are, g -> gl -> lgl.
//   A counter rises by one in every clock cycle in which a packet that is to take a detour, and has been
//   refused by the crossbar before, heads an injection queue; with three such heads by three. The level rises
//   as soon as the counter has reached the increase threshold of the level; it falls when the hysteresis
//   interval ends with no more than the decrease threshold. Then, and whenever the level's increase threshold
//   is reached, counter and interval start anew.
// Source: ACOR, Benito et al., JPDC 2019, as LIA (TACO 2025) uses it, sections 2.2.2 and 5.2 and table 1;
// that it is cycles that count is as in FOGSim, the authors' simulator, where a blocked head asks every
// cycle. Deviation: there it asks twice a cycle, and each time by the level of that moment; here a packet
// keeps the detour of its one decision.
//
// Nothing happens in between: whoever writes or reads works off the cycles that have passed.
class DetourLength final : public RouterTracker {
 public:
  DetourLength(const TrackerSite& site, const Thresholds& thresholds, TimePs hysteresis_ps)
      : first_router_{site.first_router},
        hosts_{site.topology.p()},
        clock_{site.clock},
        interval_{std::max<Tick>(site.ticks_of(hysteresis_ps) / site.clock, 1)},
        thresholds_{thresholds},
        routers_(site.num_routers, State{.left = interval_}),
        refused_(std::size_t{site.num_routers} * hosts_, 0) {}

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_routers()} * (sizeof(State) + topology.p());
  }

  [[nodiscard]] TrackedEvents hears() const noexcept override {
    return {.forwards = true, .refused_heads = true};
  }

  void head_refused(std::uint32_t router, Port host_port, const Packet& packet, Tick now) override {
    const std::uint32_t own = router - first_router_;
    std::uint8_t& refused = refused_[std::size_t{own} * hosts_ + host_port];
    if (refused != 0 || !packet.non_minimal) return;
    work_off(routers_[own], now);
    refused = 1;
    ++routers_[own].heads;
  }
  void packet_forwarded(std::uint32_t router, Port host_port, const Packet& /*packet*/, Tick now) override {
    const std::uint32_t own = router - first_router_;
    std::uint8_t& refused = refused_[std::size_t{own} * hosts_ + host_port];
    if (refused == 0) return;
    work_off(routers_[own], now);
    refused = 0;
    --routers_[own].heads;
  }

  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t /*column*/,
                            Tick now) override {
    State& state = routers_[reader - first_router_];
    work_off(state, now);
    return field == 0 ? state.level : static_cast<double>(state.counter);
  }

 private:
  struct State {
    std::int64_t cycle = 0;  // up to which everything is worked off
    std::int64_t left = 0;   // cycles of the interval
    std::uint64_t counter = 0;
    std::uint32_t heads = 0;  // refused ones
    std::uint32_t level = 0;
  };

  void work_off(State& state, Tick now) const noexcept {
    std::int64_t cycles = now / clock_ - state.cycle;
    state.cycle += cycles;
    while (cycles > 0) {
      const double enough = thresholds_.increase[std::min(state.level, 1U)];
      std::int64_t step = std::min(cycles, state.left);
      if (state.heads > 0) {
        // To the cycle in which the counter reaches the threshold, which takes at least this one.
        const double missing = std::max(enough - static_cast<double>(state.counter), 1.0);
        const double until = std::ceil(missing / state.heads);
        if (until < static_cast<double>(step)) step = static_cast<std::int64_t>(until);
      }
      cycles -= step;
      state.left -= step;
      state.counter += static_cast<std::uint64_t>(step) * state.heads;
      const auto counted = static_cast<double>(state.counter);
      const bool reached = counted >= enough && state.heads > 0;
      if (reached) {
        state.level = std::min(state.level + 1, 2U);
      } else if (state.left == 0 && state.level > 0 && counted <= thresholds_.decrease[state.level - 1]) {
        --state.level;
      }
      if (!reached && state.left > 0) continue;
      state.counter = 0;
      state.left = interval_;
      if (state.heads > 0 || state.level > 0) continue;
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
  std::vector<std::uint8_t> refused_;  // [router * hosts + host port]: its head, which is to take a detour
};

std::unique_ptr<RouterTracker> make_detour_length(const TrackerInfo& info, const Parameters& given,
                                                  const TrackerSite& site) {
  const auto cycles = [&](const char* name) { return number_parameter(info, given, name); };
  return std::make_unique<DetourLength>(
      site,
      Thresholds{.increase = {cycles("first_increase"), cycles("second_increase")},
                 .decrease = {cycles("first_decrease"), cycles("second_decrease")}},
      static_cast<TimePs>(number_parameter(info, given, "hysteresis_ns") * kPsPerNs));
}

}  // namespace

TrackerInfo detour_length_tracker() {
  return {
      .name = "detour-length",
      .summary = "ACOR's level of a router: how long its detours are, by how long heads were blocked",
      .fields = {{.name = "detour_level",
                  .unit = 2,
                  .doc = "0: own global links (g); 1: and a random router behind (gl); 2: all routers (lgl)"},
                 {.name = "blocked_cycles",
                  .half = 16,
                  .doc = "cycles that blocked heads of injection queues have waited in this interval"}},
      .parameters = {{"first_increase", 15.0, "cycles",
                      "level 0 rises to 1 at so many. Source: IT1 of LIA, TACO 2025, table 1",
                      between(1, 1e9)},
                     {"second_increase", 50.0, "cycles",
                      "level 1 rises to 2 at so many. Source: IT2 of LIA, TACO 2025, table 1",
                      between(1, 1e9)},
                     {"first_decrease", 5.0, "cycles",
                      "level 1 falls to 0 with so many or fewer. Source: DT1 of LIA, TACO 2025, table 1",
                      between(0, 1e9)},
                     {"second_decrease", 15.0, "cycles",
                      "level 2 falls to 1 with so many or fewer. Source: DT2 of LIA, TACO 2025, table 1",
                      between(0, 1e9)},
                     {"hysteresis_ns", 500.0, "ns",
                      "the interval of the counter. Source: HI of LIA, TACO 2025, table 1", between(1, 1e6)}},
      .make = make_detour_length,
      .bytes = DetourLength::bytes};
}

}  // namespace dragonfly
