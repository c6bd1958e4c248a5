#include "topology/wiring.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/error.hpp"

namespace dragonfly {

namespace {

[[noreturn]] void throw_unreachable(const std::string& kind, std::uint32_t from, std::uint32_t to,
                                    const std::string& reason) {
  throw ConfigError{"failed", kind + " " + std::to_string(from) + " and " + std::to_string(to),
                    "cannot reach each other: " + reason + "; let fewer links fail, or take another seed"};
}

}  // namespace

Wiring::Wiring(const DragonflyParams& params) : Numbering{params}, is_damaged_{!params_.damage.none()} {
  count_listed_links();
  if (!params_.damage.routers.empty()) {
    dead_routers_.resize(num_routers());
    for (const std::uint32_t router : params_.damage.routers) dead_routers_[router] = 1;
    for (std::uint32_t group = 0; group < params_.g; ++group) {
      live_routers_.push_back(0);
      live_host_routers_.push_back(0);
      for (std::uint32_t router = first_router(group); router < first_router(group + 1); ++router) {
        live_routers_.back() += is_alive(router) ? 1U : 0U;
        live_host_routers_.back() += is_alive(router) && has_hosts(router) ? 1U : 0U;
      }
    }
  }
  find_local_paths();
  if (params_.listed.empty()) {
    connect_groups();
  } else {
    connect_listed_groups();
  }
  if (is_damaged()) {
    cut_dead_links();
    list_relays();
  }
  list_ports_out();
}

// Each damaged group has tables of its own, the others share those of a whole group.
void Wiring::find_local_paths() {
  std::shared_ptr<const GroupShape> shape = params_.shape;
  if (shape == nullptr && is_damaged()) {
    shape = make_group_shape("all-to-all", {{"routers", static_cast<double>(params_.a)}});
  }
  if (shape == nullptr) return;
  paths_.push_back(std::make_shared<const LocalPaths>(*shape));
  paths_of_group_.assign(params_.g, paths_.front().get());
  const LocalHops& whole = paths_.front()->longest();
  longest_local_ = whole;
  std::map<std::uint32_t, GroupDamage> damages;
  for (const std::uint32_t router : params_.damage.routers) {
    damages[group_of(router)].routers.push_back(local_index_of(router));
  }
  for (const Endpoint& link : params_.damage.links) {
    if (is_global(link.port)) continue;
    const LocalEnd near{local_index_of(link.router), link.port - params_.p};
    const LocalEnd far = paths_.front()->across(near);
    if (far.slot == kNoSlot) continue;
    auto& links = damages[group_of(link.router)].links;
    links.push_back(near);
    links.push_back(far);
  }
  for (const auto& [group, damage] : damages) {
    paths_.push_back(std::make_shared<const LocalPaths>(*shape, damage));
    paths_of_group_[group] = paths_.back().get();
    longest_local_ = longest_of(longest_local_, paths_.back()->longest());
    if (const auto& pair = paths_.back()->cut_off()) {
      throw_unreachable("routers", router_at(group, pair->first), router_at(group, pair->second),
                        "no local links are left between them");
    }
  }
  // The argument by which the hops of a path may share a VC (leaf_spine.cpp) holds for whole groups alone.
  if (shape->needs_one_vc() && longest_local_ != whole) {
    throw ConfigError{
        "failed", "a path of " + std::to_string(longest_local_.any) + " hops in a group",
        "must be no longer than in a whole group of leaves and spines; let no local links fail"};
  }
}

// Leaves links out of the tables of connect_groups().
void Wiring::cut_dead_links() {
  const auto cut = [this](const Endpoint& near) {
    const Endpoint far = global_link(near);
    if (far.port == kNoPort) return;
    global_link(near) = {};
    global_link(far) = {};
  };
  for (const Endpoint& link : params_.damage.links) {
    if (is_global(link.port)) cut(link);
  }
  for (const std::uint32_t router : params_.damage.routers) {
    for (Port port = first_global_port(); port < radix(); ++port) cut({router, port});
  }
  std::vector<std::uint32_t> first;
  std::uint32_t kept = 0;
  for (std::uint32_t from = 0; from < params_.g; ++from) {
    for (std::uint32_t to = 0; to < params_.g; ++to) {
      first.push_back(kept);
      for (const Endpoint& near : links_between(from, to)) {
        const Endpoint far = global_link(near);
        if (far.port == kNoPort) continue;
        gateways_[kept] = near;
        far_routers_[kept] = far.router;
        ++kept;
      }
    }
  }
  first.push_back(kept);
  gateways_.resize(kept);
  far_routers_.resize(kept);
  first_gateway_ = std::move(first);
}

void Wiring::list_relays() {
  const std::uint32_t g = params_.g;
  std::vector<std::uint32_t> first;
  for (std::uint32_t from = 0; from < g; ++from) {
    for (std::uint32_t to = 0; to < g; ++to) {
      first.push_back(static_cast<std::uint32_t>(relay_links_.size()));
      if (from == to || are_linked(from, to) || !group_is_alive(from) || !group_is_alive(to)) continue;
      for (std::uint32_t relay = 0; relay < g; ++relay) {
        if (!are_linked(from, relay) || !are_linked(relay, to)) continue;
        for (const Endpoint& near : links_between(from, relay)) {
          relay_links_.push_back({near.router, near.port, global_link(near).router, relay});
        }
      }
      if (relay_links_.size() == first.back()) {
        if (!params_.listed.empty() && params_.damage.none()) {
          throw ConfigError{"wiring", "groups " + std::to_string(from) + " and " + std::to_string(to),
                            "must have a link, or a third group with links to both"};
        }
        throw_unreachable("groups", from, to, "no link joins them, and no group has links to both");
      }
    }
  }
  if (relay_links_.empty()) return;
  first.push_back(static_cast<std::uint32_t>(relay_links_.size()));
  first_relay_ = std::move(first);
  longest_local_.relays = true;
}

void Wiring::connect_groups() {
  const std::uint32_t g = params_.g;
  const std::uint32_t trunking = params_.trunking;
  const std::uint32_t routers = global_routers();
  const std::uint32_t slots = global_positions() / trunking;
  const std::size_t pairs = static_cast<std::size_t>(g) * g * trunking;
  const bool with_far_routers = trunking > 1 || !has_meshes();
  global_links_.resize(static_cast<std::size_t>(num_routers()) * params_.h);
  gateways_.resize(pairs);
  if (with_far_routers) far_routers_.resize(pairs, Id<void>::kNoneValue);

  const LinkPlacement placement = link_placement(params_.arrangement);
  const std::uint64_t links = static_cast<std::uint64_t>(g - 1) * trunking;
  const auto endpoint = [&](const GlobalEnd& end) {
    if (placement == LinkPlacement::kBlocks) {  // router b has the links from ceil(b * links / routers) on
      const std::uint64_t link = static_cast<std::uint64_t>(end.slice) * (g - 1) + end.slot;
      const std::uint64_t block = link * routers / links;
      const std::uint64_t first = (block * links + routers - 1) / routers;
      return Endpoint{router_at(end.group, first_global_router() + static_cast<std::uint32_t>(block)),
                      static_cast<Port>(first_global_port() + (link - first))};
    }
    if (placement == LinkPlacement::kTurns) {
      const std::uint32_t turn = end.slot * trunking + end.slice;
      const std::uint32_t next = turn % routers;
      const std::uint32_t index =
          first_global_router() + (params_.shape != nullptr ? params_.shape->dealt(next) : next);
      return Endpoint{router_at(end.group, index), static_cast<Port>(first_global_port() + turn / routers)};
    }
    return global_port_at(end.group, end.slice * slots + end.slot);
  };
  for (std::uint32_t group = 0; group < g; ++group) {
    for (std::uint32_t slice = 0; slice < trunking; ++slice) {
      for (std::uint32_t slot = 0; slot + 1 < g; ++slot) {
        const GlobalEnd near{group, slot, slice};
        const GlobalEnd far = far_end(params_.arrangement, near, g, trunking);
        const Endpoint here = endpoint(near);
        const Endpoint there = endpoint(far);
        const std::size_t link = first_link(group, far.group) + slice;
        global_link(here) = there;
        gateways_[link] = here;
        if (with_far_routers) far_routers_[link] = there.router;
      }
    }
  }
}

// Sets the most links of a pair of groups, and whether all pairs have so many.
void Wiring::count_listed_links() {
  if (params_.listed.empty()) return;
  std::vector<std::uint32_t> links(static_cast<std::size_t>(params_.g) * params_.g);
  for (const auto& [near, far] : params_.listed) {
    ++links[pair_of(near.group, far.group)];
    ++links[pair_of(far.group, near.group)];
  }
  params_.trunking = *std::ranges::max_element(links);
  for (std::uint32_t from = 0; from < params_.g; ++from) {
    for (std::uint32_t to = 0; to < params_.g; ++to) {
      if (from != to && links[pair_of(from, to)] != params_.trunking) is_damaged_ = true;
    }
  }
}

// The links of a pair are in the order of their near ports, as the slices of an arrangement are.
void Wiring::connect_listed_groups() {
  global_links_.resize(static_cast<std::size_t>(num_routers()) * params_.h);
  const auto port_of = [this](const ListedLink::End& end) {
    return Endpoint{router_at(end.group, end.index), static_cast<Port>(first_global_port() + end.place)};
  };
  for (const auto& [near, far] : params_.listed) {
    global_link(port_of(near)) = port_of(far);
    global_link(port_of(far)) = port_of(near);
  }
  const std::uint32_t g = params_.g;
  std::vector<std::vector<Endpoint>> near_ends(g);
  for (std::uint32_t from = 0; from < g; ++from) {
    for (auto& ends : near_ends) ends.clear();
    for (std::uint32_t position = 0; position < global_positions(); ++position) {
      const Endpoint near = global_port_at(from, position);
      const Endpoint far = global_link(near);
      if (far.port != kNoPort) near_ends[group_of(far.router)].push_back(near);
    }
    if (!is_damaged()) near_ends[from].resize(params_.trunking);  // never read
    for (const auto& ends : near_ends) {
      if (is_damaged()) first_gateway_.push_back(static_cast<std::uint32_t>(gateways_.size()));
      gateways_.insert(gateways_.end(), ends.begin(), ends.end());
    }
  }
  if (is_damaged()) first_gateway_.push_back(static_cast<std::uint32_t>(gateways_.size()));
  if (params_.trunking == 1 && has_meshes()) return;
  for (const Endpoint& near : gateways_) {
    far_routers_.push_back(near.port == kNoPort ? Id<void>::kNoneValue : global_link(near).router);
  }
}

// A lookup takes half the time of the computation.
void Wiring::list_ports_out() {
  const bool meshes =
      params_.shape == nullptr &&
      std::ranges::none_of(params_.damage.links, [this](auto& link) { return !is_global(link.port); });
  if (!meshes || params_.trunking != 1) return;
  const std::uint32_t g = params_.g;
  ports_out_.resize(static_cast<std::size_t>(num_routers()) * g, kNoPort);
  for (std::uint32_t router = 0; router < num_routers(); ++router) {
    const std::uint32_t from = group_of(router);
    for (std::uint32_t to = 0; to < g; ++to) {
      if (to == from || !are_linked(from, to)) continue;
      ports_out_[static_cast<std::size_t>(router) * g + to] =
          port_towards(links_between(from, to).front(), router, from);
    }
  }
}

}  // namespace dragonfly
