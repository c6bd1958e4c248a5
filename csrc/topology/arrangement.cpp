#include "topology/arrangement.hpp"

#include <array>
#include <cassert>

#include "core/error.hpp"

namespace dragonfly {
namespace {

struct NamedArrangement {
  Arrangement arrangement;
  std::string_view name;
};

constexpr std::array<NamedArrangement, 7> kArrangements{{
    {Arrangement::kPalmtree, "palmtree"},
    {Arrangement::kPalmtreePlus, "palmtree-plus"},
    {Arrangement::kAbsolute, "absolute"},
    {Arrangement::kRelative, "relative"},
    {Arrangement::kCirculant, "circulant"},
    {Arrangement::kXc, "xc"},
    {Arrangement::kSpread, "spread"},
}};

constexpr std::uint32_t ahead(std::uint32_t group, std::uint32_t distance, std::uint32_t groups) noexcept {
  const std::uint32_t sum = group + distance;
  return sum >= groups ? sum - groups : sum;
}

constexpr std::uint32_t behind(std::uint32_t group, std::uint32_t distance, std::uint32_t groups) noexcept {
  return ahead(group, groups - distance, groups);
}

// Slot s leads s+1 groups back, so the link back leads g-(s+1) groups back: slot g-2-s. Slices mirror with
// the slots, which keeps the whole group one palm tree: position q meets position a*h-1-q when every slot is
// in use.
// Source: Camarero, Vallejo, Beivide, "Topological characterization of Hamming and Dragonfly networks and its
// implications on routing", TACO 2014; the sign as in the figures (not the text) of the LIA paper, which is
// the one that makes router a-1 the bottleneck of consecutive adversarial traffic.
GlobalEnd palmtree(const GlobalEnd& near, std::uint32_t groups, std::uint32_t trunking) noexcept {
  return {behind(near.group, near.slot + 1, groups), groups - 2 - near.slot, trunking - 1 - near.slice};
}

// The palm tree with the sign of the LIA paper's text: router j leads to groups i+(hj+1) .. i+(hj+h).
GlobalEnd palmtree_plus(const GlobalEnd& near, std::uint32_t groups, std::uint32_t trunking) noexcept {
  return {ahead(near.group, near.slot + 1, groups), groups - 2 - near.slot, trunking - 1 - near.slice};
}

// Slot s leads to the s-th group when a group does not count itself.
// Source: Kim et al., ISCA 2008, figure 5; named by Hastings et al., CLUSTER 2015.
GlobalEnd absolute(const GlobalEnd& near, std::uint32_t /*groups*/, std::uint32_t /*trunking*/) noexcept {
  const std::uint32_t peer = near.slot < near.group ? near.slot : near.slot + 1;
  return {peer, near.group < peer ? near.group : near.group - 1, near.slice};
}

// Slot s leads s+1 groups ahead. Without trunking this is the wiring of palmtree-plus; with
// trunking the two differ in which slices meet: here equal ones do.
// Source: Hastings et al., "Comparing global link arrangements for Dragonfly networks", CLUSTER 2015.
GlobalEnd relative(const GlobalEnd& near, std::uint32_t groups, std::uint32_t /*trunking*/) noexcept {
  return {ahead(near.group, near.slot + 1, groups), groups - 2 - near.slot, near.slice};
}

// Slots lead 1 ahead, 1 back, 2 ahead, 2 back, ... With an even number of groups the last slot leads half-way
// round, where ahead and back are the same, and meets its own number.
// Source: Hastings et al., CLUSTER 2015 ("circulant-based").
GlobalEnd circulant(const GlobalEnd& near, std::uint32_t groups, std::uint32_t /*trunking*/) noexcept {
  const std::uint32_t distance = near.slot / 2 + 1;
  if (distance * 2 == groups) return {ahead(near.group, distance, groups), near.slot, near.slice};
  const bool is_ahead = near.slot % 2 == 0;
  return {is_ahead ? ahead(near.group, distance, groups) : behind(near.group, distance, groups),
          is_ahead ? near.slot + 1 : near.slot - 1, near.slice};
}

}  // namespace

Arrangement parse_arrangement(std::string_view name) {
  std::string allowed = "must be one of";
  for (const NamedArrangement& entry : kArrangements) {
    if (entry.name == name) return entry.arrangement;
    allowed.append(1, ' ').append(entry.name);
  }
  throw ConfigError{"arrangement", std::string{name}, allowed};
}

std::vector<std::string> arrangement_names() {
  std::vector<std::string> names;
  for (const NamedArrangement& entry : kArrangements) names.emplace_back(entry.name);
  return names;
}

std::uint32_t bundle_of(Arrangement arrangement) noexcept { return arrangement == Arrangement::kXc ? 2 : 1; }

LinkPlacement link_placement(Arrangement arrangement) noexcept {
  if (arrangement == Arrangement::kXc) return LinkPlacement::kTurns;
  return arrangement == Arrangement::kSpread ? LinkPlacement::kBlocks : LinkPlacement::kPositions;
}

GlobalEnd far_end(Arrangement arrangement, const GlobalEnd& near, std::uint32_t groups,
                  std::uint32_t trunking) noexcept {
  assert(groups >= 2 && near.group < groups && near.slot < groups - 1 && near.slice < trunking);
  switch (arrangement) {
    case Arrangement::kPalmtree:
    case Arrangement::kSpread:
      return palmtree(near, groups, trunking);
    case Arrangement::kPalmtreePlus:
      return palmtree_plus(near, groups, trunking);
    case Arrangement::kAbsolute:
      return absolute(near, groups, trunking);
    case Arrangement::kRelative:
      return relative(near, groups, trunking);
    case Arrangement::kCirculant:
      return circulant(near, groups, trunking);
    case Arrangement::kXc:  // wiring of Cray XC machines: peers without oneself, equal slices meet
      return absolute(near, groups, trunking);
  }
  assert(false && "an arrangement without a rule");
  return near;
}

}  // namespace dragonfly
