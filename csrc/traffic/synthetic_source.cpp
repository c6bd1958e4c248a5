#include "traffic/synthetic_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/nearest.hpp"
#include "core/random.hpp"
#include "core/time.hpp"
#include "traffic/even_grid.hpp"

namespace dragonfly {
namespace {

// Arrival times of the messages of a host: three arrival processes behind one compile-time interface.
//
//   Process(params, load)
//   TimePs first(key, from_ps)       the first arrival of the process at or after from_ps >= first_ps
//   TimePs next(key, previous_ps)    the arrival that follows the one at previous_ps
//
// `key` names the draw: number of the arrival and schedule step of one host. `first` may set the number from
// which arrivals count; every following one has the next number. kNever: too far away to matter.

struct ArrivalKey {
  std::uint64_t seed;
  std::uint32_t host;
  std::uint64_t arrival;
  std::uint32_t step;

  // Draws a number in (0, 1], whose logarithm is finite.
  [[nodiscard]] double draw() const noexcept {
    RandomStream random{seed, Purpose::kInjection, host, arrival, step};
    return static_cast<double>((random.next_u64() >> 11) + 1) * 0x1.0p-53;
  }
};

// The first first_ps + k * interval_ps that is not before from_ps.
constexpr TimePs first_on_grid(TimePs first_ps, TimePs interval_ps, TimePs from_ps) noexcept {
  const TimePs late = (from_ps - first_ps) % interval_ps;
  return late == 0 ? from_ps : from_ps - late + interval_ps;
}

// gap >= 0, maybe infinite.
TimePs later(TimePs time_ps, double gap_ps) noexcept {
  return gap_ps < static_cast<double>(kNever - time_ps) ? time_ps + static_cast<TimePs>(gap_ps) : kNever;
}

// Every host at the same times, first_ps + those of an even grid. An arrival's number is its place on the
// grid, which a generator that comes late (a round) may leave: the gaps then go on from the late time.
class PeriodicProcess {
 public:
  PeriodicProcess(const SyntheticParams& params, double load)
      : first_ps_{params.first_ps},
        grid_{params.intervals == PeriodicIntervals::kExact
                  ? EvenGrid::quotient(params.packet_ps, params.message_packets, load)
                  : EvenGrid{whole_ns_interval_ps(params, load)}} {}

  // Rounds as in the simulator of Kang et al., HPDC 2021; returns 0 for an interval below half a nanosecond.
  static TimePs whole_ns_interval_ps(const SyntheticParams& params, double load) {
    const double message_ps = static_cast<double>(params.packet_ps) * params.message_packets;
    const double interval_ns = std::floor(message_ps / (load * kPsPerNs) + 0.5);
    return later(0, interval_ns * kPsPerNs);
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
    return after_failures(key, first_on_grid(first_ps_, trial_ps_, from_ps));
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
    return later(previous_ps, 0.5 - mean_ps_ * deterministic_log(key.draw()));
  }

 private:
  // Gaps of mean m, rounded to the nearest ps, have the mean 1 / (2 sinh(1 / 2m)): 4 % less at 1 ps. For a
  // mean of `wanted_ps`, m must be 1 / (2 arsinh(1 / (2 wanted_ps))).
  static double before_rounding(double wanted_ps) noexcept {
    const double x = 0.5 / wanted_ps;
    return 0.5 / deterministic_log1p(x + x * x / (1.0 + std::sqrt(1.0 + x * x)));
  }

  double mean_ps_;
};

constexpr std::size_t kMostAveraged = 1'000;  // steps of a schedule, for the offered load
// The largest deviation of the load for an interval of whole ns. The published simulator, with 32 ns per
// packet, deviates by up to 1.6 %: all its loads pass.
constexpr double kMostOff = 0.02;

void require(bool ok, const std::string& field, const std::string& value, const std::string& allowed) {
  if (!ok) throw ConfigError(field, value, allowed);
}

// A round of n messages, n intervals of one message, is relatively no further off than one message.
void check_whole_ns_at(double load, const std::string& step, const SyntheticParams& params) {
  const double wanted_ps = static_cast<double>(params.packet_ps) * params.message_packets / load;
  const TimePs interval_ps = PeriodicProcess::whole_ns_interval_ps(params, load);
  if (interval_ps >= kNever) return;
  const double offered = load * wanted_ps / static_cast<double>(interval_ps);
  require(std::fabs(offered - load) <= kMostOff * load, "periodic_intervals", "'whole-ns'",
          "would offer " + (interval_ps == 0 ? "messages without end" : to_text(offered)) +
              " instead of the load " + to_text(load) + " of " + step + " (messages " +
              to_text(wanted_ps / kPsPerNs) + " ns apart, rounded); must be 'exact' for such a load");
}

// Checks every interval that a host has.
void check_whole_ns(const std::string& name, const TrafficStep& step, const SyntheticParams& params) {
  check_whole_ns_at(step.load, name, params);
  double last = 1.0;
  for (std::uint32_t host = 0; host < params.num_hosts; ++host) {
    const double share = step.pattern->share(HostId{host});
    if (share > 0.0 && share != last) check_whole_ns_at(step.load * share, name, params);
    last = share;
  }
}

template <class Process>
class SyntheticSource final : public TrafficSource {
 public:
  SyntheticSource(const std::vector<TrafficStep>& steps, const SyntheticParams& params) : params_{params} {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const TimePs end_ps = i + 1 < steps.size() ? steps[i + 1].start_ps : kNever;
      steps_.push_back({.process = Process{params, steps[i].load},
                        .start_ps = std::max(steps[i].start_ps, params.first_ps),
                        .end_ps = end_ps,
                        .load = steps[i].load,
                        .pattern = steps[i].pattern});
    }
  }

  void start(HostId host, SourceCursor& cursor) const override {
    cursor = SourceCursor{};
    enter(host, cursor);
  }

  void advance(HostId host, SourceCursor& cursor) const override {
    ++cursor.message;
    const Step& step = steps_[cursor.step];
    const std::uint32_t round = step.pattern->round_messages(host);
    if (round == 1) return single(host, step, cursor);
    if (cursor.message % round != 0 || cursor.time_ps == kNever)
      return;  // the round's messages have one time
    ++cursor.trial;
    const TimePs due_ps = cursor.time_ps - cursor.late * params_.packet_ps;
    const TimePs next_ps = step.process_of(host, round, params_).next(key(host, cursor), due_ps);
    cursor.late = 0;
    move_to(std::max(next_ps, cursor.time_ps), host, step, cursor);
  }

  // The rest of a round follows as soon as there is room: it is tried again after a packet time.
  void skip(HostId host, SourceCursor& cursor) const override {
    const Step& step = steps_[cursor.step];
    if (step.pattern->round_messages(host) == 1) return single(host, step, cursor);
    ++cursor.late;
    move_to(cursor.time_ps + params_.packet_ps, host, step, cursor);
  }

  // The place of a periodic message on its grid is the number of its arrival, so a jump draws nothing.
  std::uint64_t skip_until(HostId host, SourceCursor& cursor, TimePs last_ps) const override {
    std::uint64_t skips = 0;
    while (cursor.time_ps <= last_ps) {
      skip(host, cursor);
      ++skips;
      if constexpr (std::is_same_v<Process, PeriodicProcess>) {
        const Step& step = steps_[cursor.step];
        if (cursor.time_ps > last_ps || step.pattern->round_messages(host) > 1) continue;
        ArrivalKey arrival = key(host, cursor);
        const TimePs from_ps = std::min(last_ps + 1, step.end_ps);
        const TimePs next_ps = step.process_of(host, 1, params_).first(arrival, from_ps);
        skips += arrival.arrival - cursor.trial;
        cursor.trial = arrival.arrival;
        move_to(next_ps, host, step, cursor);
      }
    }
    return skips;
  }

  [[nodiscard]] std::uint64_t burst_from(HostId host, const SourceCursor& cursor,
                                         std::uint64_t message) const override {
    if (cursor.time_ps >= kNever) return message;
    const std::uint64_t burst = steps_[cursor.step].pattern->round_messages(host);
    return (message + burst - 1) / burst * burst;
  }

  Message describe(HostId host, const SourceCursor& cursor) const override {
    RandomStream random{params_.seed, Purpose::kDestination, host.value, cursor.message};
    return {.destination = steps_[cursor.step].pattern->destination(host, cursor.message, random),
            .packets = params_.message_packets};
  }

  [[nodiscard]] std::uint32_t drawn_packets() const override { return params_.message_packets; }
  void draw_ahead(HostId host, const SourceCursor& cursor,
                  std::span<std::uint32_t, kPrefetchedDestinations> destinations) const override {
    const std::uint64_t first = cursor.message & ~std::uint64_t{kPrefetchedDestinations - 1};
    std::array<RandomStream, kPrefetchedDestinations> streams =
        begun_streams<kPrefetchedDestinations>(params_.seed, Purpose::kDestination, host.value, first);
    steps_[cursor.step].pattern->destinations(host, first, streams, destinations);
  }

  OfferedLoad offered(TimePs from_ps, TimePs to_ps) const override {
    std::vector<const Step*> in_force;
    for (const Step& step : steps_) {
      if (std::max(step.start_ps, from_ps) < std::min(step.end_ps, to_ps)) in_force.push_back(&step);
    }
    if (params_.num_hosts == 0 || in_force.empty() || in_force.size() > kMostAveraged) return {};
    const bool whole = in_force.size() == 1 && in_force[0]->start_ps <= std::max(from_ps, params_.first_ps);
    const std::scoped_lock lock{known_mutex_};
    if (whole && known_step_ == in_force[0]) return known_;
    OfferedLoad all{.mean = 0.0, .busiest = 0.0};
    std::vector<double> received(params_.num_hosts, 0.0);
    for (const Step* step : in_force) {
      const TimePs within_ps = std::min(step->end_ps, to_ps) - std::max(step->start_ps, from_ps);
      const double weight =
          whole ? 1.0 : static_cast<double>(within_ps) / static_cast<double>(to_ps - from_ps);
      all.mean += add_offered(*step, weight, received);
    }
    all.busiest = *std::max_element(received.begin(), received.end());
    if (whole) {
      known_step_ = in_force[0];
      known_ = all;
    }
    return all;
  }

 private:
  struct Step {
    Process process;
    TimePs start_ps;
    TimePs end_ps;
    double load;
    PatternPtr pattern;

    // The process of a host that generates so many messages at once.
    [[nodiscard]] Process process_of(HostId host, std::uint32_t messages,
                                     const SyntheticParams& params) const {
      const double share = pattern->share(host);
      return messages == 1 && share == 1.0 ? process : Process{params, load * share / messages};
    }
  };

  // Adds the load that hosts are offered by a step, times `weight`, and returns the mean that a host sends.
  double add_offered(const Step& step, double weight, std::vector<double>& received) const {
    std::vector<double> sent(params_.num_hosts);
    double total = 0.0;
    for (std::uint32_t host = 0; host < params_.num_hosts; ++host)
      total += sent[host] = weight * step.load * step.pattern->share(HostId{host});
    step.pattern->add_received(sent, received);
    return total / params_.num_hosts;
  }

  void single(HostId host, const Step& step, SourceCursor& cursor) const {
    ++cursor.trial;
    move_to(step.process_of(host, 1, params_).next(key(host, cursor), cursor.time_ps), host, step, cursor);
  }

  void move_to(TimePs time_ps, HostId host, const Step& step, SourceCursor& cursor) const {
    cursor.time_ps = time_ps;
    if (time_ps >= step.end_ps) [[unlikely]] {
      ++cursor.step;
      enter(host, cursor);
    }
  }

  ArrivalKey key(HostId host, const SourceCursor& cursor) const noexcept {
    return {.seed = params_.seed, .host = host.value, .arrival = cursor.trial, .step = cursor.step};
  }

  // Enters the first arrival of the cursor's step, or of the first later step that has an arrival.
  void enter(HostId host, SourceCursor& cursor) const {
    cursor.late = 0;
    for (; cursor.step < steps_.size(); ++cursor.step) {
      const Step& step = steps_[cursor.step];
      if (!step.pattern->sends(host)) continue;
      const Process process = step.process_of(host, step.pattern->round_messages(host), params_);
      ArrivalKey arrival = key(host, cursor);
      cursor.time_ps = process.first(arrival, step.start_ps);
      cursor.trial = arrival.arrival;
      cursor.message = burst_from(host, cursor, cursor.message);
      if (cursor.time_ps < step.end_ps) return;
    }
    cursor.step = static_cast<std::uint32_t>(steps_.size()) - 1;
    cursor.time_ps = kNever;
  }

  SyntheticParams params_;
  std::vector<Step> steps_;
  // The result of offered() for a window with one step in force: statistics are read again and again.
  mutable std::mutex known_mutex_;
  mutable const Step* known_step_ = nullptr;
  mutable OfferedLoad known_;
};

}  // namespace

InjectionKind parse_injection(std::string_view name) {
  if (name == "periodic") return InjectionKind::kPeriodic;
  if (name == "bernoulli") return InjectionKind::kBernoulli;
  if (name == "poisson") return InjectionKind::kPoisson;
  throw ConfigError("injection", "'" + std::string{name} + "'",
                    "unknown process; " + suggestion(name, {"periodic", "bernoulli", "poisson"}));
}

PeriodicIntervals parse_periodic_intervals(std::string_view name) {
  if (name == "exact") return PeriodicIntervals::kExact;
  if (name == "whole-ns") return PeriodicIntervals::kWholeNs;
  throw ConfigError("periodic_intervals", "'" + std::string{name} + "'",
                    "unknown rule; " + suggestion(name, {"exact", "whole-ns"}));
}

std::unique_ptr<TrafficSource> make_synthetic_source(std::vector<TrafficStep> steps,
                                                     const SyntheticParams& params) {
  if (params.injection == InjectionKind::kPeriodic && params.intervals == PeriodicIntervals::kWholeNs) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      check_whole_ns("step " + std::to_string(i), steps[i], params);
    }
  }
  switch (params.injection) {
    case InjectionKind::kPeriodic:
      return std::make_unique<SyntheticSource<PeriodicProcess>>(steps, params);
    case InjectionKind::kBernoulli:
      return std::make_unique<SyntheticSource<BernoulliProcess>>(steps, params);
    case InjectionKind::kPoisson:
      break;
  }
  return std::make_unique<SyntheticSource<PoissonProcess>>(steps, params);
}

}  // namespace dragonfly
