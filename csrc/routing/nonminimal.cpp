#include "routing/nonminimal.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

// The group behind the router's own global link j, if a non-minimal path may lead there.
std::uint32_t usable_link(const RouteContext& context, std::uint32_t j, bool avoid_destination) noexcept {
  const Dragonfly& topology = context.topology();
  const std::uint32_t group =
      topology.group_behind(context.router(), static_cast<Port>(topology.first_global_port() + j));
  const bool wanted =
      group != Id<void>::kNoneValue && !(avoid_destination && group == context.packet().destination_group);
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
  return topology.trunking() == 1 && topology.num_groups() == topology.global_positions() + 1;
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

// The destination, if it is in the present group; else this router.
std::uint32_t excluded_beside(const RouteContext& context) noexcept {
  const bool ends_here = context.packet().destination_group == context.group();
  return ends_here ? context.packet().destination_router : context.router();
}

}  // namespace

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
  const std::uint32_t first = topology.first_router(context.group());
  const std::uint32_t own = context.router();
  const std::uint32_t other = excluded_beside(context);
  const std::uint32_t excluded = other == own ? 1 : 2;
  if (topology.a() <= excluded) return kNil;
  std::uint32_t router = first + random.below(topology.a() - excluded);
  if (router >= std::min(own, other)) ++router;
  if (excluded == 2 && router >= std::max(own, other)) ++router;
  return router;
}

bool has_nonminimal(const RouteContext& context, NonMinimalKind kind, bool avoid_destination_group,
                    OwnGroup own_group) noexcept {
  if (!may_take(kind, context.packet(), context.group(), own_group)) return false;
  switch (kind) {
    case NonMinimalKind::kL:
      return context.topology().a() > (excluded_beside(context) == context.router() ? 1U : 2U);
    case NonMinimalKind::kGl:
    case NonMinimalKind::kG:
      return usable_links(context, avoid_destination_group) > 0;
    case NonMinimalKind::kLgl:
    case NonMinimalKind::kLg:
      break;
  }
  const bool avoids_another =
      avoid_destination_group && context.packet().destination_group != context.group();
  return context.topology().num_groups() > (avoids_another ? 2U : 1U);
}

std::vector<ParameterInfo> nonminimal_parameters() { return rows_of<NonMinimalParams>(); }

}  // namespace dragonfly
