// What a network is built from: every delay, rate and buffer size. The Python face has the defaults.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/time.hpp"
#include "core/timing_wheel.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

// What all ports of one class of link have in common; of bundled links together.
struct LinkParams {
  TimePs packet_ps = 0;              // serialisation of one packet
  TimePs latency_ps = 0;             // of the wire; to hosts: counted apart
  std::uint32_t buffer_packets = 1;  // input buffer, per VC
  std::uint32_t vcs = 0;             // 0: as many as the policy needs
};

struct NetworkParams {
  // Serialisation of one packet on a link of each class; injection 0: the packet enters at once.
  TimePs packet_ps_injection = 32'000;
  TimePs packet_ps_host = 32'000;
  TimePs packet_ps_local = 32'000;
  TimePs packet_ps_global = 32'000;
  TimePs latency_ps_injection = 10'000;
  TimePs latency_ps_ejection = 10'000;
  TimePs latency_ps_local = 30'000;
  TimePs latency_ps_global = 300'000;
  TimePs input_latency_ps = 10'000;        // from the link to the input buffer
  TimePs output_latency_ps = 10'000;       // from the output queue to the link
  TimePs crossbar_latency_ps = 0;          // pipeline between the grant and the output queue's head
  TimePs crossbar_packet_ps = 3'200;       // how long a packet keeps a crossbar input and output
  TimePs router_clock_ps = 3'200;          // the allocator works on multiples of this
  std::uint32_t host_buffer_packets = 20;  // input buffers, per VC
  std::uint32_t local_buffer_packets = 20;
  std::uint32_t global_buffer_packets = 20;
  std::uint32_t output_buffer_packets = 20;     // per VC, or per port when shared
  std::string output_queue = "per-vc";          // "per-vc": credits are taken at departure; "shared": one
                                                // FIFO per port, credits are taken at the crossbar
  std::string link_start = "timer";             // "timer": an idle port runs its timer for one packet time
                                                // before it sends (FACTS: SST/Merlin); "immediate"
  std::string switching = "store-and-forward";  // or "cut-through"
  std::string vc_scheme = "stage";
  std::string arbitration = "least-recently-served";  // or "round-robin", "age"
  std::string decide_at = "head";                     // or "arrival", "attempt"
  TimePs routing_delay_ps = 0;
  bool detours_avoid_destination_group = true;
  std::uint32_t local_vcs = 0;  // 0: as many as the policy needs
  std::uint32_t global_vcs = 0;
  TimePs watchdog_ps = 1'000'000'000;
  // By link class from the first local one on, in the place of the fields for local and global links; empty:
  // those.
  std::vector<LinkParams> links;
};

enum class Arbitration : std::uint8_t { kLeastRecentlyServed, kRoundRobin, kAge };

// The same in quanta, with the sums that the clock loop needs. Index of the arrays: LinkClass.
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

// Throws ConfigError for impossible parameters.
void validate(const NetworkParams& params);
// By link class, hosts first. Throws ConfigError if `params.links` are none for this topology.
[[nodiscard]] std::vector<LinkParams> link_params(const NetworkParams& params, const Dragonfly& topology);
[[nodiscard]] Timing make_timing(const NetworkParams& params, const std::vector<LinkParams>& links);
[[nodiscard]] Arbitration parse_arbitration(const std::string& name);

}  // namespace dragonfly
