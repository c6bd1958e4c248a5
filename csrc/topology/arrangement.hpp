// Global-link arrangements: which port position of a group leads to which position of which group.
//
// The a*h positions of a group are cut into `trunking` slices of a*h/trunking slots. Slot s of every
// slice leads to the same peer group, so each pair of groups gets exactly `trunking` links. Only the
// slots s < g-1 are connected: fewer groups than the maximum leave the rest unused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragonfly {

//
// `xc` deals its links to the routers of a group in turn instead (a router each, round and round), in the
// order of its peers, a port being a bundle of two links. `spread` is the palm tree with its links cut into
// blocks of equal length (or one link more), a block per router: no router stays without links while
// another router has two.
enum class Arrangement : std::uint8_t {
  kPalmtree,
  kPalmtreePlus,
  kAbsolute,
  kRelative,
  kCirculant,
  kXc,
  kSpread
};

[[nodiscard]] Arrangement parse_arrangement(std::string_view name);  // throws ConfigError
[[nodiscard]] std::vector<std::string> arrangement_names();

// Parallel links of a global port.
[[nodiscard]] std::uint32_t bundle_of(Arrangement arrangement) noexcept;
// The port of a link among the global ports of a group.
enum class LinkPlacement : std::uint8_t {
  kPositions,  // position slice * slots + slot
  kTurns,      // the first port of each router in turn, then the second, ...
  kBlocks      // the first ports of a router, then those of the next router
};
[[nodiscard]] LinkPlacement link_placement(Arrangement arrangement) noexcept;

// An end of a global link.
struct GlobalEnd {
  std::uint32_t group;
  std::uint32_t slot;   // 0 <= slot < groups - 1
  std::uint32_t slice;  // 0 <= slice < trunking
  bool operator==(const GlobalEnd&) const = default;
};

// The other end of the link at `near`; far_end(far_end(x)) == x and the groups differ.
// Preconditions: 2 <= groups < 2^31 and `near` within its ranges.
[[nodiscard]] GlobalEnd far_end(Arrangement arrangement, const GlobalEnd& near, std::uint32_t groups,
                                std::uint32_t trunking) noexcept;

}  // namespace dragonfly
