// Parameters of a network: every delay, rate and buffer size. The Python class has the defaults.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/time.hpp"
#include "core/value_range.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// Parameters of all ports of one class of link; of bundled links together.
struct LinkParams {
  TimePs packet_ps = 0;              // serialisation of one packet
  TimePs latency_ps = 0;             // latency of the wire; wires to hosts are counted apart
  std::uint32_t buffer_packets = 1;  // input buffer, per VC
  std::uint32_t vcs = 0;             // 0: as many as the policy needs
};

// The allowed values of a parameter, and whether it is a delay that the quantum divides, besides those of
// links.
struct AllowedParam {
  ValueRange range;
  bool delay = false;
};
inline constexpr TimePs kLongestDelayPs = 1'000'000'000;  // 1 ms
inline constexpr std::uint32_t kLargestBuffer = 60'000;
inline constexpr std::uint32_t kMostVcs = 15;
namespace allow {
[[nodiscard]] inline AllowedParam delay(TimePs low) {
  return {whole(static_cast<double>(low), kLongestDelayPs), true};
}
[[nodiscard]] inline AllowedParam of_links(TimePs low) {
  return {whole(static_cast<double>(low), kLongestDelayPs)};
}
[[nodiscard]] inline AllowedParam patience() { return {whole(1e6, 2e18)}; }
[[nodiscard]] inline AllowedParam buffer() { return {whole(1, kLargestBuffer)}; }
[[nodiscard]] inline AllowedParam vcs() { return {whole(0, kMostVcs)}; }
[[nodiscard]] inline AllowedParam any() { return {}; }
template <class... Names>
[[nodiscard]] AllowedParam name(const Names&... names) {
  return {among({names...})};
}
}  // namespace allow

// Parameters, one row each: type, name, allowed values. `dragonfly_env.NetworkConfig` has default, unit and
// meaning, and reads the allowed values from here; a time in ns there is one in ps here, and a bandwidth is
// the serialisation of one packet.
// clang-format off
#define DRAGONFLY_NETWORK_PARAMS(X)                                                                                          \
  X(TimePs, injection_packet_ps, allow::delay(0))                        /* 0: the packet enters at once */                  \
  X(TimePs, host_packet_ps, allow::of_links(1))                                                                              \
  X(TimePs, local_packet_ps, allow::of_links(1))                                                                             \
  X(TimePs, global_packet_ps, allow::of_links(1))                                                                            \
  X(TimePs, injection_latency_ps, allow::delay(0))                                                                           \
  X(TimePs, ejection_latency_ps, allow::delay(0))                                                                            \
  X(TimePs, local_latency_ps, allow::of_links(1))                                                                            \
  X(TimePs, global_latency_ps, allow::of_links(kPsPerNs))                                                                    \
  X(TimePs, input_latency_ps, allow::delay(0))                           /* from the link to the input buffer */             \
  X(TimePs, output_latency_ps, allow::delay(0))                          /* from the output queue to the link */             \
  X(TimePs, crossbar_latency_ps, allow::delay(0))                        /* between the grant and the output queue's head */ \
  X(TimePs, crossbar_packet_ps, allow::delay(1))                         /* a packet keeps a crossbar input and output */    \
  X(TimePs, router_clock_ps, allow::delay(1))                            /* the allocator works on multiples of this */      \
  X(TimePs, routing_delay_ps, allow::delay(0))                                                                               \
  X(TimePs, watchdog_ps, allow::patience())                                                                                  \
  X(std::uint32_t, host_buffer_packets, allow::buffer())                 /* input buffers, per VC */                         \
  X(std::uint32_t, local_buffer_packets, allow::buffer())                                                                    \
  X(std::uint32_t, global_buffer_packets, allow::buffer())                                                                   \
  X(std::uint32_t, output_buffer_packets, allow::buffer())               /* per VC, or per port when shared */               \
  X(std::uint32_t, local_vcs, allow::vcs())                              /* 0: as many as the policy needs */                \
  X(std::uint32_t, global_vcs, allow::vcs())                                                                                 \
  X(std::string, output_queue, allow::name("per-vc", "shared"))          /* credits are taken at departure; or one FIFO per  \
                                                                           port, and credits are taken at the crossbar */    \
  X(std::string, link_start, allow::name("timer", "immediate"))          /* an idle port runs its timer for one packet time  \
                                                                           before it sends, as in SST/Merlin */               \
  X(std::string, switching, allow::name("store-and-forward", "cut-through"))                                                 \
  X(std::string, arbitration, allow::name("round-robin", "age", "least-recently-served",                                     \
                                          "transit-first-round-robin", "transit-first-age",                                  \
                                          "transit-first-least-recently-served"))                                            \
  X(std::string, decide_at, allow::name("arrival", "head", "attempt", "retry-same-paths", "by-policy"))                    \
  X(std::string, vc_scheme, allow::any())                                /* parse_vc_scheme knows them */                    \
  X(std::string, congestion_metric, allow::name("port", "vc"))                                                              \
  X(bool, nonminimal_avoid_destination_group, allow::any())
// clang-format on

struct NetworkParams {
#define DRAGONFLY_MEMBER(type, name, permits) type name{};
  DRAGONFLY_NETWORK_PARAMS(DRAGONFLY_MEMBER)
#undef DRAGONFLY_MEMBER
  // The links of each class, from the first local class on. They replace the fields for local and global
  // links; empty: the fields hold.
  std::vector<LinkParams> links;
};

// Calls visit(name, value, AllowedParam) for every row.
template <class Params, class Visit>
void each_param(Params& params, Visit visit) {
#define DRAGONFLY_VISIT(type, name, permits) visit(#name, params.name, permits);
  DRAGONFLY_NETWORK_PARAMS(DRAGONFLY_VISIT)
#undef DRAGONFLY_VISIT
}

// The order in which the allocator serves requesting input VCs.
enum class Arbitration : std::uint8_t { kLeastRecentlyServed, kRoundRobin, kAge };
inline constexpr std::string_view kTransitFirst = "transit-first-";  // before any of them: hosts come last

// The parameters in quanta, with the sums that the clock loop needs. Index of the arrays: LinkClass.
struct Timing {
  TimePs quantum_ps = 1;
  Tick clock = 1;
  Tick crossbar_transfer = 1;
  Tick crossbar_latency = 0;
  Tick injection_packet = 0;
  Tick injection_delay = 1;  // departure from the host -> input buffer
  using PerClass = std::array<Tick, kMostLinkClasses>;
  PerClass packet{};        // serialisation
  PerClass start_delay{};   // an idle port: from the arrival of a packet to its departure
  PerClass hop_delay{};     // departure -> next input buffer; host: -> last bit delivered
  PerClass credit_delay{};  // packet leaves the input buffer -> credit upstream
  Tick injection_start_delay = 0;
  Tick ejection_credit = 0;  // departure to a host -> its credit is back
  Tick routing_delay = 0;
  Tick watchdog = 0;
  Tick lookahead = 0;  // nothing crosses a global link faster
  Tick horizon = 0;    // the longest delay of any event
};

// The most quanta that the queues of events span: 64 MB for the slots of hosts, as much again for messages
// between partitions. All delays of whole nanoseconds fit, since each is at most 1 ms.
inline constexpr Tick kLongestHorizon = 1 << 24;

// Parameters by link class, hosts first. Throws ConfigError if `params.links` do not fit this topology.
[[nodiscard]] std::vector<LinkParams> link_params(const NetworkParams& params, const Dragonfly& topology);
// The horizon of a network whose quantum is the greatest common divisor of all delays and of 1 ns.
[[nodiscard]] Tick horizon_of(const NetworkParams& params);
// The quantum is this divisor. It divides `generated_ps`, too (TrafficSource::step_ps), if the horizon
// allows: hosts then generate messages at exactly the given times, else at the next quantum. Throws
// ConfigError beyond kLongestHorizon: `dragonfly_env/config/time_unit.py` rounds the times of packets so that
// this does not happen.
[[nodiscard]] Timing make_timing(const NetworkParams& params, const std::vector<LinkParams>& links,
                                 TimePs generated_ps = 0);
[[nodiscard]] Arbitration parse_arbitration(std::string_view name);

}  // namespace dragonfly
