// Traffic from patterns and random (or periodic) arrivals, by a schedule of steps.
//
// All hosts follow the same schedule; a host draws from its own streams, keyed by (seed, host, message
// number), so its k-th message has the same destination for every policy, number of threads and set of other
// hosts do.
//
// At the start of a step the injection process restarts with the new load: an arrival that was drawn for
// later than that is dropped and drawn again, by the new load, from the start of the step. Message numbers go
// on. Periodic arrivals and Bernoulli trials stay on one grid, first_ps + k * interval (to the nearest ps; or
// trial_ps), for the whole run: a step begins with the first grid point at or after its start.
//
// Rounds: a pattern may let a host generate n messages at once (TrafficPattern::round_messages). Then all
// statements on messages hold for rounds, at load / n. While the source queue is full the rest of a round is
// tried again every packet time (where full queues lose messages, every failed try is one that is lost); the
// next round starts when it would have started without waiting, or as soon as this round is through.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "traffic/registry.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

enum class InjectionKind : std::uint8_t { kPeriodic, kBernoulli, kPoisson };
[[nodiscard]] InjectionKind parse_injection(std::string_view name);  // throws ConfigError

// The time between periodic messages, message_packets * packet_ps / load.
enum class PeriodicIntervals : std::uint8_t {
  kExact,    // exact intervals: the k-th message comes at the ps nearest to k intervals
  kWholeNs,  // every one rounded to whole ns
};
[[nodiscard]] PeriodicIntervals parse_periodic_intervals(std::string_view name);  // throws ConfigError

// A step of a schedule: from start_ps to the next step, hosts offer their shares of `load`
// (TrafficPattern::share).
struct TrafficStep {
  TimePs start_ps = 0;
  PatternPtr pattern;
  double load = 0.0;  // fraction of the host link bandwidth, in (0, 1]
};

struct SyntheticParams {
  std::uint32_t num_hosts = 0;  // hosts of the system
  std::uint64_t seed = 0;
  InjectionKind injection = InjectionKind::kPeriodic;
  std::uint32_t message_packets = 1;
  TimePs packet_ps = 0;  // serialisation of one packet on a host link
  TimePs trial_ps = 0;   // Bernoulli: one trial per trial_ps and host
  TimePs first_ps = 0;   // origin of the grid of arrivals or trials; nothing is generated earlier
  PeriodicIntervals intervals = PeriodicIntervals::kExact;
};

// Periodic: messages at first_ps + k * interval (see PeriodicIntervals); all hosts in phase.
// Bernoulli: a message starts in a trial with probability load * trial_ps / (message_packets * packet_ps).
// Poisson: exponential gaps with mean message_packets * packet_ps / load, rounded to ps.
// Throws ConfigError if intervals of whole ns miss a load by more than 2 %. Precondition: steps in rising
// order, loads in (0, 1].
[[nodiscard]] std::unique_ptr<TrafficSource> make_synthetic_source(std::vector<TrafficStep> steps,
                                                                   const SyntheticParams& params);

}  // namespace dragonfly
