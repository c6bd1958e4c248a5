// The rate at which a program's host may give packets to its router.
//
// FOGSim (public source, commit dcdd75f) makes at most one trial per host and cycle, a cycle being the time
// of a phit on the host's link. Two rules, both memoryless from the first trial on:
//   bernoulli   a trial every flit time, from one flit time after the last packet on, so that packets may
//               follow each other closely; all-to-all, with a mean of `load` packets a packet time
//   spaced      no trial before a packet time has passed since the last packet; Graph500
// A trial needs a packet that is ready: the first one is made when the packet is, if that is later.
// Simplification: a packet whose trial has succeeded and that finds the router's buffer full enters it as
// soon as there is room; in FOGSim the trials would go on from then.
#pragma once

#include <cstdint>
#include <string>

#include "core/log.hpp"
#include "core/random.hpp"
#include "core/time.hpp"
#include "traffic/arguments.hpp"

namespace dragonfly {

// Times are in packet times and flit times of the host's link, which the network gives.
class SendInterval {
 public:
  enum class Rule : std::uint8_t { kNone, kBernoulli, kSpaced };

  SendInterval() = default;
  // Precondition: 0 < load <= 1, packet_flits > 0.
  SendInterval(Rule rule, double load, std::uint32_t packet_flits)
      : rule_{rule}, packet_flits_{packet_flits}, probability_{success(rule, load, packet_flits)} {
    if (probability_ < 1.0) inverse_log_failure_ = 1.0 / deterministic_log1p(-probability_);
  }

  [[nodiscard]] bool paces() const noexcept { return rule_ != Rule::kNone; }
  [[nodiscard]] std::uint32_t packet_flits() const noexcept { return packet_flits_; }
  // Probability that a trial succeeds.
  [[nodiscard]] double probability() const noexcept { return probability_; }

  // Time from one packet to the first trial for the next.
  [[nodiscard]] TimePs spacing_ps(TimePs packet_ps) const noexcept {
    return rule_ == Rule::kSpaced ? packet_ps : flit_ps(packet_ps, 1);
  }
  // Time from the first trial to the trial that succeeds.
  [[nodiscard]] TimePs wait_ps(RandomStream random, TimePs packet_ps) const noexcept {
    if (probability_ >= 1.0) return 0;
    const double draw = static_cast<double>((random.next_u64() >> 11) + 1) * 0x1.0p-53;  // uniform in (0, 1]
    return flit_ps(packet_ps, static_cast<std::int64_t>(deterministic_log(draw) * inverse_log_failure_));
  }
  [[nodiscard]] TimePs flit_ps(TimePs packet_ps, std::int64_t flits) const noexcept {
    return packet_ps * flits / packet_flits_;
  }

  // Both rules send `load` packets a packet time on average if a packet is always ready.
  [[nodiscard]] static double success(Rule rule, double load, std::uint32_t packet_flits) noexcept {
    if (rule == Rule::kSpaced) return load / (load + packet_flits * (1.0 - load));
    return load / packet_flits;
  }

 private:
  Rule rule_ = Rule::kNone;
  std::uint32_t packet_flits_ = 1;
  double probability_ = 1.0;
  double inverse_log_failure_ = 0.0;
};

struct ProgramContext;
struct PatternParameter;

// The arguments `pacing` and `injection_load`. Throws ConfigError.
[[nodiscard]] SendInterval read_send_interval(const ProgramContext& context,
                                              const PatternArguments& arguments, const std::string& rule);
[[nodiscard]] PatternParameter interval_parameter(const std::string& rule);
[[nodiscard]] PatternParameter injection_load_parameter();

}  // namespace dragonfly
