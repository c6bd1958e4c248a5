#include "decisions/observation.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "decisions/choices.hpp"

namespace dragonfly {

namespace {

constexpr float kMostHops = 8;        // hops, VCs and kinds are given in eighths
constexpr float kHalfTimeNs = 1'000;  // t / (t + half)
constexpr float kHalfTraffic = 16;    // packets

// Of a number of packets, which always fits an int, too: that converts faster.
float real(std::uint32_t count) noexcept { return static_cast<float>(static_cast<std::int32_t>(count)); }

float squash(float x, float half) noexcept { return x / (x + half); }

// The link by which a candidate path leaves the group; kNoPort if it stays, or does not exist.
Endpoint first_global_link(const RouteContext& context, const Candidate& candidate) {
  if (candidate.kind < 0) return {};
  Packet packet = context.packet();
  if (candidate.kind > 0) PathFollower::set_detour(packet, detour_of(candidate));
  return context.paths().first_global_link(packet, context.router(),
                                           static_cast<std::uint32_t>(candidate.minimal_choice));
}

}  // namespace

ObservationLayout::ObservationLayout(const Dragonfly& topology, const DecisionSpec& spec,
                                     const BufferSizes& buffers, double quantum_ns,
                                     const std::vector<TrackerRequest>& trackers)
    : first_port_{topology.p()},
      num_ports_{topology.radix() - topology.p()},
      radix_{topology.radix()},
      num_candidates_{spec.num_candidates()},
      quantum_ns_{static_cast<float>(quantum_ns)} {
  // Powers of two, so that every count is exact in a float and can be read back.
  const std::uint32_t room = buffers.output_packets + buffers.input_packets;
  const float packets = static_cast<float>(std::bit_ceil(room));
  const float ports = static_cast<float>(std::bit_ceil(radix_));
  per_packet_ = 1.0F / packets;
  per_hop_ = 1.0F / kMostHops;
  per_port_ = 1.0F / ports;
  per_group_ = 1.0F / static_cast<float>(topology.num_groups());

  const auto vcs = static_cast<float>(buffers.vcs);
  const float queued = static_cast<float>(buffers.output_packets) * (buffers.shared_output ? 1.0F : vcs);
  const auto sent = static_cast<float>(buffers.port_packets);
  const float most = (queued + sent) / packets;

  const bool paths = spec.action == ActionMode::kPath;
  std::uint32_t bit = 0;
  const auto add = [&](const char* name, const char* per, std::uint32_t width, float unit, float half,
                       float low, float high, const char* doc) {
    const std::uint32_t own = bit++;
    if ((spec.features >> own & 1U) == 0 || width == 0) return;
    blocks_.push_back({name, per, num_features_, width, own, unit, half, low, high, doc});
    num_features_ += width;
  };
  add("queue_packets", "port", num_ports_, packets, 0, 0, queued / packets,
      "packets in the output queue of the port");
  add("credits_in_use", "port", num_ports_, packets, 0, 0, sent / packets,
      "packets sent through the port whose credit is not back");
  add("link_class", "port", num_ports_, 1, 0, 0, 1,
      "0 local, 1 global; with several classes of local links evenly from 0 on");
  add("is_minimal", "port", num_ports_, 1, 0, 0, 1, "1 on a shortest path to the destination");
  add("hops", "decision", 1, kMostHops, 0, 0, 4, "hops of the packet so far");
  add("vc", "decision", 1, kMostHops, 0, 0, 4, "VC that the packet occupies");
  add("waiting", "decision", 1, 0, kHalfTimeNs, 0, 1, "time in this router, ns");
  add("age", "decision", 1, 0, kHalfTimeNs, 0, 1, "time since the packet entered its source queue, ns");
  add("group_offset", "decision", 1, static_cast<float>(topology.num_groups()), 0, 0, 1,
      "destination group minus own group, modulo the number of groups");
  add("traffic", "decision", 1, 0, kHalfTraffic, 0, 1,
      "decisions of this router for the same destination group in the last one to two microseconds");
  const std::uint32_t k = paths ? num_candidates_ : 0;
  add("candidate_kind", "candidate", k, kMostHops, 0, -1.0F / kMostHops, 1,
      "-1 none, 0 minimal, 1 lgl, 2 lg, 3 gl, 4 g");
  add("candidate_port", "candidate", k, ports, 0, -1.0F / ports, 1, "first port");
  add("candidate_packets", "candidate", k, packets, 0, 0, most,
      "congestion of the first port: queued, and sent with the credit not back");
  add("candidate_vc_packets", "candidate", k, packets, 0, 0, most,
      "the same for the VC that the path would use there");
  add("candidate_hops", "candidate", k, kMostHops, 0, 0, 4, "hops from here to the destination router");

  for (const TrackedFeature& feature : tracked_features()) {
    if (std::ranges::find(spec.tracked, feature.name) == spec.tracked.end()) continue;
    const TrackedPer per = feature.shown().per;
    const std::uint32_t columns = per == TrackedPer::kPort        ? num_ports_
                                  : per == TrackedPer::kGroupLink ? topology.a() * topology.h()
                                                                  : 1;
    add_tracked(feature, feature.of_candidates ? k : columns, trackers);
  }

  queue_ = find("queue_packets");
  credits_ = find("credits_in_use");
  link_class_ = find("link_class");
  minimal_ = find("is_minimal");
  hops_ = find("hops");
  vc_ = find("vc");
  waiting_ = find("waiting");
  age_ = find("age");
  group_ = find("group_offset");
  traffic_ = find("traffic");
  kind_ = find("candidate_kind");
  port_ = find("candidate_port");
  occupancy_ = find("candidate_packets");
  vc_occupancy_ = find("candidate_vc_packets");
  path_hops_ = find("candidate_hops");

  for (std::uint32_t i = 0; i < num_ports_; ++i) {
    const std::size_t link = index_of(topology.port_class(static_cast<Port>(first_port_ + i)));
    link_classes_.push_back(static_cast<float>(link - 1) /
                            static_cast<float>(index_of(topology.global_class()) - 1));
  }
}

std::int32_t ObservationLayout::find(const char* name) const noexcept {
  for (const FeatureBlock& block : blocks_) {
    if (block.name == name) return static_cast<std::int32_t>(block.offset);
  }
  return kOff;
}

void ObservationLayout::fill(float* row, const RouteContext& context, const float* minimal,
                             const Candidate* candidates, std::uint32_t recent, Tick now) const {
  const OutputPort* const ports = context.ports() + first_port_;
  const std::uint32_t n = num_ports_;
  if (queue_ != kOff && credits_ != kOff) {
    float* const queued = row + queue_;
    float* const sent = row + credits_;
    for (std::uint32_t i = 0; i < n; ++i) {
      asm volatile("");  // else GCC gathers ports, a cache line each, into vectors: that takes twice as long
      const std::uint32_t here = ports[i].queued;
      queued[i] = real(here) * per_packet_;
      sent[i] = real(ports[i].occupancy - here) * per_packet_;
    }
  } else if (queue_ != kOff) {
    for (std::uint32_t i = 0; i < n; ++i) row[queue_ + i] = real(ports[i].queued) * per_packet_;
  } else if (credits_ != kOff) {
    for (std::uint32_t i = 0; i < n; ++i) {
      row[credits_ + i] = real(ports[i].occupancy - ports[i].queued) * per_packet_;
    }
  }
  if (link_class_ != kOff) std::copy_n(link_classes_.data(), n, row + link_class_);
  if (minimal_ != kOff) std::copy_n(minimal, n, row + minimal_);
  const Packet& packet = context.packet();
  if (hops_ != kOff) row[hops_] = static_cast<float>(packet.hops) * per_hop_;
  if (vc_ != kOff) row[vc_] = static_cast<float>(packet.vc) * per_hop_;
  if (waiting_ != kOff) {
    row[waiting_] = squash(static_cast<float>(now - packet.arrived) * quantum_ns_, kHalfTimeNs);
  }
  if (age_ != kOff) {
    row[age_] = squash(static_cast<float>(now - packet.created) * quantum_ns_, kHalfTimeNs);
  }
  if (group_ != kOff) {
    const std::uint32_t groups = context.topology().num_groups();
    const std::uint32_t to = packet.destination_group;
    const std::uint32_t offset = to >= context.group() ? to - context.group() : to + groups - context.group();
    row[group_] = static_cast<float>(offset) * per_group_;
  }
  if (traffic_ != kOff) row[traffic_] = squash(static_cast<float>(recent), kHalfTraffic);
  for (std::uint32_t i = 0; i < num_candidates_; ++i) {
    const Candidate& candidate = candidates[i];
    if (kind_ != kOff) row[kind_ + i] = static_cast<float>(candidate.kind) * per_hop_;
    if (port_ != kOff) row[port_ + i] = static_cast<float>(candidate.port) * per_port_;
    if (occupancy_ != kOff) row[occupancy_ + i] = static_cast<float>(candidate.occupancy) * per_packet_;
    if (vc_occupancy_ != kOff) {
      row[vc_occupancy_ + i] = static_cast<float>(candidate.vc_occupancy) * per_packet_;
    }
    if (path_hops_ != kOff) row[path_hops_ + i] = static_cast<float>(candidate.hops) * per_hop_;
  }
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
                      .of_candidates = feature.of_candidates,
                      .scale = squashed ? 1.0F : 1.0F / field.unit,
                      .half = field.half});
  blocks_.push_back({feature.name, feature.per(), num_features_, width, 0, squashed ? 0.0F : field.unit,
                     field.half, field.low, field.high,
                     (feature.of_candidates ? "of the path's first global link: " : "") + field.doc});
  num_features_ += width;
}

void ObservationLayout::fill_tracked(float* row, const RouteContext& context,
                                     const Candidate* candidates) const {
  for (const TrackedBlock& block : tracked_) {
    for (std::uint32_t i = 0; i < block.width; ++i) {
      std::uint32_t column = i;
      if (block.of_candidates) {
        const Endpoint link = first_global_link(context, candidates[i]);
        if (link.port == kNoPort) {
          row[block.offset + i] = 0;
          continue;
        }
        column = context.topology().global_position(link.router, link.port);
      }
      const auto x = static_cast<float>(context.tracked_of_all(block.tracker, block.field, column));
      row[block.offset + i] = block.half > 0 ? squash(x, block.half) : x * block.scale;
    }
  }
}

void ObservationLayout::fill_state(float* row, const OutputPort* ports) const noexcept {
  for (std::uint32_t i = 0; i < radix_; ++i) row[i] = real(ports[i].occupancy) * per_packet_;
}

}  // namespace dragonfly
