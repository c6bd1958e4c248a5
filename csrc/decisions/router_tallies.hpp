// Rewards of every router, and the packets that it holds.
//
// Every packet in the system has one holder: from its generation on the router of its source host, and after
// each decision the router that made it. When a packet is handed over, to the router that decides next or to
// its destination host, the holder is charged for the time since it got the packet. So all charges together
// are the time that packets have spent in the system: no router can save by keeping packets. The source
// router is credited with a constant per delivered packet. If that constant is about the mean latency, a
// delivery changes the sum by nothing on average, and rewards do not depend on how many packets happened to
// arrive. At the end of an episode Outcomes::settle() charges open packets for their time, and credits them
// with their age, but with no more than for a delivery: a packet that would be fast counts as nothing, a late
// one as if it was delivered.
//
// A packet may be handed over in any partition. So each partition has tallies of all routers, and their sums
// count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/time.hpp"

namespace dragonfly {

struct RouterTally {
  std::int64_t reward_ticks = 0;
  std::int64_t delivered = 0;  // packets of its hosts
  std::int64_t held = 0;       // packets now; below 0 if it got them in another partition
  static constexpr bool kArchivedWhole = true;
};

class RouterTallies {
 public:
  RouterTallies(std::uint32_t num_routers, Tick credit) : credit_{credit}, tallies_(num_routers) {}

  // Time before `now` is not rewarded.
  void begin(Tick now) noexcept {
    begin_ = now;
    latency_ = 0;
    for (RouterTally& tally : tallies_) tally = {.held = tally.held};
  }
  void set_credit(Tick credit) noexcept { credit_ = credit; }

  void injected(std::uint32_t source) noexcept { ++tallies_[source].held; }
  void hand_over(std::uint32_t from, Tick since, std::uint32_t to, Tick now) noexcept {
    tallies_[from].reward_ticks -= charge(since, now);
    --tallies_[from].held;
    ++tallies_[to].held;
  }
  void deliver(std::uint32_t holder, Tick since, std::uint32_t source, Tick created, Tick now) noexcept {
    tallies_[holder].reward_ticks -= charge(since, now);
    --tallies_[holder].held;
    tallies_[source].reward_ticks += credit_ - credited(created);
    ++tallies_[source].delivered;
    latency_ += now - created;
  }

  [[nodiscard]] Tick begin() const noexcept { return begin_; }
  [[nodiscard]] Tick credit() const noexcept { return credit_; }
  // The part of the credit of a packet that belongs to the time before the episode.
  [[nodiscard]] Tick credited(Tick created) const noexcept {
    return std::clamp<Tick>(begin_ - created, 0, credit_);
  }
  [[nodiscard]] const std::vector<RouterTally>& all() const noexcept { return tallies_; }
  // The sum of the latencies of delivered packets.
  [[nodiscard]] Tick latency() const noexcept { return latency_; }

  void archive(Archive& archive) {
    archive(begin_, credit_, latency_);
    archive.fixed(tallies_);
  }

 private:
  [[nodiscard]] Tick charge(Tick since, Tick now) const noexcept { return now - std::max(since, begin_); }

  Tick begin_ = 0;
  Tick credit_;
  Tick latency_ = 0;
  std::vector<RouterTally> tallies_;  // [router of the network]
};

}  // namespace dragonfly
