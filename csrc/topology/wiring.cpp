#include "topology/wiring.hpp"

#include <algorithm>

namespace dragonfly {

Wiring::Wiring(const DragonflyParams& params)
    : Numbering{params},
      paths_{params_.shape != nullptr ? std::make_unique<const LocalPaths>(*params_.shape) : nullptr} {
  if (paths_ != nullptr) longest_local_ = paths_->longest();
  connect_groups();
  list_ports_out();
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
        const std::size_t link = (static_cast<std::size_t>(group) * g + far.group) * trunking + slice;
        global_links_[static_cast<std::size_t>(here.router) * params_.h + here.port - first_global_port()] =
            there;
        gateways_[link] = here;
        if (with_far_routers) far_routers_[link] = there.router;
      }
    }
  }
}

// A lookup takes half the time of the computation.
void Wiring::list_ports_out() {
  if (!has_meshes() || params_.trunking != 1) return;
  const std::uint32_t g = params_.g;
  ports_out_.resize(static_cast<std::size_t>(num_routers()) * g, kNoPort);
  for (std::uint32_t router = 0; router < num_routers(); ++router) {
    const std::uint32_t from = group_of(router);
    for (std::uint32_t to = 0; to < g; ++to) {
      if (to == from) continue;
      ports_out_[static_cast<std::size_t>(router) * g + to] =
          port_towards(links_between(from, to).front(), router, from);
    }
  }
}

}  // namespace dragonfly
