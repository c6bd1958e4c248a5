// The wiring: groups of routers of some shape, all-to-all between groups.
//
// Groups that are full meshes, the canonical Dragonfly, take no tables: their ports are arithmetic, here; all
// other shapes, and all damaged machines, read those of local_paths.hpp.
//
// A list of links may join each pair of groups by a number of its own; if all these numbers are equal, the
// list is an arrangement like others. Dead links leave pairs of groups with fewer links, or with none.
// Packets between two groups without a link pass a relay: a group with links to both. The links to relays are
// a table, made once.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "topology/local_paths.hpp"
#include "topology/numbering.hpp"

namespace dragonfly {

// A link to a relay, by which a router may leave its group for another that no link leads to.
struct RelayLink {
  std::uint32_t router = 0;  // near end
  Port port = kNoPort;
  std::uint32_t far_router = 0;
  std::uint32_t group = 0;  // the relay
};

class Wiring : public Numbering {
 public:
  // Whether links or routers are dead, or some pairs of groups have other numbers of links than others.
  [[nodiscard]] bool is_damaged() const noexcept { return is_damaged_; }
  [[nodiscard]] bool is_alive(std::uint32_t router) const noexcept {
    return dead_routers_.empty() || dead_routers_[router] == 0;
  }
  [[nodiscard]] bool host_is_alive(std::uint32_t host) const noexcept {
    return is_alive(router_of_host(host));
  }
  [[nodiscard]] std::uint32_t num_dead_routers() const noexcept {
    return static_cast<std::uint32_t>(params_.damage.routers.size());
  }
  // Whether a link leads from one group to the other.
  [[nodiscard]] bool are_linked(std::uint32_t from, std::uint32_t to) const noexcept {
    return num_links_between(from, to) > 0;
  }
  // Whether the links change while a run goes on (Dragonfly::with_changes).
  [[nodiscard]] bool changes() const noexcept { return changes_; }
  // Links between two groups, or a relay.
  [[nodiscard]] std::uint32_t capacity_between(std::uint32_t from, std::uint32_t to) const noexcept {
    return std::max(1U, static_cast<std::uint32_t>(num_links_between(from, to)));
  }
  // Whether packets between the groups pass a relay.
  [[nodiscard]] bool is_relayed(std::uint32_t from, std::uint32_t to) const noexcept {
    return longest_local_.relays && from != to && !are_linked(from, to);
  }
  // Whether a packet in group `from` may pass the group `by` on its way to group `to`, which may be `from` or
  // `by` itself.
  [[nodiscard]] bool leads_by(std::uint32_t from, std::uint32_t by, std::uint32_t to) const noexcept {
    return !is_damaged() || (are_linked(from, by) && (by == to || are_linked(by, to)));
  }
  // The links by which a packet may leave `from` for a relay to `to`. Precondition: is_relayed().
  [[nodiscard]] std::span<const RelayLink> relay_links(std::uint32_t from, std::uint32_t to) const noexcept {
    const std::size_t pair = pair_of(from, to);
    return {relay_links_.data() + first_relay_[pair], first_relay_[pair + 1] - first_relay_[pair]};
  }
  // Live routers with hosts in the group.
  [[nodiscard]] std::uint32_t live_host_routers(std::uint32_t group) const noexcept {
    return dead_routers_.empty() ? host_routers() : live_host_routers_[group];
  }
  // Whether a router of the group is alive. All live groups reach each other, by a link or a relay.
  [[nodiscard]] bool group_is_alive(std::uint32_t group) const noexcept {
    return dead_routers_.empty() || live_routers_[group] > 0;
  }

  // Hops of the longest shortest paths inside a group, and of those between any two of its routers.
  [[nodiscard]] const LocalHops& longest_local() const noexcept { return longest_local_; }
  [[nodiscard]] std::uint32_t local_path_hops() const noexcept { return longest_local_.any; }
  // Hops of the longest shortest path between any two routers with at most one global link, or two where a
  // relay lies between.
  [[nodiscard]] std::uint32_t diameter() const noexcept {
    return longest_local_.relays ? 3 * local_path_hops() + 2 : 2 * local_path_hops() + 1;
  }
  // Whether any two routers of a group are joined by one link, and nothing is dead.
  [[nodiscard]] bool has_meshes() const noexcept { return paths_of_group_.empty(); }
  // Whether one link joins any two live routers of a group, and at most one link two groups: then one
  // shortest path leads to each router of a group that a link joins.
  [[nodiscard]] bool has_single_links() const noexcept { return !ports_out_.empty(); }

  // The port of `router` that leads to another router of its group. Precondition: has_meshes().
  [[nodiscard]] Port local_port(std::uint32_t from_index, std::uint32_t to_index) const noexcept {
    return static_cast<Port>(params_.p + to_index - (to_index > from_index ? 1U : 0U));
  }

  // The far end of a local or global port; {none, kNoPort} where no link is connected.
  // Precondition: p <= port < radix (host ports have no router behind them).
  [[nodiscard]] Endpoint neighbor(std::uint32_t router, Port port) const noexcept {
    assert(port >= first_local_port() && port < radix());
    if (port >= first_global_port()) return far_end_of(router, port);
    const std::uint32_t first = group_of(router) * params_.a;
    const std::uint32_t own = router - first;
    const std::uint32_t slot = port - params_.p;
    if (!has_meshes()) {
      const LocalEnd far = local_paths(group_of(router)).across({own, slot});
      if (far.slot == kNoSlot) return {};
      return {first + far.index, static_cast<Port>(params_.p + far.slot)};
    }
    const std::uint32_t peer = slot + (slot >= own ? 1U : 0U);
    return {first + peer, local_port(peer, own)};
  }

  // The first port of a router that leads to another router; kNoPort: no link joins them.
  [[nodiscard]] Port port_to(std::uint32_t router, std::uint32_t other) const noexcept {
    for (Port port = first_local_port(); port < radix(); ++port) {
      if (neighbor(router, port).router == other) return port;
    }
    return kNoPort;
  }

  // The group behind a global port, or Id::kNoneValue where no link is connected.
  // Precondition: the port is a global one.
  [[nodiscard]] std::uint32_t group_behind(std::uint32_t router, Port port) const noexcept {
    const Endpoint far = far_end_of(router, port);
    return far.port == kNoPort ? Id<void>::kNoneValue : group_of(far.router);
  }

  // The position q of a global port within its group, 0 <= q < global_positions(). Precondition: the port is
  // a global one, of a router with global links.
  [[nodiscard]] std::uint32_t global_position(std::uint32_t router, Port port) const noexcept {
    return (local_index_of(router) - first_global_router()) * params_.h + (port - first_global_port());
  }
  // The global port at that position of the group.
  [[nodiscard]] Endpoint global_port_at(std::uint32_t group, std::uint32_t position) const noexcept {
    const std::uint32_t index = position / params_.h;
    return {router_at(group, first_global_router() + index),
            static_cast<Port>(first_global_port() + (position - index * params_.h))};
  }

  // The links from group `from` to group `to`: the near ends, in slice order. A group has none to itself.
  [[nodiscard, gnu::always_inline]] inline std::span<const Endpoint> links_between(
      std::uint32_t from, std::uint32_t to) const noexcept {
    return {gateways_.data() + first_link(from, to), num_links_between(from, to)};
  }

  // The ends of links between groups, for many reads in a row where at most one link joins two groups. A copy
  // of what a read needs: the compiler keeps it in registers from read to read.
  class LinkEnds {
   public:
    // The near end of the link from one group to another: links_between(from, to).front().
    [[nodiscard, gnu::always_inline]] inline const Endpoint& operator()(std::uint32_t from,
                                                                        std::uint32_t to) const noexcept {
      const std::size_t pair = static_cast<std::size_t>(from) * groups_ + to;
      return ends_[first_ == nullptr ? pair : first_[pair]];
    }

   private:
    friend class Wiring;
    const Endpoint* ends_ = nullptr;
    const std::uint32_t* first_ = nullptr;  // null: each pair of groups has one link
    std::uint32_t groups_ = 0;
  };
  // Precondition: has_single_links().
  [[nodiscard]] LinkEnds link_ends() const noexcept {
    assert(has_single_links() && (!first_gateway_.empty() || params_.trunking == 1));
    LinkEnds ends;
    ends.ends_ = gateways_.data();
    if (!first_gateway_.empty()) ends.first_ = first_gateway_.data();
    ends.groups_ = params_.g;
    return ends;
  }

 protected:
  explicit Wiring(const DragonflyParams& params);  // throws ConfigError

  // Makes it one of the states of a machine whose links change: the longest local paths of all states count.
  void set_changing(const LocalHops& longest) noexcept {
    changes_ = true;
    longest_local_ = longest_of(longest_local_, longest);
  }

  // Precondition: !has_meshes().
  [[nodiscard]] const LocalPaths& local_paths(std::uint32_t group) const noexcept {
    return *paths_of_group_[group];
  }
  // The local port from one router of `group` to another.
  [[nodiscard]] Port local_port_between(std::uint32_t from, std::uint32_t to,
                                        std::uint32_t group) const noexcept {
    return static_cast<Port>(params_.p + (to - group * params_.a) - (to > from ? 1U : 0U));
  }

  // From `router` of `group` to the near end of a global link of this group, then through it.
  [[nodiscard]] Port port_towards(const Endpoint& near_end, std::uint32_t router,
                                  std::uint32_t group) const noexcept {
    return near_end.router == router ? near_end.port : local_port_between(router, near_end.router, group);
  }

  // The port of a router on the path to any router of another group; kNoPort: no link joins the groups.
  // Precondition: has_single_links().
  [[nodiscard]] Port port_out(std::uint32_t router, std::uint32_t to) const noexcept {
    return ports_out_[static_cast<std::size_t>(router) * params_.g + to];
  }

  // The routers behind the links between two groups, in slice order; not for meshes without trunking.
  [[nodiscard]] std::span<const std::uint32_t> far_routers_between(std::uint32_t from,
                                                                   std::uint32_t to) const noexcept {
    return {far_routers_.data() + first_link(from, to), num_links_between(from, to)};
  }

 private:
  [[nodiscard]] std::size_t pair_of(std::uint32_t from, std::uint32_t to) const noexcept {
    return static_cast<std::size_t>(from) * params_.g + to;
  }
  [[nodiscard]] std::size_t first_link(std::uint32_t from, std::uint32_t to) const noexcept {
    const std::size_t pair = pair_of(from, to);
    return first_gateway_.empty() ? pair * params_.trunking : first_gateway_[pair];
  }
  [[nodiscard]] std::size_t num_links_between(std::uint32_t from, std::uint32_t to) const noexcept {
    if (!first_gateway_.empty()) {
      const std::size_t pair = pair_of(from, to);
      return first_gateway_[pair + 1] - first_gateway_[pair];
    }
    return from == to ? 0 : params_.trunking;
  }
  [[nodiscard]] Endpoint far_end_of(std::uint32_t router, Port global_port) const noexcept {
    assert(global_port >= first_global_port() && global_port < radix());
    return global_links_[static_cast<std::size_t>(router) * params_.h + global_port - first_global_port()];
  }

  void find_local_paths();
  void count_listed_links();
  void connect_groups();
  void connect_listed_groups();
  void cut_dead_links();
  void list_relays();
  void list_ports_out();
  [[nodiscard]] Endpoint& global_link(const Endpoint& near) noexcept {
    return global_links_[static_cast<std::size_t>(near.router) * params_.h + near.port - first_global_port()];
  }

  bool is_damaged_ = false;
  bool changes_ = false;
  LocalHops longest_local_;
  std::vector<std::shared_ptr<const LocalPaths>> paths_;  // whole groups first
  std::vector<const LocalPaths*> paths_of_group_;         // [group]; empty: meshes
  std::vector<Endpoint> global_links_;                    // [router * h + j]: far end
  std::vector<Endpoint> gateways_;            // [first_link(from, to) + k]: near end, in the order of slices
  std::vector<Port> ports_out_;               // [router * g + to]: port_out(); empty: not has_single_links()
  std::vector<std::uint32_t> far_routers_;    // [as gateways_]: far router; empty for meshes without trunking
  std::vector<std::uint32_t> first_gateway_;  // [from * g + to], and the end; empty: `trunking` links each
  std::vector<std::uint8_t> dead_routers_;    // [router]: 1 if dead; empty: none is
  std::vector<std::uint32_t> live_routers_;   // [group]; empty: no router is dead
  std::vector<std::uint32_t> live_host_routers_;  // [group]; empty: no router is dead
  std::vector<std::uint32_t> first_relay_;        // [from * g + to], and the end; empty: no relays
  std::vector<RelayLink> relay_links_;
};

}  // namespace dragonfly
