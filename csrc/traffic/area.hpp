// The part of the system in which a pattern lives: all live hosts, or a set of them ("area").
//
// Nodes of an area talk only to nodes of the same area. Groups inside an area are the groups that
// own at least one of its hosts, counted in order and cyclically; in an area that touches every
// group (all hosts, or every second one) they are the groups of the system.
// Source: Benito et al. (LIA), TACO 2025, section 6.4 ("network areas").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/fast_divisor.hpp"
#include "core/ids.hpp"
#include "topology/dragonfly.hpp"

namespace dragonfly {

class Area {
 public:
  explicit Area(const Dragonfly& topology);  // the whole system, without hosts of dead routers
  // Any order of hosts; throws ConfigError if one is out of range, dead or twice there, or if none is.
  Area(const Dragonfly& topology, std::vector<std::uint32_t> hosts);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] bool contains(std::uint32_t host) const noexcept {
    return whole_ || index_of_[host] != Id<void>::kNoneValue;
  }
  // The index-th host of the area (in rising order) and back.
  [[nodiscard]] std::uint32_t host(std::uint32_t index) const noexcept {
    return whole_ ? index : hosts_[index];
  }
  [[nodiscard]] std::uint32_t index_of(std::uint32_t host) const noexcept {
    return whole_ ? host : index_of_[host];
  }

  [[nodiscard]] std::uint32_t num_groups() const noexcept { return num_groups_; }
  // The index of the area's group that owns a host of the area.
  [[nodiscard]] std::uint32_t group_of(std::uint32_t host) const noexcept {
    const std::uint32_t group = hosts_per_group_divisor_.divide(host);
    return whole_ ? group : group_index_[group];
  }
  // The hosts of an area's group have the indices first_of(group) .. first_of(group) + size_of(group) - 1.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t group) const noexcept {
    return whole_ ? group * hosts_per_group_ : starts_[group];
  }
  [[nodiscard]] std::uint32_t size_of(std::uint32_t group) const noexcept {
    return whole_ ? hosts_per_group_ : starts_[group + 1] - starts_[group];
  }
  // group + offset, cyclically; offset < num_groups().
  [[nodiscard]] std::uint32_t group_after(std::uint32_t group, std::uint32_t offset) const noexcept {
    const std::uint32_t sum = group + offset;
    return sum >= num_groups_ ? sum - num_groups_ : sum;
  }

  // Sums over the hosts of one of the area's groups, and of all its groups.
  [[nodiscard]] double sum_of(std::uint32_t group, std::span<const double> by_host) const noexcept {
    double sum = 0.0;
    for (std::uint32_t i = 0; i < size_of(group); ++i) sum += by_host[host(first_of(group) + i)];
    return sum;
  }
  [[nodiscard]] double sum(std::span<const double> by_host) const noexcept {
    double sum = 0.0;
    for (std::uint32_t index = 0; index < size_; ++index) sum += by_host[host(index)];
    return sum;
  }
  // Adds `total` in equal parts to the hosts of a group, or to all hosts.
  void spread_over(std::uint32_t group, double total, std::span<double> by_host) const noexcept {
    const double each = total / size_of(group);
    for (std::uint32_t i = 0; i < size_of(group); ++i) by_host[host(first_of(group) + i)] += each;
  }
  void spread(double total, std::span<double> by_host) const noexcept {
    for (std::uint32_t index = 0; index < size_; ++index) by_host[host(index)] += total / size_;
  }
  // Adds the load that every host sends to the others, in equal parts. At least two hosts.
  void spread_to_others(std::span<const double> sent, std::span<double> by_host) const noexcept {
    const double total = sum(sent);
    for (std::uint32_t index = 0; index < size_; ++index)
      by_host[host(index)] += (total - sent[host(index)]) / (size_ - 1);
  }

 private:
  bool whole_;
  std::uint32_t size_;
  std::uint32_t num_groups_;
  std::uint32_t hosts_per_group_;
  FastDivisor hosts_per_group_divisor_;
  std::vector<std::uint32_t> hosts_;        // [index]
  std::vector<std::uint32_t> index_of_;     // [host], none for strangers
  std::vector<std::uint32_t> group_index_;  // [group of the system], none for strangers
  std::vector<std::uint32_t> starts_;       // [group of the area], and the end
};

}  // namespace dragonfly
