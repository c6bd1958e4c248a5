#include "routing/observation.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <string_view>

#include "routing/acknowledgement.hpp"
#include "routing/last_router.hpp"
#include "routing/remote_hops.hpp"

namespace dragonfly {

namespace {

constexpr std::uint32_t kNoColumn = 0xffffffffU;

// The hop by which a candidate path leaves the group; kNoPort if it stays, or does not exist.
PathFollower::GlobalHop first_global_hop(const RouteContext& context, const Candidate& candidate) {
  if (candidate.kind < 0) return {};
  Packet packet = context.packet();
  auto choice = static_cast<std::uint32_t>(candidate.minimal_choice);
  if (candidate.kind > 0) {
    choice = context.paths().choice_of(packet);  // detours go by the packet's own
    PathFollower::set_detour(packet, detour_of(candidate));
  }
  return context.paths().first_global_hop(packet, context.router(), choice);
}

// Of a field per kDetour: whether the path crosses the group of its detour from one global link to the next
// by the shortest way.
std::uint32_t detour_column(const RouteContext& context, const Candidate& candidate) noexcept {
  if (candidate.kind <= 0 || visits_router(static_cast<DetourKind>(candidate.kind - 1))) return kNoColumn;
  return static_cast<std::uint32_t>(candidate.detour_group) * context.topology().num_groups() +
         context.packet().destination_group;
}

// Of a field per kLastLink: whether the path's last hop is a local one.
std::uint32_t arrival_column(const RouteContext& context, const Candidate& candidate) noexcept {
  if (candidate.kind < 0) return kNoColumn;
  const Packet& packet = context.packet();
  const Detour detour = candidate.kind > 0 ? detour_of(candidate) : Detour{};
  const std::uint32_t last = last_router_before(context.topology(), context.router(),
                                                packet.destination_router, packet.destination_group, detour);
  if (last == packet.destination_router) return kNoColumn;
  return arrival_of(context.topology(), packet.destination_router, last);
}

// Of a field per kBetweenLinks or kLastLinkType: which local links the path crosses in other groups.
std::uint32_t crossing_column(const RouteContext& context, const Candidate& candidate,
                              TrackedPer per) noexcept {
  if (candidate.kind < 0) return kNoColumn;
  const Packet& packet = context.packet();
  const Detour detour = candidate.kind > 0 ? detour_of(candidate) : Detour{};
  const RemoteHops hops = remote_hops(context.topology(), context.router(), packet.destination_router,
                                      packet.destination_group, detour);
  const std::uint32_t column = per == TrackedPer::kLastLinkType
                                   ? hops.last
                                   : hops.between[0] * context.topology().a() + hops.between[1];
  return column == 0 ? kNoColumn : column;
}

// Of a field per kAcknowledged.
std::uint32_t acknowledged_column(const RouteContext& context, const Candidate& candidate) noexcept {
  const auto kind = static_cast<std::uint32_t>(candidate.kind);
  return candidate.kind < 0 || kind >= kAcknowledgedKinds
             ? kNoColumn
             : context.packet().destination_router * kAcknowledgedKinds + kind;
}

std::uint32_t columns_of(TrackedPer per, const Dragonfly& topology) {
  switch (per) {
    case TrackedPer::kRouter:
    case TrackedPer::kDestination:
    case TrackedPer::kDestinationRouter:
    case TrackedPer::kFirstGlobalHop:
    case TrackedPer::kDetour:
    case TrackedPer::kLastLink:
    case TrackedPer::kBetweenLinks:
    case TrackedPer::kLastLinkType:
    case TrackedPer::kAcknowledged:
      break;
    case TrackedPer::kPort:
      return topology.radix() - topology.p();
    case TrackedPer::kGroupLink:
      return topology.a() * topology.h();
    case TrackedPer::kGroup:
      return topology.num_groups() - 1;
    case TrackedPer::kPeer:
      return topology.a() - 1;
  }
  return 1;
}

}  // namespace

ObservationLayout::ObservationLayout(const Dragonfly& topology, const QuestionSpec& spec,
                                     const BufferSizes& buffers, double quantum_ns,
                                     const std::vector<TrackerRequest>& trackers)
    : first_port_{topology.p()},
      num_ports_{topology.radix() - topology.p()},
      radix_{topology.radix()},
      num_candidates_{spec.num_candidates()},
      quantum_ns_{static_cast<float>(quantum_ns)},
      times_{buffers.times} {
  const std::uint32_t room = buffers.output_packets + buffers.input_packets;
  const auto vcs = static_cast<float>(buffers.vcs);
  const FeatureSizes sizes{
      .packets = static_cast<float>(std::bit_ceil(room)),
      .ports = static_cast<float>(std::bit_ceil(radix_)),
      .groups = static_cast<float>(topology.num_groups()),
      .queued = static_cast<float>(buffers.output_packets) * (buffers.shared_output ? 1.0F : vcs),
      .sent = static_cast<float>(buffers.port_packets)};
  per_packet_ = 1.0F / sizes.packets;
  per_port_ = 1.0F / sizes.ports;
  per_group_ = 1.0F / sizes.groups;

  const std::uint32_t k = spec.action == ActionMode::kPath ? num_candidates_ : 0;
  offsets_.fill(kOff);
  each_feature([&](const auto& feature, std::size_t bit) {
    const std::uint32_t width = feature.per == FeaturePer::kPort        ? num_ports_
                                : feature.per == FeaturePer::kCandidate ? k
                                                                        : 1U;
    if ((spec.features >> bit & 1U) == 0 || width == 0) return;
    const FeatureScale scale = feature.scale(sizes);
    offsets_[bit] = static_cast<std::int32_t>(num_features_);
    blocks_.push_back({feature.name, name_of(feature.per), num_features_, width, scale.unit, scale.half,
                       scale.low, scale.high, feature.doc});
    num_features_ += width;
  });

  for (const TrackedFeature& feature : tracked_features()) {
    if (std::ranges::find(spec.tracked, feature.name) == spec.tracked.end()) continue;
    const bool of_candidates = std::string_view{feature.per()} == "candidate";
    add_tracked(feature, of_candidates ? k : columns_of(feature.shown().per, topology), trackers);
  }

  counts_traffic_ = find("traffic") != nullptr;
  shows_minimal_ = find("is_minimal") != nullptr;
  for (std::uint32_t i = 0; i < num_ports_; ++i) {
    const std::size_t link = index_of(topology.port_class(static_cast<Port>(first_port_ + i)));
    link_classes_.push_back(static_cast<float>(link - 1) /
                            static_cast<float>(index_of(topology.global_class()) - 1));
  }
}

const FeatureBlock* ObservationLayout::find(const std::string& name) const noexcept {
  const auto at = std::ranges::find(blocks_, name, &FeatureBlock::name);
  return at == blocks_.end() ? nullptr : &*at;
}

void ObservationLayout::fill(float* row, const RouteContext& context, const float* minimal,
                             const Candidate* candidates, std::uint32_t recent, Tick now) const {
  const FeatureView view{.context = context,
                         .ports = context.ports() + first_port_,
                         .num_ports = num_ports_,
                         .link_classes = link_classes_.data(),
                         .minimal = minimal,
                         .candidates = candidates,
                         .num_candidates = num_candidates_,
                         .recent = recent,
                         .now = now,
                         .per_packet = per_packet_,
                         .per_hop = 1.0F / kMostHops,
                         .per_port = per_port_,
                         .per_group = per_group_,
                         .quantum_ns = quantum_ns_,
                         .times = times_};
  each_feature([&](const auto& feature, std::size_t bit) {
    if (offsets_[bit] != kOff) feature.fill(view, row + offsets_[bit]);
  });
  if (!tracked_.empty()) fill_tracked(row, context, candidates);
}

void ObservationLayout::add_tracked(const TrackedFeature& feature, std::uint32_t width,
                                    const std::vector<TrackerRequest>& trackers) {
  if (width == 0) return;
  const TrackedField& field = feature.shown();
  const auto running = std::ranges::find(trackers, feature.tracker, &TrackerRequest::info);
  assert(running != trackers.end());
  const bool squashed = field.half > 0;
  tracked_.push_back({.offset = num_features_,
                      .width = width,
                      .tracker = static_cast<std::uint32_t>(running - trackers.begin()),
                      .field = feature.field,
                      .per = field.per,
                      .of_global_hops = feature.of_candidates || field.per == TrackedPer::kFirstGlobalHop,
                      .scale = squashed ? 1.0F : 1.0F / field.unit,
                      .half = field.half});
  blocks_.push_back({feature.name, feature.per(), num_features_, width, squashed ? 0.0F : field.unit,
                     field.half, field.low, field.high,
                     (feature.of_candidates ? "of the path's first global link: " : "") + field.doc});
  num_features_ += width;
}

void ObservationLayout::show(float* row, const TrackedBlock& block, std::uint32_t i,
                             const RouteContext& context, std::uint32_t column) {
  float shown = 0;
  if (column != kNoColumn) {
    const auto x = static_cast<float>(context.tracked_of_all(block.tracker, block.field, column));
    shown = block.half > 0 ? detail::squash(x, block.half) : x * block.scale;
  }
  row[block.offset + i] = shown;
}

void ObservationLayout::fill_tracked(float* row, const RouteContext& context,
                                     const Candidate* candidates) const {
  std::uint32_t global_hops = 0;
  for (const TrackedBlock& block : tracked_) {
    if (block.of_global_hops) {
      global_hops = block.width;
      continue;
    }
    for (std::uint32_t i = 0; i < block.width; ++i) {
      std::uint32_t column = i;
      if (block.per == TrackedPer::kDetour) column = detour_column(context, candidates[i]);
      if (block.per == TrackedPer::kLastLink) column = arrival_column(context, candidates[i]);
      if (block.per == TrackedPer::kBetweenLinks || block.per == TrackedPer::kLastLinkType) {
        column = crossing_column(context, candidates[i], block.per);
      }
      if (block.per == TrackedPer::kAcknowledged) column = acknowledged_column(context, candidates[i]);
      if (block.per == TrackedPer::kDestination) column = context.packet().destination_group;
      if (block.per == TrackedPer::kDestinationRouter) column = context.packet().destination_router;
      show(row, block, i, context, column);
    }
  }
  for (std::uint32_t i = 0; i < global_hops; ++i) {  // where a path leads is worked out once
    const auto [link, vc] = first_global_hop(context, candidates[i]);
    const bool leaves = link.port != kNoPort;
    const std::uint32_t q = leaves ? context.topology().global_position(link.router, link.port) : 0;
    for (const TrackedBlock& block : tracked_) {
      if (!block.of_global_hops) continue;
      const bool of_vc = block.per == TrackedPer::kFirstGlobalHop;
      show(row, block, i, context, !leaves ? kNoColumn : of_vc ? q * kMostVcsOfLink + vc : q);
    }
  }
}

void ObservationLayout::fill_state(float* row, const OutputPort* ports) const noexcept {
  for (std::uint32_t i = 0; i < radix_; ++i) row[i] = detail::real(ports[i].occupancy) * per_packet_;
}

}  // namespace dragonfly
