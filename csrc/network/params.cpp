#include "network/params.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "core/error.hpp"

namespace dragonfly {

namespace {

// Parameters by link class, hosts first; `locals`: classes of local links, if all of them are alike.
std::vector<LinkParams> all_links(const NetworkParams& p, std::size_t locals) {
  std::vector<LinkParams> links{{p.host_packet_ps, 0, p.host_buffer_packets, 1}};
  links.insert(links.end(), p.links.begin(), p.links.end());
  if (!p.links.empty()) return links;
  links.resize(1 + locals, {p.local_packet_ps, p.local_latency_ps, p.local_buffer_packets, p.local_vcs});
  links.push_back({p.global_packet_ps, p.global_latency_ps, p.global_buffer_packets, p.global_vcs});
  return links;
}

TimePs common_divisor(const NetworkParams& p, const std::vector<LinkParams>& links) {
  TimePs divisor = kPsPerNs;  // generation times of whole nanoseconds are exact, too
  each_param(p, [&divisor](const char*, const auto& value, const AllowedParam& allowed) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, TimePs>) {
      if (allowed.delay) divisor = std::gcd(divisor, value);
    }
  });
  for (const LinkParams& link : links) divisor = std::gcd(divisor, std::gcd(link.packet_ps, link.latency_ps));
  return divisor;
}

// Precondition: `quantum` divides all delays.
Timing timing_in(TimePs quantum, const NetworkParams& p, const std::vector<LinkParams>& links) {
  const auto quanta = [quantum](TimePs ps) { return static_cast<Tick>(ps / quantum); };
  const bool timer = p.link_start == "timer";
  const bool cut_through = p.switching == "cut-through";

  Timing t;
  t.quantum_ps = quantum;
  t.clock = quanta(p.router_clock_ps);
  t.crossbar_transfer = quanta(p.crossbar_packet_ps);
  t.crossbar_latency = quanta(p.crossbar_latency_ps);
  t.injection_packet = quanta(p.injection_packet_ps);
  const Tick input = quanta(p.input_latency_ps);
  const Tick output = quanta(p.output_latency_ps);
  // The serialisation lies before the departure if there is a timer, else behind it; cut-through passes the
  // head on at once, and only the host waits for the tail.
  const bool tail_after = !timer && !cut_through;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Tick wire = quanta(links[i].latency_ps);
    t.packet[i] = quanta(links[i].packet_ps);
    t.start_delay[i] = timer ? t.packet[i] : 0;
    t.hop_delay[i] = output + wire + input + (tail_after ? t.packet[i] : 0);
    t.credit_delay[i] = output + wire + input;
  }
  t.hop_delay[0] = output + quanta(p.ejection_latency_ps) + (timer ? 0 : t.packet[0]);
  t.credit_delay[0] = output + quanta(p.injection_latency_ps);
  t.injection_start_delay = timer ? t.injection_packet : 0;
  t.injection_delay = quanta(p.injection_latency_ps) + input + (tail_after ? t.injection_packet : 0);
  // The way there and back, and one nanosecond in the host: replayed traces of SST/Merlin agree to the
  // nanosecond with this value only.
  t.ejection_credit = t.hop_delay[0] + t.injection_delay + quanta(kPsPerNs);
  t.routing_delay = quanta(p.routing_delay_ps);
  t.watchdog = quanta(p.watchdog_ps);
  const std::size_t global = links.size() - 1;
  t.lookahead = std::min(t.hop_delay[global], t.credit_delay[global]);
  Tick longest = std::max({t.routing_delay, t.injection_delay, t.injection_packet + t.injection_start_delay,
                           t.crossbar_transfer + t.clock, t.clock * 2});
  for (std::size_t i = 0; i < links.size(); ++i) {
    longest = std::max({longest, t.hop_delay[i], t.credit_delay[i], t.crossbar_latency + 2 * t.packet[i]});
  }
  t.horizon = longest + t.lookahead + 2;
  return t;
}

}  // namespace

Arbitration parse_arbitration(std::string_view name) {
  if (name.starts_with(kTransitFirst)) name.remove_prefix(kTransitFirst.size());
  if (name == "round-robin") return Arbitration::kRoundRobin;
  return name == "age" ? Arbitration::kAge : Arbitration::kLeastRecentlyServed;
}

std::vector<LinkParams> link_params(const NetworkParams& p, const Dragonfly& topology) {
  const std::size_t between_routers = topology.num_link_classes() - 1;
  if (!p.links.empty() && p.links.size() != between_routers) {
    throw ConfigError{
        "network.links", std::to_string(p.links.size()) + " classes",
        "one for each of the " + std::to_string(between_routers) + " classes of links between routers"};
  }
  return all_links(p, between_routers - 1);
}

Tick horizon_of(const NetworkParams& params) {
  const std::vector<LinkParams> links = all_links(params, 1);
  return timing_in(common_divisor(params, links), params, links).horizon;
}

Timing make_timing(const NetworkParams& params, const std::vector<LinkParams>& links, TimePs generated_ps) {
  const TimePs delays = common_divisor(params, links);
  const Timing finer = timing_in(std::gcd(delays, generated_ps), params, links);
  if (finer.horizon <= kLongestHorizon) return finer;
  const Timing timing = timing_in(delays, params, links);
  if (timing.horizon > kLongestHorizon) {
    throw ConfigError{"network", "delays of " + std::to_string(timing.horizon) + " units of time",
                      "at most " + std::to_string(kLongestHorizon)};
  }
  return timing;
}

}  // namespace dragonfly
