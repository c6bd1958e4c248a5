// The shortest paths inside a group, for every pair of its routers: computed once from the group's shape and
// its dead links and routers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topology/group_shape.hpp"

namespace dragonfly {

// Hops of the longest shortest path between routers of a group.
struct LocalHops {
  std::uint32_t out = 1;      // from a router with hosts to one with global links
  std::uint32_t in = 1;       // back
  std::uint32_t through = 1;  // between routers with global links
  std::uint32_t inside = 1;   // between routers with hosts
  std::uint32_t any = 1;      // between any routers
  std::uint32_t vcs = 1;      // VCs that the local hops of a stage need
  // Whether a shortest path may pass a relay: a group between two groups that no link joins.
  bool relays = false;
  // Whether the hops of a local path share one VC.
  [[nodiscard]] constexpr bool share_vc() const noexcept { return vcs < any; }
  bool operator==(const LocalHops&) const = default;
};

// The larger number of hops of each kind.
[[nodiscard]] LocalHops longest_of(const LocalHops& some, const LocalHops& others) noexcept;

// Dead links and routers of a group.
struct GroupDamage {
  std::vector<LocalEnd> links;         // both ends of each
  std::vector<std::uint32_t> routers;  // indices
  [[nodiscard]] bool none() const noexcept { return links.empty() && routers.empty(); }
};

class LocalPaths {
 public:
  // Throws ConfigError for a shape that is not connected.
  explicit LocalPaths(const GroupShape& shape, const GroupDamage& damage = {});

  [[nodiscard]] LocalEnd across(const LocalEnd& near) const noexcept {
    return ends_[static_cast<std::size_t>(near.index) * ports_ + near.slot];
  }
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const noexcept {
    return hops_[static_cast<std::size_t>(from) * routers_ + to];
  }
  // The ports of `from` on a shortest path to `to`, by slot, ascending; none if they are the same.
  [[nodiscard]] std::span<const std::uint16_t> slots(std::uint32_t from, std::uint32_t to) const noexcept {
    const std::size_t pair = static_cast<std::size_t>(from) * routers_ + to;
    return {slots_.data() + first_[pair], slots_.data() + first_[pair + 1]};
  }
  // Two live routers of which neither reaches the other, if there are any.
  [[nodiscard]] const std::optional<std::pair<std::uint32_t, std::uint32_t>>& cut_off() const noexcept {
    return cut_off_;
  }
  // Whether no two routers have several shortest paths.
  [[nodiscard]] bool are_single() const noexcept { return are_single_; }
  // At least 1 each, between live routers.
  [[nodiscard]] const LocalHops& longest() const noexcept { return longest_; }

 private:
  std::uint32_t routers_;
  std::uint32_t ports_;
  bool are_single_ = true;
  LocalHops longest_;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> cut_off_;
  std::vector<LocalEnd> ends_;        // [index * ports + slot]
  std::vector<std::uint8_t> hops_;    // [from * routers + to]
  std::vector<std::uint32_t> first_;  // [from * routers + to]: first place in slots_; one more at the end
  std::vector<std::uint16_t> slots_;
};

}  // namespace dragonfly
