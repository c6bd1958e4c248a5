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
  // Runs to the end of the window; false: it stopped because decisions must be answered first.
  bool go_on();
  // Whether nothing happens here before next_message(), unless mail comes.
  [[nodiscard]] bool silent() const noexcept { return in_network_ == 0 && wheel_.empty(); }
  // Everything up to and including this instant has happened here.
  [[nodiscard]] Tick clock() const noexcept { return std::max<Tick>(0, cursor_ - 1); }
  // The next window starts at `now`. Precondition: nothing is due before.
  void skip_to(Tick now) noexcept { now_ = now; }
  void reset_statistics(Tick now, bool ends_warmup);

 private:
  void step(Tick now);

  Tick window_end_ = 0;  // the present window ends before
  Tick cursor_ = 0;      // everything before has happened
};

}  // namespace dragonfly
