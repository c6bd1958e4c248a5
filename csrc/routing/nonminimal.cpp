#include "routing/nonminimal.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

// Whether a path from the present group may pass this other group.
bool may_pass(const RouteContext& context, std::uint32_t group) noexcept {
  const Dragonfly& topology = context.topology();
  return topology.leads_by(context.group(), group, context.packet().destination_group) &&
         topology.live_host_routers(group) > 0;
}

// The group behind the router's own global link j, if a non-minimal path may lead there.
std::uint32_t usable_link(const RouteContext& context, std::uint32_t j, bool avoid_destination) noexcept {
  const Dragonfly& topology = context.topology();
  const std::uint32_t group =
      topology.group_behind(context.router(), static_cast<Port>(topology.first_global_port() + j));
  const bool wanted = group != Id<void>::kNoneValue &&
                      !(avoid_destination && group == context.packet().destination_group) &&
                      may_pass(context, group);
  return wanted ? group : Id<void>::kNoneValue;
}

std::uint32_t usable_links(const RouteContext& context, bool avoid_destination) noexcept {
  const std::uint32_t h = context.topology().h();
  std::uint32_t count = 0;
  for (std::uint32_t j = 0; j < h; ++j) {
    count += usable_link(context, j, avoid_destination) != Id<void>::kNoneValue ? 1 : 0;
  }
  return count;
}

// Whether each global link leads to a group of its own: then the router's links lead to all other groups.
bool has_all_links(const Dragonfly& topology) noexcept {
  return topology.trunking() == 1 && topology.num_groups() == topology.global_positions() + 1 &&
         !topology.is_damaged();
}

// The lowest group that a non-minimal path may pass.
std::uint16_t first_group(const RouteContext& context, bool avoid_destination) noexcept {
  for (std::uint32_t group = 0; group < context.topology().num_groups(); ++group) {
    const bool avoided = avoid_destination && group == context.packet().destination_group;
    if (group != context.group() && !avoided && may_pass(context, group))
      return static_cast<std::uint16_t>(group);
  }
  return kNoGroup;
}

// Draws like draw_own_link(), without reading every link, where all links are alike.
std::uint16_t draw_any_own_link(const RouteContext& context, RandomStream& random, bool avoid_destination) {
  const Dragonfly& topology = context.topology();
  std::uint32_t left_out = topology.h();  // by that link the router reaches the destination
  if (avoid_destination && context.packet().destination_group != context.group()) {
    const Endpoint link = topology.links_between(context.group(), context.packet().destination_group).front();
    if (link.router == context.router()) left_out = link.port - topology.first_global_port();
  }
  const std::uint32_t count = topology.h() - (left_out < topology.h() ? 1 : 0);
  if (count == 0) return kNoGroup;
  std::uint32_t j = random.below(count);
  if (j >= left_out) ++j;
  return static_cast<std::uint16_t>(
      topology.group_behind(context.router(), static_cast<Port>(topology.first_global_port() + j)));
}

// The routers of the present group that no path inside it visits: this router, and the destination.
class Excluded {
 public:
  explicit Excluded(const RouteContext& context) noexcept {
    const Dragonfly& topology = context.topology();
    const std::uint32_t own = context.router();
    const std::uint32_t destination = context.packet().destination_router;
    const bool ends_here = context.packet().destination_group == context.group() && destination != own;
    low_ = ends_here ? std::min(own, destination) : own;
    high_ = ends_here ? std::max(own, destination) : own;
    if (!topology.has_hosts(own)) low_ = high_ = ends_here ? destination : kNil;
    count_ = low_ == kNil ? 0 : low_ == high_ ? 1 : 2;
  }

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  // The router in the place of `router` if those that are excluded are left out.
  [[nodiscard]] std::uint32_t skipped(std::uint32_t router) const noexcept {
    if (count_ > 0 && router >= low_) ++router;
    if (count_ > 1 && router >= high_) ++router;
    return router;
  }

 private:
  std::uint32_t low_;
  std::uint32_t high_;
  std::uint32_t count_;
};

}  // namespace

std::uint16_t detail::draw_group_around_damage(const RouteContext& context, RandomStream& random,
                                               bool avoid_destination) {
  constexpr int kMostDraws = 64;  // few groups cannot be passed, if any can
  for (int i = 0; i < kMostDraws; ++i) {
    const std::uint16_t group = draw_any_group(context, random, avoid_destination);
    if (group == kNoGroup || may_pass(context, group)) return group;
  }
  return first_group(context, avoid_destination);
}

std::uint32_t detail::draw_live_router(const Dragonfly& topology, std::uint32_t group, RandomStream& random) {
  std::uint32_t pick = random.below(topology.live_host_routers(group));
  std::uint32_t router = topology.first_router(group);
  while (!topology.is_alive(router) || pick-- != 0) ++router;
  return router;
}

std::uint16_t detail::draw_own_link(const RouteContext& context, RandomStream& random,
                                    bool avoid_destination) {
  if (has_all_links(context.topology())) return draw_any_own_link(context, random, avoid_destination);
  const std::uint32_t count = usable_links(context, avoid_destination);
  if (count == 0) return kNoGroup;
  std::uint32_t pick = random.below(count);
  for (std::uint32_t j = 0; j < context.topology().h(); ++j) {
    const std::uint32_t group = usable_link(context, j, avoid_destination);
    if (group != Id<void>::kNoneValue && pick-- == 0) return static_cast<std::uint16_t>(group);
  }
  return kNoGroup;
}

std::uint32_t detail::draw_own_router(const RouteContext& context, RandomStream& random) {
  const Dragonfly& topology = context.topology();
  const Excluded excluded{context};
  const std::uint32_t routers = topology.live_host_routers(context.group());
  if (routers <= excluded.count()) return kNil;
  std::uint32_t pick = random.below(routers - excluded.count());
  std::uint32_t index = 0;
  const auto router = [&] { return excluded.skipped(topology.router_at(context.group(), index)); };
  if (routers == topology.host_routers()) {
    index = pick;
    return router();
  }
  while (!topology.is_alive(router()) || pick-- != 0) ++index;
  return router();
}

bool has_nonminimal(const RouteContext& context, NonMinimalKind kind, bool avoid_destination_group,
                    OwnGroup own_group) noexcept {
  if (!may_take(kind, context.packet(), context.group(), own_group)) return false;
  switch (kind) {
    case NonMinimalKind::kL:
      return context.topology().live_host_routers(context.group()) > Excluded{context}.count();
    case NonMinimalKind::kGl:
    case NonMinimalKind::kG:
      return usable_links(context, avoid_destination_group) > 0;
    case NonMinimalKind::kLgl:
    case NonMinimalKind::kLg:
      break;
  }
  if (context.topology().is_damaged()) return first_group(context, avoid_destination_group) != kNoGroup;
  const bool avoids_another =
      avoid_destination_group && context.packet().destination_group != context.group();
  return context.topology().num_groups() > (avoids_another ? 2U : 1U);
}

std::vector<ParameterInfo> nonminimal_parameters() { return rows_of<NonMinimalParams>(); }

}  // namespace dragonfly
