#include "routing/group_messages.hpp"

#include <algorithm>

namespace dragonfly {

GroupMessages::GroupMessages(const TrackerSite& site, Tick period, std::uint32_t numbers)
    : period_{period},
      numbers_{numbers},
      routers_{site.num_routers},
      size_{site.topology.a()},
      groups_{routers_ / size_},
      by_size_{size_},
      are_alike_{!site.topology.is_damaged()} {
  find_delays(site);
  Tick longest = 0;
  for (const Latest& latest : latest_) longest = std::max(longest, latest.delay);
  kept_ = static_cast<std::uint32_t>((longest + period_ - 1) / period_ + 1);
  rows_.resize((kept_ + 1) * row_size());
  sums_.resize(std::size_t{kept_ + 1} * groups_ * numbers_);
}

void GroupMessages::find_delays(const TrackerSite& site) {
  const Dragonfly& topology = site.topology;
  const std::uint32_t tables = are_alike_ ? 1 : groups_;
  delays_.assign(std::size_t{tables} * size_ * size_, 0);
  std::vector<Tick> times(size_);
  std::vector<std::uint8_t> done(size_);
  for (std::uint32_t table = 0; table < tables; ++table) {
    const std::uint32_t first = site.first_router + table * size_;
    for (std::uint32_t from = 0; from < size_; ++from) {
      // Dijkstra's algorithm.
      std::ranges::fill(times, kNever);
      std::ranges::fill(done, std::uint8_t{0});
      times[from] = 0;
      for (std::uint32_t step = 0; step < size_; ++step) {
        std::uint32_t near = size_;
        for (std::uint32_t i = 0; i < size_; ++i) {
          if (done[i] == 0 && (near == size_ || times[i] < times[near])) near = i;
        }
        done[near] = 1;
        if (times[near] == kNever) break;  // the others are dead
        const Tick left = near == from ? 0 : times[near] + site.routing_delay;
        for (Port port = topology.first_local_port(); port < topology.first_global_port(); ++port) {
          const Endpoint far = topology.neighbor(first + near, port);
          if (far.port == kNoPort) continue;
          Tick& time = times[far.router - first];
          time = std::min(time, left + site.links[index_of(topology.port_class(port))].latency);
        }
      }
      for (std::uint32_t to = 0; to < size_; ++to) {
        // Dead routers send nothing, and a router reads its own numbers elsewhere.
        if (to == from || times[to] == kNever) continue;
        auto at = std::ranges::find(latest_, times[to], &Latest::delay);
        if (at == latest_.end()) at = latest_.insert(latest_.end(), {.delay = times[to]});
        delays_[pair_of(table, from, to)] = static_cast<std::uint8_t>(at - latest_.begin());
      }
    }
  }
  if (latest_.empty()) latest_.emplace_back();
}

void GroupMessages::look_up(Latest& latest, Tick now) const noexcept {
  if (now < latest.delay) {
    latest.place = kept_;
    latest.until = latest.delay;
  } else {
    const Tick period = (now - latest.delay) / period_;
    latest.place = place_of(period);
    latest.until = (period + 1) * period_ + latest.delay;
  }
  latest.first_row = latest.place * row_size();
}

void GroupMessages::open_inbox(std::uint32_t router, Tick now) noexcept {
  for (Latest& latest : latest_) {
    if (now >= latest.until) look_up(latest, now);
  }
  const std::uint32_t group = by_size_.divide(router);
  const std::size_t first = std::size_t{group} * size_ * numbers_;
  inbox_of_ = router;
  inbox_time_ = now;
  inbox_.messages_ = this;
  inbox_.reader_ = router - group * size_;
  if (latest_.size() == 1) {
    inbox_.rows_ = &rows_[latest_[0].first_row + first];
    inbox_.sums_ = &sums_[(std::size_t{latest_[0].place} * groups_ + group) * numbers_];
    inbox_.own_ = inbox_.rows_ + std::size_t{inbox_.reader_} * numbers_;
  } else {
    inbox_.rows_ = &rows_[first];
    inbox_.delays_ = &delays_[pair_of(group, inbox_.reader_, 0)];
  }
}

void GroupMessages::add_up(std::uint32_t at) noexcept {
  if (latest_.size() > 1) return;
  const std::uint16_t* row = &rows_[at * row_size()];
  std::uint32_t* sums = &sums_[std::size_t{at} * groups_ * numbers_];
  std::fill_n(sums, std::size_t{groups_} * numbers_, 0U);
  for (std::uint32_t group = 0; group < groups_; ++group, sums += numbers_) {
    for (std::uint32_t router = 0; router < size_; ++router, row += numbers_) {
      for (std::uint32_t i = 0; i < numbers_; ++i) sums[i] += row[i];
    }
  }
}

void GroupMessages::archive(Archive& archive) {
  archive(next_);
  archive.fixed(rows_);
  archive.fixed(sums_);
  if (!archive.reads()) return;
  for (Latest& latest : latest_) latest.until = 0;
  inbox_time_ = -1;
}

std::vector<ParameterInfo> message_parameters(double period_ns) {
  return {{"message_period_ns", period_ns, "ns",
           "time between two messages of a router to the other routers of its group", between(1, 1e6)},
          {"message_bits", 4.0, "bits",
           "length of a number in a message: three bits are the exponent, the others the leading digits",
           whole(4, 16)}};
}

Tick message_period(const ParameterOwner& owner, const Parameters& given, const TrackerSite& site) {
  return site.ticks_of(static_cast<TimePs>(number_parameter(owner, given, "message_period_ns") * kPsPerNs));
}

std::uint32_t message_bits(const ParameterOwner& owner, const Parameters& given) {
  return static_cast<std::uint32_t>(number_parameter(owner, given, "message_bits"));
}

}  // namespace dragonfly
