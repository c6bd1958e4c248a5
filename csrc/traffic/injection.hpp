// When the messages of a host start: three arrival processes behind one compile-time interface.
//
//   Process(params, load)
//   TimePs first(key, from_ps)       the first arrival of the process at or after from_ps >= first_ps
//   TimePs next(key, previous_ps)    the arrival that follows the one at previous_ps
//
// `key` names the draw: number of the arrival and schedule step of one host. `first` may say from which
// number on arrivals count; every following one has the next number. kNever: too far away to matter.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/log.hpp"
#include "core/random.hpp"
#include "core/time.hpp"
#include "traffic/even_grid.hpp"
#include "traffic/synthetic_source.hpp"

namespace dragonfly {

struct ArrivalKey {
  std::uint64_t seed;
  std::uint32_t host;
  std::uint64_t arrival;
  std::uint32_t step;

  // In (0, 1]: its logarithm is finite.
  [[nodiscard]] double draw() const noexcept {
    RandomStream random{seed, Purpose::kInjection, host, arrival, step};
    return static_cast<double>((random.next_u64() >> 11) + 1) * 0x1.0p-53;
  }
};

namespace detail {

// The first first_ps + k * interval_ps that is not before from_ps.
constexpr TimePs first_on_grid(TimePs first_ps, TimePs interval_ps, TimePs from_ps) noexcept {
  const TimePs late = (from_ps - first_ps) % interval_ps;
  return late == 0 ? from_ps : from_ps - late + interval_ps;
}

// gap >= 0, maybe infinite.
inline TimePs later(TimePs time_ps, double gap_ps) noexcept {
  return gap_ps < static_cast<double>(kNever - time_ps) ? time_ps + static_cast<TimePs>(gap_ps) : kNever;
}

}  // namespace detail

// Every host at the same instants, first_ps + those of an even grid. An arrival's number is its place on the
// grid, which a generator that comes late (a round) may leave: the gaps then go on from where it is.
class PeriodicProcess {
 public:
  PeriodicProcess(const SyntheticParams& params, double load)
      : first_ps_{params.first_ps},
        grid_{params.intervals == PeriodicIntervals::kExact
                  ? EvenGrid::quotient(params.packet_ps, params.message_packets, load)
                  : EvenGrid{whole_ns_interval_ps(params, load)}} {}

  // As in the simulator of Kang et al., HPDC 2021; 0 if it rounds to nothing.
  static TimePs whole_ns_interval_ps(const SyntheticParams& params, double load) {
    const double message_ps = static_cast<double>(params.packet_ps) * params.message_packets;
    const double interval_ns = std::floor(message_ps / (load * kPsPerNs) + 0.5);
    return detail::later(0, interval_ns * kPsPerNs);
  }

  TimePs first(ArrivalKey& key, TimePs from_ps) const noexcept {
    key.arrival = grid_.first_from(from_ps - first_ps_);
    return first_ps_ + grid_.at(key.arrival);
  }
  TimePs next(const ArrivalKey& key, TimePs previous_ps) const noexcept {
    return previous_ps + grid_.gap_before(key.arrival);
  }

 private:
  TimePs first_ps_;
  EvenGrid grid_;
};

// A trial per host and trial_ps; the number of trials up to a success is geometric and is drawn at once.
class BernoulliProcess {
 public:
  BernoulliProcess(const SyntheticParams& params, double load)
      : first_ps_{params.first_ps}, trial_ps_{params.trial_ps} {
    const double p = probability(params, load);
    certain_ = p >= 1.0;
    inverse_log_failure_ = certain_ ? 0.0 : 1.0 / deterministic_log1p(-p);
    max_failures_ = static_cast<double>(kNever / 2 / trial_ps_);
  }

  static double probability(const SyntheticParams& params, double load) {
    const double message_ps = static_cast<double>(params.packet_ps) * params.message_packets;
    return load * static_cast<double>(params.trial_ps) / message_ps;
  }

  TimePs first(const ArrivalKey& key, TimePs from_ps) const noexcept {
    return after_failures(key, detail::first_on_grid(first_ps_, trial_ps_, from_ps));
  }
  TimePs next(const ArrivalKey& key, TimePs previous_ps) const noexcept {
    return after_failures(key, previous_ps + trial_ps_);
  }

 private:
  // P(at least k failures) = (1 - p)^k = P(log(draw) <= k log(1 - p)).
  TimePs after_failures(const ArrivalKey& key, TimePs trial_ps) const noexcept {
    if (certain_) return trial_ps;
    const double failures = deterministic_log(key.draw()) * inverse_log_failure_;
    if (!(failures < max_failures_)) return kNever;
    return trial_ps + static_cast<TimePs>(failures) * trial_ps_;
  }

  TimePs first_ps_;
  TimePs trial_ps_;
  bool certain_ = false;
  double inverse_log_failure_ = 0.0;
  double max_failures_ = 0.0;
};

class PoissonProcess {
 public:
  PoissonProcess(const SyntheticParams& params, double load)
      : mean_ps_{before_rounding(static_cast<double>(params.packet_ps) * params.message_packets / load)} {}

  TimePs first(const ArrivalKey& key, TimePs from_ps) const noexcept { return next(key, from_ps); }
  TimePs next(const ArrivalKey& key, TimePs previous_ps) const noexcept {
    return detail::later(previous_ps, 0.5 - mean_ps_ * deterministic_log(key.draw()));
  }

 private:
  // Gaps of mean m, rounded to the nearest ps, have the mean 1 / (2 sinh(1 / 2m)): 4 % less at 1 ps. What m
  // must be for a mean of `wanted_ps` is 1 / (2 arsinh(1 / (2 wanted_ps))).
  static double before_rounding(double wanted_ps) noexcept {
    const double x = 0.5 / wanted_ps;
    return 0.5 / deterministic_log1p(x + x * x / (1.0 + std::sqrt(1.0 + x * x)));
  }

  double mean_ps_;
};

}  // namespace dragonfly
