// The features of observations, one row each: name, meaning of the columns, unit, bounds, and the function
// that fills it. Policies in the core and outside read the same rows. (Features that show trackers' numbers
// are declared with their trackers, see router_tracker.hpp.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "routing/candidate.hpp"
#include "routing/knowledge.hpp"
#include "routing/route_context.hpp"
#include "routing/zero_load_times.hpp"

namespace dragonfly {

inline constexpr float kMostHops = 8;        // hops, VCs and kinds are given in eighths
inline constexpr float kHalfTimeNs = 1'000;  // t / (t + half)
inline constexpr float kHalfTraffic = 16;    // packets
inline constexpr float kTimePackets = 64;
inline constexpr float kMostTimePackets = 1 << 20;
inline constexpr float kUnitPackets = 16;  // unit of occupancies in packets
inline constexpr float kUnitNs = 1'000;    // unit of occupancies in time
// No port has more packets, and they take no longer on any link (see allow:: in network/params.hpp).
inline constexpr float kMostPackets = 1 << 21;
inline constexpr float kMostNs = 1LL << 41;

enum class FeaturePer : std::uint8_t { kPort, kDecision, kCandidate };
[[nodiscard]] constexpr const char* name_of(FeaturePer per) noexcept {
  return per == FeaturePer::kPort ? "port" : per == FeaturePer::kDecision ? "decision" : "candidate";
}

// The sizes on which units and bounds depend. Packets and ports are powers of two, so that every count is
// exact in a float and can be read back.
struct FeatureSizes {
  float packets = 1;  // the unit of occupancies
  float ports = 1;
  float groups = 1;
  float queued = 1;  // the most packets in the queues of a port
  float sent = 1;    // the most packets of a port whose credit has not returned
};

// value = quantity / unit; 0: squashed to quantity / (quantity + half).
struct FeatureScale {
  float unit = 1;
  float half = 0;
  float low = 0;
  float high = 1;
};

// The source of one row.
struct FeatureView {
  const RouteContext& context;
  RouterPorts ports;  // those between routers
  std::uint32_t num_ports;
  const float* link_classes;  // per port: 0 local, 1 global
  const float* minimal;       // per port: 1 on a shortest path, else 0
  const Candidate* candidates;
  std::uint32_t num_candidates;
  std::uint32_t recent;  // decisions about packets towards this group not long ago
  Tick now;
  float per_packet, per_hop, per_port, per_group, quantum_ns;  // factors
  ZeroLoadTimes times;
};

namespace detail {

// Converts a number of packets, which always fits an int, too: that conversion is faster.
inline float real(std::uint32_t count) noexcept {
  return static_cast<float>(static_cast<std::int32_t>(count));
}
inline float squash(float x, float half) noexcept { return x / (x + half); }
inline float since(const FeatureView& view, Tick then) noexcept {
  return squash(static_cast<float>(view.now - then) * view.quantum_ns, kHalfTimeNs);
}

template <class Of>
void per_port(const FeatureView& view, float* out, Of of) noexcept {
  for (std::uint32_t i = 0; i < view.num_ports; ++i) {
    asm volatile(
        "");  // keeps GCC from gathering ports, a cache line each, into vectors, which takes twice as long
    out[i] = real(of(view.ports[i])) * view.per_packet;
  }
}
template <class Of>
void per_candidate(const FeatureView& view, float* out, float factor, Of of) noexcept {
  for (std::uint32_t i = 0; i < view.num_candidates; ++i) {
    out[i] = static_cast<float>(of(view.candidates[i])) * factor;
  }
}

inline float idle_packets(const FeatureView& view, const Candidate& path) noexcept {
  if (path.kind < 0) return 0;
  const bool inside = view.context.packet().destination_group == view.context.group();
  const bool around =
      path.kind > 0 && path.kind != 1 + static_cast<int>(NonMinimalKind::kL) &&
      path.intermediate_group != static_cast<std::int32_t>(view.context.packet().destination_group);
  const std::int32_t global = around ? 2 : inside ? 0 : 1;
  const std::int32_t local = path.hops > global ? path.hops - global : 0;
  const float packets = static_cast<float>(local) * view.times.local_packets +
                        static_cast<float>(global) * view.times.global_packets;
  return packets < kMostTimePackets ? packets : kMostTimePackets;
}

template <class Scale, class Fill>
struct Feature {
  const char* name;
  FeaturePer per;
  const char* doc;
  Scale scale;                                               // FeatureScale(const FeatureSizes&)
  Fill fill;                                                 // void(const FeatureView&, float* columns)
  bool occupancy = false;                                    // its unit is OccupancyUnit
  bool usual = true;                                         // shown where no features are named
  static constexpr Knowledge knowledge = Knowledge::kLocal;  // a FeatureView has nothing else
};
template <class Scale, class Fill>
Feature(const char*, FeaturePer, const char*, Scale, Fill) -> Feature<Scale, Fill>;
template <class Scale, class Fill>
Feature(const char*, FeaturePer, const char*, Scale, Fill, bool) -> Feature<Scale, Fill>;
template <class Scale, class Fill>
Feature(const char*, FeaturePer, const char*, Scale, Fill, bool, bool) -> Feature<Scale, Fill>;

}  // namespace detail

// To add a feature: a row, anywhere. Its place is its bit in DecisionSpec::features.
inline constexpr auto kFeatures = [] {
  using detail::Feature;
  using Sizes = const FeatureSizes&;
  using View = const FeatureView&;
  using enum FeaturePer;
  constexpr auto hops = [](Sizes) { return FeatureScale{kMostHops, 0, 0, 4}; };
  constexpr auto time = [](Sizes) { return FeatureScale{0, kHalfTimeNs, 0, 1}; };
  constexpr auto flag = [](Sizes) { return FeatureScale{1, 0, 0, 1}; };
  constexpr auto congestion = [](Sizes s) {
    return FeatureScale{s.packets, 0, 0, (s.queued + s.sent) / s.packets};
  };
  return std::tuple{
      Feature{"queue_packets", kPort, "packets in the output queue of the port",
              [](Sizes s) { return FeatureScale{s.packets, 0, 0, s.queued / s.packets}; },
              [](View view, float* out) {
                detail::per_port(view, out, [](const OutputPort& port) { return port.queued; });
              },
              true},
      Feature{"credits_in_use", kPort, "packets sent through the port whose credits are not back",
              [](Sizes s) { return FeatureScale{s.packets, 0, 0, s.sent / s.packets}; },
              [](View view, float* out) {
                detail::per_port(view, out, [](const OutputPort& port) { return port.credits_in_use(); });
              },
              true},
      Feature{"link_class", kPort,
              "class of the port's link: 0 local, 1 global; several classes of local links lie evenly "
              "between 0 and 1",
              flag, [](View view, float* out) { std::copy_n(view.link_classes, view.num_ports, out); }},
      Feature{"is_minimal", kPort, "1 if the port is on a minimal path to the destination", flag,
              [](View view, float* out) { std::copy_n(view.minimal, view.num_ports, out); }},
      Feature{"hops", kDecision, "hops that the packet has made", hops,
              [](View view, float* out) {
                *out = static_cast<float>(view.context.packet().hops) * view.per_hop;
              }},
      Feature{"vc", kDecision, "VC that the packet occupies", hops,
              [](View view, float* out) { *out = static_cast<float>(view.context.vc()) * view.per_hop; }},
      Feature{"waiting", kDecision, "time in this router, ns", time,
              [](View view, float* out) {
                *out = detail::since(view, time_until(view.now, view.context.packet().arrived));
              }},
      Feature{"age", kDecision, "time since the packet entered its source queue, ns", time,
              [](View view, float* out) { *out = detail::since(view, view.context.times().created); }},
      Feature{"group_offset", kDecision, "destination group minus own group, modulo the number of groups",
              [](Sizes s) { return FeatureScale{s.groups, 0, 0, 1}; },
              [](View view, float* out) {
                const std::uint32_t to = view.context.packet().destination_group;
                const std::uint32_t own = view.context.group();
                const std::uint32_t offset =
                    to >= own ? to - own : to + view.context.topology().num_groups() - own;
                *out = static_cast<float>(offset) * view.per_group;
              }},
      Feature{"traffic", kDecision,
              "decisions of this router for the same destination group in the last one to two microseconds",
              [](Sizes) { return FeatureScale{0, kHalfTraffic, 0, 1}; },
              [](View view, float* out) {
                *out = detail::squash(static_cast<float>(view.recent), kHalfTraffic);
              }},
      Feature{
          "candidate_kind", kCandidate, "kind of the path: -1 none, 0 minimal, 1 lgl, 2 lg, 3 gl, 4 g, 5 l",
          [](Sizes) { return FeatureScale{kMostHops, 0, -1.0F / kMostHops, 1}; },
          [](View view, float* out) {
            detail::per_candidate(view, out, view.per_hop, [](const Candidate& path) { return path.kind; });
          }},
      Feature{"candidate_port", kCandidate, "first port of the path",
              [](Sizes s) { return FeatureScale{s.ports, 0, -1.0F / s.ports, 1}; },
              [](View view, float* out) {
                detail::per_candidate(view, out, view.per_port,
                                      [](const Candidate& path) { return path.port; });
              }},
      Feature{"candidate_packets", kCandidate,
              "packets of the path's first port: queued, or sent with the credit not back", congestion,
              [](View view, float* out) {
                detail::per_candidate(view, out, view.per_packet,
                                      [](const Candidate& path) { return path.occupancy; });
              },
              true},
      Feature{"candidate_vc_packets", kCandidate,
              "packets of the VC that the path would use at its first port: queued, or sent with the credit "
              "not back",
              congestion,
              [](View view, float* out) {
                detail::per_candidate(view, out, view.per_packet,
                                      [](const Candidate& path) { return path.vc_occupancy; });
              },
              true},
      Feature{
          "candidate_hops", kCandidate, "hops of the path from this router to the destination router", hops,
          [](View view, float* out) {
            detail::per_candidate(view, out, view.per_hop, [](const Candidate& path) { return path.hops; });
          }},
      Feature{"candidate_queue_packets", kCandidate,
              "packets in the output queue of the VC that the path would use at its first port",
              [](Sizes s) { return FeatureScale{s.packets, 0, 0, s.queued / s.packets}; },
              [](View view, float* out) {
                detail::per_candidate(view, out, view.per_packet,
                                      [](const Candidate& path) { return path.vc_queued; });
              },
              true, false},
      Feature{"candidate_time_packets", kCandidate,
              "time of the path on idle links, in packets that a global link carries in that time",
              [](Sizes) { return FeatureScale{kTimePackets, 0, 0, kMostTimePackets / kTimePackets}; },
              [](View view, float* out) {
                for (std::uint32_t i = 0; i < view.num_candidates; ++i) {
                  out[i] = detail::idle_packets(view, view.candidates[i]) * (1.0F / kTimePackets);
                }
              },
              false, false}};
}();

inline constexpr std::size_t kNumFeatures = std::tuple_size_v<std::remove_cvref_t<decltype(kFeatures)>>;
static_assert(kNumFeatures <= 32);  // bits

// Calls `with(feature, place)` for every row, in order.
template <class With>
constexpr void each_feature(With with) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (with(std::get<I>(kFeatures), I), ...);
  }(std::make_index_sequence<kNumFeatures>{});
}

}  // namespace dragonfly
