// The configuration, prepared for the clock loop: constant, and shared by all partitions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "network/deciders.hpp"
#include "network/link_changes.hpp"
#include "network/params.hpp"
#include "routing/path_follower.hpp"
#include "topology/dragonfly.hpp"
#include "traffic/source.hpp"
#include "traffic/workload.hpp"

namespace dragonfly {

// Plain options of a run, one row each: type and name. `SimulationConfig` in Python has default, range, unit
// and meaning; a time in ns there is one in ps here, and None is 0.
// clang-format off
#define DRAGONFLY_RECORD_OPTIONS(X)                   \
  X(TimePs, series_bin_ps)     /* 0: no time series */ \
  X(bool, packet_log)                                 \
  X(bool, group_latency)                              \
  X(bool, host_latency)                               \
  X(bool, message_slowdown)
// clang-format on

struct RecordOptions {
#define DRAGONFLY_MEMBER(type, name) type name{};
  DRAGONFLY_RECORD_OPTIONS(DRAGONFLY_MEMBER)
#undef DRAGONFLY_MEMBER
};

struct NetworkOptions {
  std::uint64_t seed = 1;
  std::uint32_t source_queue_packets = 0;  // 0: unbounded
  bool lose_when_full = false;             // false: the generator stalls
  RecordOptions record{};
  std::optional<EnvironmentSpec> decisions{};  // packets may be routed from outside
  bool warms_up = false;                       // the core's policy routes them for a time before
  std::uint32_t threads = 1;  // threads that share the partitions; results do not depend on the number
  // About so many in each partition; 0: as many as are fast. Results do not depend on the number.
  std::uint32_t hosts_per_partition = 0;
  // Null: no link fails or returns. Then the topology of the blueprint is LinkChanges::known().
  std::shared_ptr<LinkChanges> changes{};
};

// An input VC of a router.
struct InputIndex {
  Port port = 0;
  std::uint8_t vc = 0;
  LinkClass link_class = LinkClass::kHost;
};

// Input VCs of routers with no more than one word has bits.
inline constexpr std::uint32_t kFewInputVcsShift = 6;

class Blueprint {
 public:
  // Throws ConfigError. All references must outlive the blueprint.
  // `workload`: the programs of hosts; other hosts, and all hosts without a workload, send the messages of
  // the source.
  // `job_policies`: the policies that jobs of the workload name (Job::policies). They must number VCs by the
  // same rules as `policy`; if there are any, no policy may learn.
  // `background`: with decisions from outside, the policy that decides about packets that are not wanted
  // (PacketSelection); it may not learn. There are VCs for its paths, too.
  // `later`: policies that may take over (Deciders::replace), under the conditions of job policies: there are
  // VCs and trackers for them, too. They are not called yet and need not outlive the constructor.
  Blueprint(const Dragonfly& topology, const NetworkParams& params, RoutingPolicy& policy,
            const TrafficSource& source, const NetworkOptions& options, const Workload* workload = nullptr,
            const std::vector<JobPolicy>& job_policies = {}, RoutingPolicy* background = nullptr,
            const std::vector<JobPolicy>& later = {});

  const Dragonfly& topology;
  Deciders deciders;
  HopTimes hop_times{};  // times of hops, for the learner
  const TrafficSource& source;
  const Workload* workload;  // null: open loop
  NetworkOptions options;
  std::vector<LinkParams> links;  // [link class]
  Timing timing;
  // [router << port_shift | port]: ticks that a packet takes longer on a degraded link; empty: no link is.
  std::vector<Tick> more_ticks;
  Tick most_more_ticks = 0;
  Tick window = 1;  // partitions run on their own for so long
  PathFollower paths;
  bool shared_output;  // one output FIFO per port; credits are taken at the crossbar
  bool timed_start;    // link_start = "timer"
  bool cut_through;
  bool decide_on_arrival;
  bool compares_vcs;  // the network's convention: PolicyEnvironment
  Arbitration arbitration;
  bool transit_first;  // hosts' input ports come after all others
  std::uint32_t output_buffer;
  std::array<std::uint32_t, kMostLinkClasses> input_buffer{};  // packets, by class of the input port
  std::array<std::uint8_t, kMostLinkClasses> vcs{};  // VCs by link class; one towards and from hosts
  std::uint32_t queue_stride = 0;                    // VC queues per output port (the largest of vcs)
  std::uint32_t input_vcs = 0;                       // input VCs per router
  std::vector<std::uint16_t>
      first_input_vc;                   // [port]: first input VC of the port, numbered within the router
  std::vector<InputIndex> input_index;  // [input VC of a router]
  std::array<std::uint32_t, kMostLinkClasses>
      buffer_behind{};  // packets, by class of the output port; 0: a host
  // Ports and input VCs of a partition are numbered with the router in the upper bits, shifted by this much.
  std::uint32_t port_shift = 0;
  std::uint32_t input_shift = 0;
  std::uint32_t ready_words = 1;  // words with a bit for each input VC of a router
  // Clock edges that are planned at once: 1, where the crossbar takes no longer than a clock for a packet.
  // Then one pass of the allocator over one word may be all.
  std::uint32_t edge_depth = 1;
  bool single_cycle_crossbar = false;
  bool by_service = false;                    // plain least-recently-served arbitration
  bool single_paths = false;                  // has_single_paths() of the topology
  LinkClass global_class = LinkClass::kHost;  // the topology's class of global links
  Tick signal_delay = 0;  // delay of signals between routers of a group: the latency of a local link
  // Time from a packet's delivery to its source router's receipt of the acknowledgement, wherever the router
  // is: the shortest time over a global link, and the latencies of a local path on both sides. No shorter
  // than the look-ahead, so that acknowledgements may cross between partitions.
  Tick acknowledgement_delay = 0;

  [[nodiscard]] Tick more_ticks_at(std::uint32_t router, std::uint32_t port) const noexcept {
    return more_ticks.empty() ? 0 : more_ticks[std::size_t{router} << port_shift | port];
  }
  // With LinkChanges:
  std::vector<PathFollower> paths_by_version{};  // [PacketStore::versions]
  std::uint8_t version = 0;                      // version of packets that hosts send
  // Between windows: all routers know from now on that the machine is in this state.
  void know(std::uint32_t state);

  [[nodiscard]] ZeroLoadTimes zero_load_times() const noexcept;

  // The largest number of packets in the network; besides the buffer's content, as many packets may be on the
  // wire to the buffer.
  [[nodiscard]] std::uint32_t most_packets() const noexcept;

  // Partitions: consecutive groups [partition_first_group[i], partition_first_group[i + 1]).
  std::vector<std::uint32_t> partition_first_group;
  std::vector<std::uint16_t> partition_of_group;
  [[nodiscard]] std::uint32_t num_partitions() const noexcept {
    return static_cast<std::uint32_t>(partition_first_group.size() - 1);
  }

  [[nodiscard]] TimePs to_ps(Tick tick) const noexcept { return tick * timing.quantum_ps; }
  // The first tick of the clock loop at or after `ps`.
  [[nodiscard]] Tick to_tick(TimePs ps) const noexcept {
    return ps >= kNever ? kNeverTick : (ps + timing.quantum_ps - 1) / timing.quantum_ps;
  }
  static constexpr Tick kNeverTick = kNever;

 private:
  // Makes the paths of all versions of packets; returns the VCs that they need.
  [[nodiscard]] VcCounts number_versions(VcScheme scheme);
  [[nodiscard]] BufferSizes buffer_sizes() const noexcept;
  void number_ports();
  void slow_links();
  void cut(std::uint32_t hosts_per_partition);
};

}  // namespace dragonfly
