// Trackers: numbers that routers keep between decisions, updated by events.
//
// A tracker is requested by name, by the policy that needs it (RoutingPolicy::trackers) or by a feature of
// observations that shows it. Each requested tracker runs once, however many requests there are; the others
// cost nothing. Every partition makes its own object, for its own routers (whole groups), so a tracker needs
// no lock.
//
// Results must not depend on how events are ordered within a time, nor on partitions. So
//   - an event of a router changes only that router's numbers;
//   - within a time injections and blocked heads come in any order: count, add up, take extremes;
//   - occupancies are reported once per router and time, with the values that decisions will see;
//   - numbers are read by decisions only, which come last in a time;
//   - messages are sent before the events of a time: they hold numbers of earlier times (group_messages.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.hpp"
#include "core/parameters.hpp"
#include "core/time.hpp"
#include "routing/acknowledgement.hpp"
#include "routing/knowledge.hpp"
#include "routing/output_port.hpp"
#include "routing/packet.hpp"
#include "routing/zero_load_times.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

inline constexpr std::uint32_t kMostVcsOfLink = 16;
inline constexpr std::uint32_t kNoColumn = 0xffffffffU;  // the column of a thing that a path does not have

// The meaning of the columns of a field.
enum class TrackedPer : std::uint8_t {
  kRouter,     // one column
  kPort,       // column i: port p + i, the ports between routers
  kGroupLink,  // column q: global port position q of the reader's group, see dragonfly.hpp
  kGroup,      // column i: the group i + 1 ahead of the reader's, modulo the number of groups
  kPeer,       // column i: the router i + 1 ahead of the reader in its group, modulo the group's size
  // Candidate paths: each one's first global hop, column q * kMostVcsOfLink + the VC that it would use there.
  kFirstGlobalHop,
  // Candidate paths: the types of each one's local hops in the intermediate group (remote_hops.hpp), column
  // first * a + second; and that of its last local hop. 0 without a read for paths that have none.
  kBetweenLinks,
  kLastLinkType,
  // Candidate paths: destination router and kind, column router * kAcknowledgedKinds + kind
  // (acknowledgement.hpp), one router per call of read_all(). 0 without a read for paths of other kinds.
  kAcknowledged,
  // Observations show one column, that of the packet's destination group; column: the group's number.
  kDestination,
};

// A named number of a tracker. Observations show it as quantity / unit, or, if half > 0, as quantity /
// (quantity + half).
struct TrackedField {
  std::string name;  // name of the feature, too
  TrackedPer per = TrackedPer::kRouter;
  float unit = 1;
  float half = 0;
  float low = 0;
  float high = 1;
  std::string doc;
  // kGroupLink: the feature that shows the number of each candidate path's first global link; empty: none.
  std::string of_candidates{};
  Knowledge knowledge = Knowledge::kLocal;
};

// The reason why the crossbar refused the head of a host's queue, and the consequence.
enum class Refusal : std::uint8_t {
  kTaken,   // another packet passes or went first: the head requests again, perhaps without a further event
  kNoRoom,  // no room behind the crossbar: the head requests again, too
  kAnew,    // either; the head decides again, and requests at the next edge of the clock
};

// The events of which a tracker is notified.
struct TrackedEvents {
  bool global_occupancy = false;  // occupancies of the output ports of global links
  bool injections = false;        // a packet left its source queue for this router
  bool forwards = false;          // a packet from a host of this router passed the crossbar
  bool refused_heads = false;     // the crossbar refused a packet from a host of this router
  bool acknowledgements = false;  // word came back that a packet from a host of this router was delivered
  bool messages = false;          // messages to the other routers of the group are due
};

// Properties of the ports of one class of link, for trackers.
struct TrackedLinks {
  std::uint32_t buffer_packets = 1;  // the buffer behind the port, per VC
  double wire_packets = 0;  // sent at the link's rate from a packet's departure until its credit is back, if
                            // the router behind passes it on at once
  double packet_ps = 1;     // serialisation of one packet
  Tick latency = 0;         // latency of the wire
  std::uint32_t vcs = 1;
};

// The routers for which a tracker runs: those of one partition.
struct TrackerSite {
  const Dragonfly& topology;
  std::uint32_t first_router = 0;
  std::uint32_t num_routers = 0;
  Tick signal_delay =
      0;  // delay of signals from a router to the others of its group: the latency of a local link
  Tick routing_delay = 0;
  bool sends_messages = false;  // whether delayed fields are read: TrackerRequest::messages
  Tick clock = 1;               // clock cycle of the routers
  TimePs quantum_ps = 1;        // a tick
  bool compares_vcs = false;    // the network's convention: PolicyEnvironment
  ZeroLoadTimes idle{};
  std::array<TrackedLinks, kMostLinkClasses> links{};  // [link class]
  // The first whole number of ticks that is not shorter.
  [[nodiscard]] Tick ticks_of(TimePs time) const noexcept { return (time + quantum_ps - 1) / quantum_ps; }
};

// The ports of the routers of one partition, as they are whenever one looks.
struct PartitionPorts {
  const PortBlocks* ports = nullptr;
  const std::uint32_t* buffers = nullptr;  // [link class]: packets of the input buffer behind a port
  bool credits_at_crossbar = false;
};

// Routers are numbered as in the topology.
class RouterTracker {
 public:
  RouterTracker() = default;
  RouterTracker(const RouterTracker&) = delete;
  RouterTracker& operator=(const RouterTracker&) = delete;
  virtual ~RouterTracker() = default;

  [[nodiscard]] virtual TrackedEvents events() const noexcept = 0;
  // All that it remembers (core/archive.hpp).
  virtual void archive(Archive& archive) = 0;

  // Called once, before any event: for trackers that read the ports instead of counting events.
  virtual void look_at(const PartitionPorts& /*ports*/) {}

  // Reads a port of a global link. `ports`: all ports of this router, from port 0.
  virtual void occupancy_changed(std::uint32_t /*router*/, const RouterPorts& /*ports*/, Tick /*now*/) {}
  virtual void packet_injected(std::uint32_t /*router*/, const Packet& /*packet*/) {}
  // `host_port`: the input port of the packet. Its queue may hold another packet, which has not requested
  // yet.
  virtual void packet_forwarded(std::uint32_t /*router*/, Port /*host_port*/, const Packet& /*packet*/,
                                Tick /*now*/) {}
  // A packet at the head of the queue of this port was refused.
  virtual void head_refused(std::uint32_t /*router*/, Port /*host_port*/, const Packet& /*packet*/,
                            Refusal /*why*/, Tick /*now*/) {}
  // Called in the order of Acknowledgement, before all other events of the time that follows.
  virtual void packet_acknowledged(const Acknowledgement& /*acknowledgement*/) {}

  // Prefetches the data that reads for packets to this destination router will need, if it is likely to be
  // far away. Called some time before the reads of a decision, and before acknowledgements.
  virtual void prefetch_numbers(std::uint32_t /*reader*/,
                                std::uint32_t /*destination_router*/) const noexcept {}

  // Sends all messages of times until `now`, before the events of that time; returns the time of the next
  // message. Called for trackers that send messages, at the latest when a message is due.
  virtual Tick send_messages(Tick /*now*/) { return kNever; }

  // A number as `reader` may read it. `now` never falls from call to call of any kind.
  [[nodiscard]] virtual double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                                    Tick now) = 0;
  // Several columns of a field; 0 for kNoColumn.
  virtual void read_all(std::uint32_t field, std::uint32_t reader, std::span<const std::uint32_t> columns,
                        Tick now, float* numbers) {
    read_each(columns, numbers, [&](std::uint32_t column) { return read(field, reader, column, now); });
  }

 protected:
  // Reads the numbers one by one with `read_column`, for trackers that are often read for many columns: what
  // all columns share is worked out once.
  template <class ReadColumn>
  static void read_each(std::span<const std::uint32_t> columns, float* numbers, ReadColumn read_column) {
    for (const std::uint32_t column : columns) {
      *numbers++ = column == kNoColumn ? 0.0F : static_cast<float>(read_column(column));
    }
  }
};

// A row of the registry.
struct TrackerInfo {
  std::string name;
  std::string summary;
  std::vector<TrackedField> fields;
  std::vector<ParameterInfo> parameters;
  std::unique_ptr<RouterTracker> (*make)(const TrackerInfo&, const Parameters&, const TrackerSite&) = nullptr;
  // The numbers in a router's message, for delayed fields: by the VCs of a global link. Null: no field needs
  // messages.
  std::uint32_t (*message_numbers)(const Dragonfly&, std::uint32_t global_vcs) = nullptr;
  // Its tables for all routers of a system, before the first packet (memory_need.hpp); null: next to nothing.
  std::uint64_t (*bytes)(const Dragonfly&) = nullptr;
};

// A tracker with its parameters, all of them.
struct TrackerRequest {
  const TrackerInfo* info = nullptr;
  Parameters parameters;
  bool messages = false;  // whether its delayed fields are read

  // Whether a tracker that runs by this request has all that another request needs.
  [[nodiscard]] bool includes(const TrackerRequest& other) const {
    return info == other.info && parameters == other.parameters && (messages || !other.messages);
  }
};
// Adds a request to those of a run. Returns false if the tracker has other parameters in this run.
[[nodiscard]] bool add_request(std::vector<TrackerRequest>& all, const TrackerRequest& added);

// To add a tracker: a file csrc/routing/trackers/<name>.cpp with a function `TrackerInfo <name>_tracker()`,
// and its line in tracker_registry.cpp.
[[nodiscard]] const std::vector<TrackerInfo>& tracker_registry();

// Throw ConfigError for an unknown name or parameter, with the nearest match.
[[nodiscard]] const TrackerInfo& find_tracker(std::string_view name);
[[nodiscard]] TrackerRequest request_tracker(std::string_view name, const Parameters& given);
// Requests a tracker with the values of the policy's own parameters of the same names.
[[nodiscard]] TrackerRequest request_tracker(std::string_view name, const ParameterOwner& policy,
                                             const Parameters& given);

// A feature of observations that shows a field.
struct TrackedFeature {
  std::string name;
  const TrackerInfo* tracker = nullptr;
  std::uint32_t field = 0;
  bool of_candidates = false;

  [[nodiscard]] const TrackedField& shown() const noexcept { return tracker->fields[field]; }
  // "decision" (one column), "port", "link", "group", "peer" or "candidate".
  [[nodiscard]] const char* per() const noexcept;
};

// The request for the tracker of a feature, with these parameters.
[[nodiscard]] TrackerRequest request_tracker(const TrackedFeature& feature, const Parameters& given);

// Features of all trackers, in the order of the registry.
[[nodiscard]] const std::vector<TrackedFeature>& tracked_features();
// Throws ConfigError for an unknown name.
[[nodiscard]] const TrackedFeature& find_tracked_feature(std::string_view name);

// The trackers of a partition, for reading.
struct TrackedNumbers {
  std::vector<std::unique_ptr<RouterTracker>> trackers;
  const std::vector<std::uint8_t>* policy_trackers = nullptr;  // positions of the policy's trackers
  Tick now = 0;                                                // the time of the decisions that read

  [[nodiscard]] RouterTracker& of_policy(std::uint32_t i) const noexcept {
    return *trackers[(*policy_trackers)[i]];
  }
};

}  // namespace dragonfly
