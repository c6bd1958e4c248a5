#include "topology/local_paths.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace dragonfly {

namespace {

constexpr std::uint8_t kUnreached = 0xff;

}  // namespace

LocalHops longest_of(const LocalHops& some, const LocalHops& others) noexcept {
  return {.out = std::max(some.out, others.out),
          .in = std::max(some.in, others.in),
          .through = std::max(some.through, others.through),
          .inside = std::max(some.inside, others.inside),
          .any = std::max(some.any, others.any),
          .vcs = std::max(some.vcs, others.vcs),
          .relays = some.relays || others.relays};
}

LocalPaths::LocalPaths(const GroupShape& shape, const GroupDamage& damage)
    : routers_{shape.routers()}, ports_{shape.ports()} {
  ends_.reserve(static_cast<std::size_t>(routers_) * ports_);
  for (std::uint32_t index = 0; index < routers_; ++index) {
    for (std::uint32_t slot = 0; slot < ports_; ++slot) ends_.push_back(shape.across({index, slot}));
  }
  std::vector<bool> dead(routers_);
  for (const std::uint32_t index : damage.routers) dead[index] = true;
  for (const auto& [index, slot] : damage.links) ends_[index * ports_ + slot] = {index, kNoSlot};
  for (std::uint32_t index = 0; index < routers_; ++index) {
    for (std::uint32_t slot = 0; slot < ports_; ++slot) {
      LocalEnd& end = ends_[index * ports_ + slot];
      if (end.slot != kNoSlot && (dead[index] || dead[end.index])) end = {index, kNoSlot};
    }
  }

  hops_.assign(static_cast<std::size_t>(routers_) * routers_, kUnreached);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t to = 0; to < routers_; ++to) {  // breadth first; links lead in both directions
    const auto far = [&](std::uint32_t from) -> std::uint8_t& {
      return hops_[static_cast<std::size_t>(from) * routers_ + to];
    };
    far(to) = 0;
    reached.assign(1, to);
    for (std::size_t at = 0; at < reached.size(); ++at) {
      const std::uint32_t here = reached[at];
      for (std::uint32_t slot = 0; slot < ports_; ++slot) {
        const auto [next, far_slot] = across({here, slot});
        if (far_slot == kNoSlot) continue;
        if (far(next) != kUnreached) continue;
        far(next) = static_cast<std::uint8_t>(far(here) + 1);
        reached.push_back(next);
      }
    }
    if (reached.size() < routers_ && damage.none()) {
      throw ConfigError{"group", std::to_string(routers_) + " routers",
                        "a shape whose routers can reach each other"};
    }
    for (std::uint32_t from = 0; from < routers_ && !cut_off_ && !dead[to]; ++from) {
      if (far(from) == kUnreached && !dead[from]) cut_off_ = {to, from};
    }
  }
  const std::uint32_t hosts = shape.host_routers();
  const std::uint32_t global = shape.first_global_router();
  for (std::uint32_t from = 0; from < routers_; ++from) {
    for (std::uint32_t to = 0; to < routers_; ++to) {
      const std::uint32_t apart = hops(from, to);
      if (apart == kUnreached) continue;
      longest_.any = std::max(longest_.any, apart);
      if (from < hosts && to < hosts) longest_.inside = std::max(longest_.inside, apart);
      if (from < hosts && to >= global) longest_.out = std::max(longest_.out, apart);
      if (from >= global && to < hosts) longest_.in = std::max(longest_.in, apart);
      if (from >= global && to >= global) longest_.through = std::max(longest_.through, apart);
    }
  }
  longest_.vcs = shape.needs_one_vc() ? 1 : longest_.any;

  first_.reserve(hops_.size() + 1);
  for (std::uint32_t from = 0; from < routers_; ++from) {
    for (std::uint32_t to = 0; to < routers_; ++to) {
      first_.push_back(static_cast<std::uint32_t>(slots_.size()));
      for (std::uint32_t slot = 0; slot < ports_ && from != to; ++slot) {
        const auto [next, far_slot] = across({from, slot});
        if (far_slot != kNoSlot && hops(from, to) != kUnreached && hops(next, to) + 1 == hops(from, to)) {
          slots_.push_back(static_cast<std::uint16_t>(slot));
        }
      }
      are_single_ = are_single_ && slots_.size() - first_.back() <= 1;
    }
  }
  first_.push_back(static_cast<std::uint32_t>(slots_.size()));
}

}  // namespace dragonfly
