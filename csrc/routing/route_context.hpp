// All that one router may use when it decides: the packet, its own ports, its trackers, signals of its group,
// the topology and random streams that belong to this packet.
#pragma once

#include <cstdint>
#include <span>

#include "core/random.hpp"
#include "routing/output_port.hpp"
#include "routing/packet.hpp"
#include "routing/path_follower.hpp"
#include "routing/router_view.hpp"

namespace dragonfly {

class RouteContext {
 public:
  RouteContext(const RouterView& view, const Packet& packet, const PacketTimes& times, std::uint32_t router,
               std::uint32_t group, const RouterPorts& ports, Port input_port, std::uint8_t vc)
      : view_{&view},
        packet_{&packet},
        times_{&times},
        ports_{ports},
        router_{router},
        group_{group},
        input_port_{input_port},
        vc_{vc} {}

  [[nodiscard]] const Packet& packet() const noexcept { return *packet_; }
  [[nodiscard]] std::uint32_t router() const noexcept { return router_; }
  [[nodiscard]] std::uint32_t group() const noexcept { return group_; }
  // Times at which the packet entered, and left, its source queue.
  [[nodiscard]] const PacketTimes& times() const noexcept { return *times_; }
  // The port by which the packet entered the router, and the VC of it that it occupies.
  [[nodiscard]] Port input_port() const noexcept { return input_port_; }
  [[nodiscard]] std::uint8_t vc() const noexcept { return vc_; }
  [[nodiscard]] const Dragonfly& topology() const noexcept { return view_->paths.topology(); }
  [[nodiscard]] const PathFollower& paths() const noexcept { return view_->paths; }

  // Congestion of a port, packets: those in its output queues + credits in use (sent, and the
  // credit is not back yet). Source: Kang et al., HPDC 2021, section 5.1.
  [[nodiscard]] std::uint32_t occupancy_packets(Port port) const noexcept { return ports_[port].occupancy; }

  // The occupancy of one VC of a port.
  [[nodiscard]] std::uint32_t occupancy_packets(Hop hop) const noexcept {
    const OutputPort& port = ports_[hop.port];
    const VcQueue& queue = port.queues()[hop.vc];
    const std::uint32_t in_use = view_->buffers[index_of(port.link_class)] - queue.credits;
    return view_->credits_at_crossbar ? in_use : in_use + queue.queued;
  }

  // Packets in the output queue of one VC of a port: without those that were sent and hold a credit.
  [[nodiscard]] std::uint32_t queued_packets(Hop hop) const noexcept {
    return ports_[hop.port].queues()[hop.vc].queued;
  }

  // The ports by which the packet would leave on its shortest path and on a non-minimal path, which rules
  // compare.
  [[nodiscard]] Port minimal_port() const noexcept {
    return paths()
        .minimal_hop(*packet_, router_, group_, paths().source_stage(*packet_), paths().choice_of(*packet_))
        .port;
  }
  [[nodiscard]] Port nonminimal_port(const NonMinimalPath& nonminimal) const noexcept {
    return paths().nonminimal_hop(*packet_, nonminimal, router_, group_).port;
  }

  // Ports of this router, from port 0.
  [[nodiscard]] const RouterPorts& ports() const noexcept { return ports_; }

  // A tracked number, as this router may read it now: of the tracker at this position of the policy's
  // trackers(). `column`: see TrackedField.
  [[nodiscard]] double tracked(std::uint32_t tracker, std::uint32_t field, std::uint32_t column) const {
    return view_->tracked.of_policy(tracker).read(field, router_, column, view_->tracked.now);
  }
  // A column, or several, of a tracker, by its position among all that run.
  [[nodiscard]] float tracked_of(std::uint32_t tracker, std::uint32_t field, std::uint32_t column) const {
    return static_cast<float>(
        view_->tracked.trackers[tracker]->read(field, router_, column, view_->tracked.now));
  }
  void tracked_of_all(std::uint32_t tracker, std::uint32_t field, std::span<const std::uint32_t> columns,
                      float* numbers) const {
    view_->tracked.trackers[tracker]->read_all(field, router_, columns, view_->tracked.now, numbers);
  }

  // Draws that belong to this packet at this hop: one stream per kind of non-minimal path, so that the i-th
  // non-minimal path of a kind is the same for every reader, and one for the choice among shortest paths.
  [[nodiscard]] RandomStream nonminimal_stream(NonMinimalKind kind) const noexcept {
    return stream(static_cast<std::uint32_t>(kind));
  }
  // The draws that environments hand out.
  [[nodiscard]] RandomStream learning_stream() const noexcept {
    return {view_->seed, Purpose::kLearning, packet_->source_host, packet_->number, packet_->hops};
  }
  [[nodiscard]] RandomStream minimal_choice_stream() const noexcept {
    return PathFollower::choices(view().seed, packet());
  }

  [[nodiscard]] const RouterView& view() const noexcept { return *view_; }

 private:
  // Number of earlier decisions of the packet at its source router, modulo 256.
  [[nodiscard]] std::uint32_t attempt() const noexcept { return packet_->hops == 0 ? packet_->attempts : 0U; }
  [[nodiscard]] RandomStream stream(std::uint32_t which) const noexcept {
    return {view_->seed, Purpose::kRouting, packet_->source_host,
            packet_->number | static_cast<std::uint64_t>(attempt()) << 32, packet_->hops | which << 8};
  }

  const RouterView* view_;
  const Packet* packet_;
  const PacketTimes* times_;
  RouterPorts ports_;
  std::uint32_t router_;
  std::uint32_t group_;
  Port input_port_;
  std::uint8_t vc_;
};

}  // namespace dragonfly
