#include "network/params.hpp"

#include <algorithm>
#include <numeric>

#include "core/error.hpp"

namespace dragonfly {

namespace {

constexpr TimePs kLongestDelayPs = 1'000'000'000;  // 1 ms
constexpr Tick kLongestWheel = 1 << 18;
constexpr std::uint32_t kLargestBuffer = 60'000;
constexpr std::uint32_t kMostVcs = 15;

void check_time(const char* field, TimePs value, TimePs low) {
  if (value < low || value > kLongestDelayPs) {
    throw ConfigError{std::string{"network."} + field, std::to_string(value) + " ps",
                      "from " + std::to_string(low) + " ps to 1 ms"};
  }
}

void check_count(const char* field, std::uint32_t value, std::uint32_t low, std::uint32_t high) {
  if (value < low || value > high) {
    throw ConfigError{std::string{"network."} + field, std::to_string(value),
                      "from " + std::to_string(low) + " to " + std::to_string(high)};
  }
}

void check_name(const char* field, const std::string& value, std::initializer_list<const char*> allowed) {
  std::string list;
  for (const char* name : allowed) {
    if (value == name) return;
    list += (list.empty() ? "one of '" : "', '") + std::string{name};
  }
  throw ConfigError{std::string{"network."} + field, "'" + value + "'", list + "'"};
}

}  // namespace

Arbitration parse_arbitration(const std::string& name) {
  check_name("arbitration", name, {"least-recently-served", "round-robin", "age"});
  if (name == "round-robin") return Arbitration::kRoundRobin;
  return name == "age" ? Arbitration::kAge : Arbitration::kLeastRecentlyServed;
}

void validate(const NetworkParams& p) {
  check_time("packet_ps_injection", p.packet_ps_injection, 0);
  check_time("packet_ps_host", p.packet_ps_host, 1);
  check_time("packet_ps_local", p.packet_ps_local, 1);
  check_time("packet_ps_global", p.packet_ps_global, 1);
  check_time("latency_ps_injection", p.latency_ps_injection, 0);
  check_time("latency_ps_ejection", p.latency_ps_ejection, 0);
  check_time("latency_ps_local", p.latency_ps_local, 1);
  check_time("latency_ps_global", p.latency_ps_global, 1);
  check_time("input_latency_ps", p.input_latency_ps, 0);
  check_time("output_latency_ps", p.output_latency_ps, 0);
  check_time("crossbar_latency_ps", p.crossbar_latency_ps, 0);
  check_time("crossbar_packet_ps", p.crossbar_packet_ps, 1);
  check_time("router_clock_ps", p.router_clock_ps, 1);
  check_time("routing_delay_ps", p.routing_delay_ps, 0);
  if (p.watchdog_ps < 1'000'000) {
    throw ConfigError{"watchdog_ns", std::to_string(p.watchdog_ps / kPsPerNs), "at least 1000 ns"};
  }
  check_count("host_buffer_packets", p.host_buffer_packets, 1, kLargestBuffer);
  check_count("local_buffer_packets", p.local_buffer_packets, 1, kLargestBuffer);
  check_count("global_buffer_packets", p.global_buffer_packets, 1, kLargestBuffer);
  check_count("output_buffer_packets", p.output_buffer_packets, 1, kLargestBuffer);
  check_count("local_vcs", p.local_vcs, 0, kMostVcs);
  check_count("global_vcs", p.global_vcs, 0, kMostVcs);
  for (const LinkParams& link : p.links) {
    check_time("links.packet_ps", link.packet_ps, 1);
    check_time("links.latency_ps", link.latency_ps, 1);
    check_count("links.buffer_packets", link.buffer_packets, 1, kLargestBuffer);
    check_count("links.vcs", link.vcs, 0, kMostVcs);
  }
  check_name("output_queue", p.output_queue, {"per-vc", "shared"});
  check_name("link_start", p.link_start, {"timer", "immediate"});
  check_name("switching", p.switching, {"store-and-forward", "cut-through"});
  check_name("decide_at", p.decide_at, {"arrival", "head", "attempt"});
  (void)parse_arbitration(p.arbitration);
  if (p.link_start == "timer" && p.switching == "cut-through") {
    throw ConfigError{"network.switching", "'cut-through'", "'store-and-forward' when link_start is 'timer'"};
  }
}

std::vector<LinkParams> link_params(const NetworkParams& p, const Dragonfly& topology) {
  std::vector<LinkParams> links{{p.packet_ps_host, 0, p.host_buffer_packets, 1}};
  if (!p.links.empty()) {
    if (p.links.size() + 1 != topology.num_link_classes()) {
      throw ConfigError{"network.links", std::to_string(p.links.size()) + " classes",
                        "one for each of the " + std::to_string(topology.num_link_classes() - 1) +
                            " classes of links between routers"};
    }
    links.insert(links.end(), p.links.begin(), p.links.end());
    return links;
  }
  const LinkParams local{p.packet_ps_local, p.latency_ps_local, p.local_buffer_packets, p.local_vcs};
  links.resize(topology.num_link_classes() - 1, local);
  links.push_back({p.packet_ps_global, p.latency_ps_global, p.global_buffer_packets, p.global_vcs});
  return links;
}

Timing make_timing(const NetworkParams& p, const std::vector<LinkParams>& links) {
  TimePs quantum = kPsPerNs;  // generation times of whole nanoseconds are exact, too
  for (const TimePs delay : {p.packet_ps_injection, p.latency_ps_injection, p.latency_ps_ejection,
                             p.input_latency_ps, p.output_latency_ps, p.crossbar_latency_ps,
                             p.crossbar_packet_ps, p.router_clock_ps, p.routing_delay_ps}) {
    quantum = std::gcd(quantum, delay);
  }
  for (const LinkParams& link : links) quantum = std::gcd(quantum, std::gcd(link.packet_ps, link.latency_ps));
  const auto quanta = [quantum](TimePs ps) { return static_cast<Tick>(ps / quantum); };
  const bool timer = p.link_start == "timer";
  const bool cut_through = p.switching == "cut-through";

  Timing t;
  t.quantum_ps = quantum;
  t.clock = quanta(p.router_clock_ps);
  t.crossbar_transfer = quanta(p.crossbar_packet_ps);
  t.crossbar_latency = quanta(p.crossbar_latency_ps);
  t.injection_packet = quanta(p.packet_ps_injection);
  const Tick input = quanta(p.input_latency_ps);
  const Tick output = quanta(p.output_latency_ps);
  // With a timer the serialisation lies before the departure, else behind it; cut-through passes the
  // head on at once, and only the host waits for the tail.
  const bool tail_after = !timer && !cut_through;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Tick wire = quanta(links[i].latency_ps);
    t.packet[i] = quanta(links[i].packet_ps);
    t.start_delay[i] = timer ? t.packet[i] : 0;
    t.hop_delay[i] = output + wire + input + (tail_after ? t.packet[i] : 0);
    t.credit_delay[i] = output + wire + input;
  }
  t.hop_delay[0] = output + quanta(p.latency_ps_ejection) + (timer ? 0 : t.packet[0]);
  t.credit_delay[0] = output + quanta(p.latency_ps_injection);
  t.injection_start_delay = timer ? t.injection_packet : 0;
  t.injection_delay = quanta(p.latency_ps_injection) + input + (tail_after ? t.injection_packet : 0);
  // There and back, and one nanosecond in the host: replayed traces of SST/Merlin agree to the
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
  if (t.horizon > kLongestWheel) {
    throw ConfigError{"network", "the common divisor of all delays is " + std::to_string(quantum) + " ps",
                      "delays whose common divisor is at least " +
                          std::to_string((longest + t.lookahead) * quantum / kLongestWheel + 1) +
                          " ps (round them, or shorten the longest)"};
  }
  return t;
}

}  // namespace dragonfly
