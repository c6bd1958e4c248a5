// Messages inside a group: numbers of a router that the other routers of the group receive later.
//
// Every `period` each router sends a message to the other routers of its group. The message holds the
// router's numbers as the events before that time left them, in a few bits each (MessageNumbers). A message
// arrives after the delay of its path: the latencies of the local links of the fastest path, and the routing
// delay of each router between. So a change at time t is in the message of the first multiple of the period
// after t, and a reader sees the change from the arrival of this message on.
//
// The messages do not pass the simulated links: they take no room there, and their few nanoseconds of
// serialisation are not counted. Nothing happens when a message arrives. The latest messages of all routers
// of a partition are kept as rows, and a reader looks up the latest row that has arrived from each router.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/fast_divisor.hpp"
#include "core/large_pages.hpp"
#include "core/parameters.hpp"
#include "core/prefetch.hpp"
#include "core/time.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

// Rounds whole numbers to those that so many bits express. Three bits are the binary exponent, the others the
// leading digits behind the first: with 4 bits 0, 1, 2, 3, 4, 6, 8, 12 and so on up to 192.
class MessageNumbers {
 public:
  // Precondition: 4 <= bits <= 16.
  explicit MessageNumbers(std::uint32_t bits)
      : digits_{bits - 2}, most_{std::min<std::uint32_t>(((1U << digits_) - 1U) << 6U, 0xffff)} {}

  // The nearest number that can be sent; of two, the one whose last digit is 0, so that sums are not biased.
  [[nodiscard]] std::uint16_t rounded(std::uint32_t number) const noexcept {
    const auto width = static_cast<std::uint32_t>(std::bit_width(number));
    if (width > digits_) {
      const std::uint32_t dropped = width - digits_;
      const std::uint32_t last = number >> dropped & 1U;
      number = (number + (1U << (dropped - 1U)) - 1U + last) >> dropped << dropped;
    }
    return static_cast<std::uint16_t>(std::min(number, most_));
  }

 private:
  std::uint32_t digits_;  // binary digits, the first one included
  std::uint32_t most_;
};

class GroupMessages {
 public:
  // Each router sends `numbers` numbers.
  GroupMessages(const TrackerSite& site, Tick period, std::uint32_t numbers);

  // Sends all messages of times until `now`, and returns the time of the next one. Only the latest ones are
  // written that any router may still read: write(time, rows), with rows[router * numbers + i] of all routers
  // of the partition to fill.
  template <class Write>
  Tick send_until(Tick now, Write write) {
    const Tick last = now / period_ * period_;
    next_ = std::max(next_, last - (static_cast<Tick>(kept_) - 1) * period_);
    for (; next_ <= last; next_ += period_) {
      const std::uint32_t at = place_of(next_ / period_);
      write(next_, &rows_[at * row_size()]);
      add_up(at);
    }
    return next_;
  }

  // The numbers that have arrived at a router, for several reads at one time. Routers are numbered within
  // their group.
  class Inbox {
   public:
    // A number of another router of the group; place: sender * numbers + number.
    [[nodiscard]] std::uint32_t number_at(std::uint32_t sender, std::size_t place) const noexcept {
      const std::size_t message = delays_ == nullptr ? 0 : messages_->latest_[delays_[sender]].first_row;
      return rows_[message + place];
    }
    [[nodiscard]] std::uint32_t number(std::uint32_t sender, std::uint32_t number) const noexcept {
      return number_at(sender, std::size_t{sender} * messages_->numbers_ + number);
    }
    // Whether all routers of the group have the same delay: their sums are ready.
    [[nodiscard]] bool has_sums() const noexcept { return delays_ == nullptr; }
    // Precondition: has_sums().
    [[nodiscard]] std::uint32_t ready_sum(std::uint32_t number) const noexcept {
      return sums_[number] - own_[number];
    }
    // The sum of a number of all other routers of the group.
    [[nodiscard]] std::uint32_t sum(std::uint32_t number) const noexcept {
      if (has_sums()) return ready_sum(number);
      std::uint32_t sum = 0;
      for (std::uint32_t sender = 0; sender < messages_->size_; ++sender) {
        if (sender != reader_) sum += this->number(sender, number);
      }
      return sum;
    }

   private:
    friend class GroupMessages;
    const GroupMessages* messages_ = nullptr;
    std::uint32_t reader_ = 0;
    const std::uint8_t* delays_ = nullptr;  // [sender]: place in latest_; null: all delays are equal
    const std::uint16_t* rows_ = nullptr;   // rows of the group in the message of all, or in message 0
    const std::uint32_t* sums_ = nullptr;   // equal delays: sums of the group
    const std::uint16_t* own_ = nullptr;    // equal delays: the row of the reader
  };
  // The inbox of a router, which is numbered within the partition. Precondition: all messages until `now`
  // were sent.
  [[nodiscard]] const Inbox& inbox(std::uint32_t router, Tick now) noexcept {
    if (router != inbox_of_ || now != inbox_time_) open_inbox(router, now);
    return inbox_;
  }

  // Prefetches the first numbers and this one that sum() will read at a router, if all delays are equal and
  // no further message arrives before.
  void prefetch_numbers(std::uint32_t router, std::uint32_t number) const noexcept {
    const Latest& latest = latest_.front();
    const std::uint32_t group = by_size_.divide(router);
    const std::uint32_t* const sums = &sums_[(std::size_t{latest.place} * groups_ + group) * numbers_];
    const std::uint16_t* const sent = &rows_[latest.first_row + std::size_t{router} * numbers_];
    prefetch(sums);
    prefetch(sums + number);
    prefetch(sent);
    prefetch(sent + number);
  }

  // Bytes for all routers of a system, if two messages of each are kept; and the numbers that are sent.
  [[nodiscard]] static std::uint64_t bytes(const Dragonfly& topology, std::uint32_t numbers) noexcept {
    return std::uint64_t{topology.num_routers()} * numbers *
           (3 * sizeof(std::uint16_t) + sizeof(std::uint32_t));
  }
  void archive(Archive& archive);

 private:
  // The latest messages that took so long to arrive.
  struct Latest {
    Tick delay = 0;
    Tick until = 0;             // the arrival of the next ones
    std::uint32_t place = 0;    // among the messages that are kept
    std::size_t first_row = 0;  // in rows_
  };

  void look_up(Latest& latest, Tick now) const noexcept;
  void open_inbox(std::uint32_t router, Tick now) noexcept;
  void find_delays(const TrackerSite& site);
  void add_up(std::uint32_t at) noexcept;
  [[nodiscard]] std::uint32_t place_of(Tick period) const noexcept {
    return static_cast<std::uint32_t>(period % static_cast<Tick>(kept_));
  }
  [[nodiscard]] std::size_t row_size() const noexcept { return std::size_t{routers_} * numbers_; }
  [[nodiscard]] std::size_t pair_of(std::uint32_t group, std::uint32_t from,
                                    std::uint32_t to) const noexcept {
    return ((are_alike_ ? 0U : std::size_t{group}) * size_ + from) * size_ + to;
  }

  Tick period_;
  std::uint32_t numbers_;
  std::uint32_t routers_;
  std::uint32_t size_;  // routers of a group
  std::uint32_t groups_;
  FastDivisor by_size_;
  bool are_alike_;                    // all groups are: they share delays_
  std::uint32_t kept_ = 1;            // latest messages of each router that are kept
  Tick next_ = 0;                     // the time of the next messages
  std::vector<std::uint8_t> delays_;  // [(group * size + router) * size + router]: place in latest_
  std::vector<Latest> latest_;        // all delays that occur
  // [(message * routers + router) * numbers + i]; one more message, all zeros: none has arrived.
  SharedVector<std::uint16_t> rows_;
  SharedVector<std::uint32_t> sums_;  // [(message * groups + group) * numbers + i]
  Inbox inbox_;                       // the latest inbox: a decision reads several fields
  std::uint32_t inbox_of_ = 0;
  Tick inbox_time_ = -1;
};

// The parameters of messages, and their values.
[[nodiscard]] std::vector<ParameterInfo> message_parameters(double period_ns);
[[nodiscard]] Tick message_period(const ParameterOwner& owner, const Parameters& given,
                                  const TrackerSite& site);
[[nodiscard]] std::uint32_t message_bits(const ParameterOwner& owner, const Parameters& given);

}  // namespace dragonfly
