// Links that fail and return while a run goes on.
//
// A link that fails sends nothing more; packets that have left their port arrive, and so do all credits. For
// a time all routers route as before, so packets wait in front of the link. Then all routers know at once,
// and what waits there is routed again. A link that returns sends at once, and is used when all routers know.
//
// Machines. The states of the machine between events are machines of their own, built in advance. A packet
// keeps the state that was known at its source router: its later hops follow the tables of that state, and
// only packets of the state that is known now are decided about. A packet whose next link is known to be dead
// is routed again, from that router on: by a shortest path of the state that is known now.
//
// Deadlock. Ranks of VCs rise along a path (routing/vc_ladder.hpp), for all states by the same ladder, made
// for the longest local paths of all of them. A packet that is routed again climbs a further ladder, for
// shortest paths, above the one that it leaves. A packet takes a dead link at most once after each notice of
// links that fail, so there are as many further ladders as such notices. Packets from the output queue of a
// dead link go to other output queues of their router, beyond the size of these queues if they are full: they
// never wait for room. So channels still form a directed acyclic graph.
//
// Same bits. Links change between windows, which end there, so at the same time in all partitions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/time.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

struct LinkEvent {
  TimePs time_ps = 0;
  Endpoint link{};  // one of its ends
  bool up = false;
};

class LinkChanges {
 public:
  static constexpr std::uint32_t kMostVersions = 256;  // PacketStore::versions

  // `notice_ps`: from an event until all routers know. Throws ConfigError.
  LinkChanges(const Dragonfly& machine, std::vector<LinkEvent> events, TimePs notice_ps);

  // Ports at both ends of links.
  struct Ports {
    std::vector<Endpoint> failed;
    std::vector<Endpoint> returned;
  };
  // Events of one time, or the notice of them.
  struct Change {
    TimePs time_ps = 0;
    std::uint32_t state = 0;  // the state that begins
    bool notice = false;
  };
  // In the order of their times.
  [[nodiscard]] const std::vector<Change>& changes() const noexcept { return changes_; }
  [[nodiscard]] std::uint32_t num_states() const noexcept {
    return static_cast<std::uint32_t>(states_.size());
  }
  [[nodiscard]] const Dragonfly& machine(std::uint32_t state) const noexcept {
    return *states_[state].machine;
  }
  // The ports that change when a state begins.
  [[nodiscard]] const Ports& ports(std::uint32_t state) const noexcept { return states_[state].ports; }
  // The most times that a packet is routed again.
  [[nodiscard]] std::uint32_t most_reroutes() const noexcept { return most_reroutes_; }

  // The machine as all routers know it.
  [[nodiscard]] const Dragonfly& known() const noexcept { return known_; }
  void know(std::uint32_t state) { known_ = machine(state); }

  // Version of a packet (PacketStore::versions) that was routed again so many times.
  [[nodiscard]] std::uint8_t version(std::uint32_t state, std::uint32_t reroutes = 0) const noexcept {
    return static_cast<std::uint8_t>(state * (most_reroutes_ + 1) + reroutes);
  }
  [[nodiscard]] std::uint32_t reroutes(std::uint8_t version) const noexcept {
    return version % (most_reroutes_ + 1);
  }

 private:
  struct State {
    std::unique_ptr<const Dragonfly> machine;
    Ports ports;
  };

  void begin_state(const Dragonfly& machine, std::span<const LinkEvent> events, std::vector<Endpoint>& dead);

  std::vector<State> states_;  // the first: before all events
  std::vector<Change> changes_;
  std::uint32_t most_reroutes_ = 0;
  Dragonfly known_;
};

}  // namespace dragonfly
