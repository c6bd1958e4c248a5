// The minimal paths that a router draws candidates from: the shortest, or by any gateway of its group.
#pragma once

#include <cstdint>

#include "routing/route_context.hpp"

namespace dragonfly {

struct MinimalPath {
  Hop hop{};                     // its first
  std::uint32_t choice = 0;      // among the shortest paths to the gateway
  std::uint32_t gateway = kNil;  // router by which it leaves the source group; none: the nearest
};

// Whether the packet may still choose among gateways: at its source router, if it leaves the group and there
// are several. Behind the source router the gateway is settled, so a packet never wanders in its group and
// needs no other channels than on shortest paths.
[[nodiscard]] inline bool may_draw_gateway(const RouteContext& context) noexcept {
  const Packet& packet = context.packet();
  const Dragonfly& topology = context.topology();
  return packet.hops == 0 && packet.destination_group != context.group() && topology.trunking() > 1 &&
         topology.are_linked(context.group(), packet.destination_group);
}

[[nodiscard]] inline MinimalPath shortest_path(const RouteContext& context, Stage stage,
                                               std::uint32_t choice) noexcept {
  return {
      .hop = context.paths().minimal_hop(context.packet(), context.router(), context.group(), stage, choice),
      .choice = choice};
}

[[nodiscard]] inline MinimalPath path_by_gateway(const RouteContext& context, Stage stage,
                                                 std::uint32_t choice) noexcept {
  const Packet& packet = context.packet();
  const auto [gateway, rest] =
      context.topology().any_gateway(context.group(), packet.destination_group, choice);
  const Hop hop =
      context.paths().gateway_hop(packet, gateway, context.router(), context.group(), stage, rest);
  return {.hop = hop, .choice = rest, .gateway = gateway};
}

}  // namespace dragonfly
