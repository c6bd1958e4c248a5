// The ports from which a packet can still arrive in time, as bits, where there is one shortest path between
// any two routers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "topology/dragonfly.hpp"

namespace dragonfly {

// Bit i means port p + i, as actions do.
class PortMasks {
 public:
  [[nodiscard]] static bool work_on(const Dragonfly& topology) noexcept {
    return topology.has_single_paths() && topology.num_network_ports() <= 64 && !topology.changes();
  }

  // Precondition: works_on(topology), which must outlive the masks.
  explicit PortMasks(const Dragonfly& topology) : topology_{topology} {
    for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
      std::uint64_t there = 0;
      for (Port port = topology.first_local_port(); port < topology.radix(); ++port) {
        const Endpoint far = topology.neighbor(router, port);
        const bool connected = far.port != kNoPort;
        if (connected) there |= bit_of(port);
        if (!topology.is_global(port)) continue;
        behind_.push_back(connected ? Behind{far.router, topology.group_of(far.router)} : Behind{});
      }
      connected_.push_back(there);
    }
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return connected_.size() * sizeof(std::uint64_t) + behind_.size() * sizeof(Behind);
  }
  [[nodiscard]] std::uint64_t bit_of(Port port) const noexcept {
    return std::uint64_t{1} << (port - topology_.first_local_port());
  }

  // The ports of `router`, in group `from`, behind which `target`, another router, in group `to`, is at most
  // `left` hops away. By case, because most cases have the same result for all local ports.
  [[nodiscard]] std::uint64_t within(std::uint32_t router, std::uint32_t from, std::uint32_t target,
                                     std::uint32_t to, std::uint32_t left) const noexcept {
    const std::uint64_t connected = connected_[router];
    if (left >= topology_.diameter()) return connected;
    const std::uint64_t local = (std::uint64_t{1} << topology_.num_local_ports()) - 1U;
    if (from == to) {  // a path through another group comes back by the same link, then goes on inside
      if (left == 0) return bit_of(topology_.only_port(router, from, target, to));
      return left == 1 ? local : connected;
    }
    const std::uint32_t gateway = topology_.links_between(from, to).front().router;
    const std::uint32_t rest = topology_.links_between(to, from).front().router == target ? 1U : 2U;
    std::uint64_t mask = left > rest ? local : 0U;
    if (left == rest && gateway != router) mask = bit_of(topology_.only_port(router, from, target, to));
    const Behind* behind = &behind_[std::size_t{router} * topology_.h()];
    std::uint64_t bit = local + 1U;
    for (std::uint32_t i = 0; i < topology_.h(); ++i, ++behind, bit <<= 1U) {
      if ((connected & bit) != 0 && hops(*behind, target, to) <= left) mask |= bit;
    }
    return mask;
  }

 private:
  // The router at the far end of a global link.
  struct Behind {
    std::uint32_t router = 0;
    std::uint32_t group = 0;
  };
  [[nodiscard]] std::uint32_t hops(const Behind& from, std::uint32_t target,
                                   std::uint32_t to) const noexcept {
    if (from.group == to) return from.router == target ? 0U : 1U;
    return 1U + (topology_.links_between(from.group, to).front().router != from.router ? 1U : 0U) +
           (topology_.links_between(to, from.group).front().router != target ? 1U : 0U);
  }

  const Dragonfly& topology_;
  std::vector<Behind> behind_;            // [router * h + global port]
  std::vector<std::uint64_t> connected_;  // [router]
};

// Flags, 0 or 1, of the first `count` bits.
inline void spread_bits(std::uint64_t bits, std::uint32_t count, std::uint8_t* flags) noexcept {
  std::uint32_t i = 0;
  for (; i + 8 <= count; i += 8, bits >>= 8U) {
    // Eight copies, of which each byte keeps another bit; then whether any is left.
    const std::uint64_t kept = (bits & 0xffU) * 0x0101010101010101U & 0x8040201008040201U;
    std::uint64_t eight = (kept + 0x7f7f7f7f7f7f7f7fU) >> 7U & 0x0101010101010101U;
    if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
    std::memcpy(flags + i, &eight, sizeof(eight));
  }
  for (; i < count; ++i, bits >>= 1U) flags[i] = static_cast<std::uint8_t>(bits & 1U);
}

}  // namespace dragonfly
