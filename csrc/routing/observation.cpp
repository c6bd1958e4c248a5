#include "routing/observation.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <string_view>

#include "core/few_floats.hpp"

namespace dragonfly {

namespace {

constexpr std::uint32_t kColumnsAtOnce = 16;

std::uint32_t columns_of(TrackedPer per, const Dragonfly& topology) {
  switch (per) {
    case TrackedPer::kRouter:
    case TrackedPer::kDestination:
    case TrackedPer::kFirstGlobalHop:
    case TrackedPer::kBetweenLinks:
    case TrackedPer::kLastLinkType:
    case TrackedPer::kAcknowledged:
      break;
    case TrackedPer::kPort:
      return topology.num_network_ports();
    case TrackedPer::kGroupLink:
      return topology.global_positions();
    case TrackedPer::kGroup:
      return topology.num_groups() - 1;
    case TrackedPer::kPeer:
      return topology.a() - 1;
  }
  return 1;
}

}  // namespace

ObservationLayout::ObservationLayout(const Dragonfly& topology, const DecisionSpec& spec,
                                     std::uint32_t num_candidates, const BufferSizes& buffers,
                                     double quantum_ns, const std::vector<TrackerRequest>& trackers)
    : first_port_{topology.first_local_port()},
      num_ports_{topology.num_network_ports()},
      radix_{topology.radix()},
      num_candidates_{num_candidates},
      quantum_ns_{static_cast<float>(quantum_ns)},
      times_{buffers.times} {
  const FeatureSizes sizes = sizes_of(spec.occupancy_unit, buffers, topology);
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
    if (feature.occupancy && spec.occupancy_unit == OccupancyUnit::kTime) {
      timed_.push_back({num_features_, width, feature.per == FeaturePer::kCandidate});
    }
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

FeatureSizes ObservationLayout::sizes_of(OccupancyUnit unit, const BufferSizes& buffers,
                                         const Dragonfly& topology) {
  FeatureSizes sizes{.ports = static_cast<float>(std::bit_ceil(radix_)),
                     .groups = static_cast<float>(topology.num_groups())};
  const auto room = static_cast<float>(std::bit_ceil(buffers.output_packets + buffers.input_packets));
  per_buffer_ = 1.0F / room;
  const float queued = static_cast<float>(buffers.output_packets) *
                       (buffers.shared_output ? 1.0F : static_cast<float>(buffers.vcs));
  most_packets_ = std::max(queued, static_cast<float>(buffers.port_packets));
  state_high_ = (queued + static_cast<float>(buffers.port_packets)) * per_buffer_;
  switch (unit) {
    case OccupancyUnit::kBuffers:
      sizes.packets = room;
      sizes.queued = queued;
      sizes.sent = static_cast<float>(buffers.port_packets);
      break;
    case OccupancyUnit::kPackets:
      sizes.packets = kUnitPackets;
      sizes.queued = sizes.sent = kMostPackets;
      break;
    case OccupancyUnit::kTime:
      sizes.packets = kUnitNs;
      sizes.queued = sizes.sent = kMostNs;
      for (std::uint32_t port = 0; port < radix_; ++port) {
        const std::size_t link = index_of(topology.port_class(static_cast<Port>(port)));
        packet_times_.push_back(buffers.packet_ns[link] / kUnitNs);
      }
      break;
  }
  // Packets first: to_times() converts them to times.
  per_packet_ = unit == OccupancyUnit::kTime ? 1.0F : 1.0F / sizes.packets;
  return sizes;
}

const FeatureBlock* ObservationLayout::find(const std::string& name) const noexcept {
  const auto at = std::ranges::find(blocks_, name, &FeatureBlock::name);
  return at == blocks_.end() ? nullptr : &*at;
}

FeatureView ObservationLayout::view_of(const RouteContext& context, const float* minimal,
                                       const Candidate* candidates, std::uint32_t recent,
                                       Tick now) const noexcept {
  return {.context = context,
          .ports = context.ports().from(first_port_),
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
}

void ObservationLayout::fill(float* row, const RouteContext& context, const float* minimal,
                             const Candidate* candidates, std::uint32_t recent, Tick now) const {
  const FeatureView view = view_of(context, minimal, candidates, recent, now);
  each_feature([&](const auto& feature, std::size_t bit) {
    if (offsets_[bit] != kOff) feature.fill(view, row + offsets_[bit]);
  });
  if (!timed_.empty()) to_times(row, candidates, false);
  fill_tracked(row, context);
  fill_tracked_paths(row, context, candidates);
}

void ObservationLayout::fill_decision(float* columns, const RouteContext& context, std::uint32_t recent,
                                      Tick now) const noexcept {
  const FeatureView view = view_of(context, nullptr, nullptr, recent, now);
  each_feature([&](const auto& feature, std::size_t bit) {
    if (feature.per == FeaturePer::kDecision && offsets_[bit] != kOff) feature.fill(view, columns++);
  });
}

void ObservationLayout::fill_paths(float* row, const RouteContext& context,
                                   const Candidate* candidates) const {
  const FeatureView view = view_of(context, nullptr, candidates, 0, 0);
  each_feature([&](const auto& feature, std::size_t bit) {
    if (feature.per == FeaturePer::kCandidate && offsets_[bit] != kOff) {
      feature.fill(view, row + offsets_[bit]);
    }
  });
  if (!timed_.empty()) to_times(row, candidates, true);
  fill_tracked_paths(row, context, candidates);
}

void ObservationLayout::to_times(float* row, const Candidate* candidates, bool paths_alone) const noexcept {
  for (const TimedBlock& block : timed_) {
    if (paths_alone && !block.of_candidates) continue;
    for (std::uint32_t i = 0; i < block.width; ++i) {
      const std::int32_t port =
          block.of_candidates ? candidates[i].port : static_cast<std::int32_t>(first_port_ + i);
      if (port >= 0) row[block.offset + i] *= packet_times_[static_cast<std::size_t>(port)];
    }
  }
}

void ObservationLayout::add_tracked(const TrackedFeature& feature, std::uint32_t width,
                                    const std::vector<TrackerRequest>& trackers) {
  if (width == 0) return;
  const TrackedField& field = feature.shown();
  const auto running = std::ranges::find(trackers, feature.tracker, &TrackerRequest::info);
  assert(running != trackers.end());
  const bool squashed = field.half > 0;
  const bool of_candidates = std::string_view{feature.per()} == "candidate";
  (of_candidates ? tracked_paths_ : tracked_)
      .push_back({.offset = num_features_,
                  .width = width,
                  .tracker = static_cast<std::uint32_t>(running - trackers.begin()),
                  .field = feature.field,
                  .per = field.per,
                  .scale = squashed ? 1.0F : 1.0F / field.unit,
                  .half = field.half});
  if (of_candidates) {
    const PathColumns::Wanted wanted = PathColumns::wanted_by(field.per);
    wanted_.first_hop = wanted_.first_hop || wanted.first_hop;
    wanted_.remote_hops = wanted_.remote_hops || wanted.remote_hops;
  }
  blocks_.push_back({feature.name, feature.per(), num_features_, width, squashed ? 0.0F : field.unit,
                     field.half, field.low, field.high,
                     (feature.of_candidates ? "for the path's first global link: " : "") + field.doc});
  num_features_ += width;
}

void ObservationLayout::scale(float* shown, const TrackedBlock& block, std::size_t columns) noexcept {
  if (block.half > 0) {
    for_few_floats(shown, columns, shown, [half = block.half](auto x) { return x / (x + half); });
  } else {
    for_few_floats(shown, columns, shown, [factor = block.scale](auto x) { return x * factor; });
  }
}

void ObservationLayout::fill_tracked(float* row, const RouteContext& context) const {
  std::array<std::uint32_t, kColumnsAtOnce> columns;
  for (const TrackedBlock& block : tracked_) {
    if (block.width == 1) {
      const std::uint32_t column =
          block.per == TrackedPer::kDestination ? context.packet().destination_group : 0U;
      row[block.offset] = block.scaled(context.tracked_of(block.tracker, block.field, column));
      continue;
    }
    for (std::uint32_t first = 0; first < block.width; first += kColumnsAtOnce) {
      const std::uint32_t count = std::min(kColumnsAtOnce, block.width - first);
      for (std::uint32_t i = 0; i < count; ++i) columns[i] = first + i;
      float* const shown = row + block.offset + first;
      context.tracked_of_all(block.tracker, block.field, {columns.data(), count}, shown);
      scale(shown, block, count);
    }
  }
}

void ObservationLayout::fill_tracked_paths(float* row, const RouteContext& context,
                                           const Candidate* candidates) const {
  if (tracked_paths_.empty()) return;
  for (std::uint32_t first = 0; first < num_candidates_; first += PathColumns::kMostPaths) {
    const std::uint32_t count = std::min(PathColumns::kMostPaths, num_candidates_ - first);
    const PathColumns columns{context, {candidates + first, count}, wanted_};
    // Reads field by field, so that the processor waits for all of them at once.
    for (const TrackedBlock& block : tracked_paths_) {
      context.tracked_of_all(block.tracker, block.field, columns.of(block.per), row + block.offset + first);
    }
    // Scales after all writes: values just written one by one cannot be read several at once.
    for (const TrackedBlock& block : tracked_paths_) scale(row + block.offset + first, block, count);
  }
}

void ObservationLayout::fill_state(float* row, const RouterPorts& ports) const noexcept {
  for (std::uint32_t i = 0; i < radix_; ++i) row[i] = detail::real(ports[i].occupancy) * per_buffer_;
}

}  // namespace dragonfly
