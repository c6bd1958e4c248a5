// A partition: one or more whole groups with their routers, hosts, packets and events.
//
// Everything that crosses a global link takes at least the look-ahead (the smaller of its packet and
// credit delays), so a partition runs on its own for that long; what leaves it waits in mailboxes.
//
// Why the order of events inside an instant does not matter. An instant is worked off kind by kind:
// clock edges, credits, departures, hosts, arrivals, decisions that take effect, new decisions.
// Within a kind, events touch disjoint state: an edge its own router, a departure its own port, an
// arrival its own buffer (one link brings at most one packet at a time), a credit one counter of one
// port. What they send elsewhere arrives later. Ties between packets are broken by the allocator's
// own keys, random draws belong to packets. So results depend neither on the order of the lists, nor
// on mailboxes, nor on how groups are cut into partitions.
//
// Its parts, from the ground: partition_state.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "network/router_decisions.hpp"

namespace dragonfly {

class Partition final : public RouterDecisions {
 public:
  // `open`: null where packets are never routed from outside.
  Partition(const Blueprint& blueprint, PacketStore& store, FeedbackSignals& feedback, OpenDecisions* open,
            std::uint32_t index)
      : RouterDecisions{blueprint, store, feedback, open, index} {}

  // Takes in what other partitions sent, for a window that ends before `end`. Packets delivered after
  // `horizon` are counted only when time gets there.
  void open_window(Tick end, Tick horizon, std::span<Mailbox* const> inboxes, std::span<Mailbox> outboxes);
  // Why go_on() came back.
  enum class Stop : std::uint8_t {
    kAsks,  // decisions must be answered first
    kDone,  // the jobs that end have just done all that they had to do here
    kEnd,   // everything before the given time has happened
  };
  // Runs to `end`, a time in the window or the end of it. `until_done`: or until the open work is done, which
  // must not be so yet; the time at which that comes true is worked off completely.
  Stop go_on(Tick end, bool until_done);
  // The window ends where go_on() has come to, and messages to other partitions are announced to them. May be
  // called again for the same window.
  void close_window();
  // Whether nothing happens here before next_message(), unless mail comes.
  [[nodiscard]] bool silent() const noexcept { return in_network_ == 0 && wheel_.empty(); }
  // Everything before has happened here.
  [[nodiscard]] Tick cursor() const noexcept { return cursor_; }
  // Everything up to and including this instant has happened here.
  [[nodiscard]] Tick clock() const noexcept { return std::max<Tick>(0, cursor_ - 1); }
  // The next window starts at `now`. Precondition: nothing is due before.
  void skip_to(Tick now) noexcept { now_ = now; }
  void reset_statistics(Tick now, bool ends_warmup);

 private:
  void step(Tick now);

  Tick cursor_ = 0;  // everything before has happened
};

}  // namespace dragonfly
