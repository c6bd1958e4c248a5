// Signals inside a group: some bits per router that the other routers of its group see one delay later.
//
// A bit that flips is stored once, with the time at which the others see it; no event happens at that time.
// Since time never goes back in a partition and the delay is the same for all, the stored flips are a queue,
// and every read or write first applies the flips that are due.
#pragma once

#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/time.hpp"

namespace dragonfly {

class GroupSignals {
 public:
  static constexpr std::uint64_t kBytesPerBit = 2;  // next to the flips in flight

  GroupSignals(std::uint32_t num_routers, std::uint32_t bits_per_router, Tick delay)
      : bits_{bits_per_router},
        delay_{delay},
        own_(std::size_t{num_routers} * bits_per_router, 0),
        seen_(own_.size(), 0) {}

  // `now` in both: never before that of an earlier call.
  void set(std::uint32_t router, std::uint32_t bit, bool value, Tick now) {
    const std::uint32_t at = router * bits_ + bit;
    if ((own_[at] != 0) == value) return;
    own_[at] = value ? 1 : 0;
    catch_up(now);
    in_flight_.push_back({now + delay_, at});
  }

  // A bit of `router` as `reader` of the same group sees it: its own at once.
  [[nodiscard]] bool get(std::uint32_t reader, std::uint32_t router, std::uint32_t bit, Tick now) {
    const std::uint32_t at = router * bits_ + bit;
    if (reader == router) return own_[at] != 0;
    catch_up(now);
    return seen_[at] != 0;
  }
  void archive(Archive& archive) {
    archive.fixed(own_);
    archive.fixed(seen_);
    archive(in_flight_, first_);
  }

 private:
  struct Flip {
    Tick due = 0;
    std::uint32_t at = 0;
    void archive(Archive& archive) { archive(due, at); }
  };

  void catch_up(Tick now) {
    for (; first_ < in_flight_.size() && in_flight_[first_].due <= now; ++first_) {
      seen_[in_flight_[first_].at] ^= 1;
    }
    // Applied flips are dropped when they are the larger part: a constant amount of work per flip, and no
    // more room than twice the most that is ever in flight.
    if (first_ * 2 < in_flight_.size() || first_ == 0) return;
    in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  std::uint32_t bits_;
  Tick delay_;
  std::vector<std::uint8_t> own_;   // [router * bits + bit]: the present value
  std::vector<std::uint8_t> seen_;  // [router * bits + bit]: the value that the other routers see
  std::vector<Flip> in_flight_;     // flips by time; valid from first_ on
  std::size_t first_ = 0;
};

}  // namespace dragonfly
