#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/parameter_set.hpp"
#include "routing/load_level.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

struct LevelParams : ParameterSet {
  using ParameterSet::ParameterSet;
  Real near_levels{
      this, {"levels_near", 64.0, "levels", "levels that a full queue of the port adds", between(0, 1024)}};
  Real far_levels{
      this,
      {"levels_far", 64.0, "levels", "levels that a full buffer behind the link adds", between(0, 1024)}};
  Count empty_level{
      this,
      {kLevelOfEmptyPort, 1.0, "levels",
       "level of an idle port; if above 0, a shifted bias also holds against an idle port", whole(0, 15)}};
  Real wire_share{this,
                  {"wire_share", 1.0, "",
                   "packets without a credit that count as on the wire, not as in the buffer behind it, as a "
                   "share of what a fully used link holds in a round trip",
                   between(0, 16)}};
};

// The loads of the router's ports, in the 16 levels of Aries: the port's own queue, and the packets that it
// has sent that are still in the buffer behind the link. A buffer is that of a tile: the largest that a VC
// has on any link of the network, times the parallel links behind the port; so bundles compare with single
// links. Nothing is stored, the ports are read at each call.
// Deviation: Aries has tables of its own for both, which are not public, and follows the packets on the wire
// by a pipe that mimics the cable. Here all levels are equally wide, and the wire is assumed to hold as much
// as at full rate: a link that is used little seems to hold none of its packets behind it, which is nearly
// true. By default AD0 and AD3 differ at light load as they are said to (docs/aries.md).
// Source: register descriptions of the Aries router; Chunduri et al., IPDPS 2021, section II-D.
class LoadLevels final : public RouterTracker {
 public:
  LoadLevels(const TrackerSite& site, const LevelParams& params)
      : first_port_{site.topology.first_local_port()},
        first_router_{site.first_router},
        near_levels_{params.near_levels},
        far_levels_{params.far_levels},
        empty_level_{static_cast<double>(params.empty_level)} {
    const Dragonfly& topology = site.topology;
    double tile = 0;
    for (std::size_t i = 1; i < topology.num_link_classes(); ++i) {
      const double links = topology.bundled(static_cast<LinkClass>(i));
      tile = std::max(tile, site.links[i].buffer_packets / links);
    }
    for (Port port = topology.first_local_port(); port < topology.radix(); ++port) {
      const LinkClass link = topology.port_class(port);
      const double buffer = tile * topology.bundled(link);
      scales_.push_back(
          {.buffer = buffer, .wire = params.wire_share * site.links[index_of(link)].wire_packets});
    }
  }

  void archive(Archive& /*archive*/) override {}

  [[nodiscard]] TrackedEvents events() const noexcept override { return {}; }
  void look_at(const PartitionPorts& ports) override { ports_ = ports.ports; }

  [[nodiscard]] double read(std::uint32_t /*field*/, std::uint32_t reader, std::uint32_t column,
                            Tick /*now*/) override {
    const Scale& scale = scales_[column];
    const OutputPort& port = ports_->port(reader - first_router_, first_port_ + column);
    const double sent = port.credits_in_use();
    const double level =
        (port.queued * near_levels_ + std::max(0.0, sent - scale.wire) * far_levels_) / scale.buffer;
    return std::min(empty_level_ + std::floor(level), kHighestLoadLevel);
  }

 private:
  struct Scale {
    double buffer = 1;  // packets
    double wire = 0;
  };

  std::uint32_t first_port_;
  std::uint32_t first_router_;
  double near_levels_;  // levels of a full buffer
  double far_levels_;
  double empty_level_;
  std::vector<Scale> scales_;  // [port - p]
  const PortBlocks* ports_ = nullptr;
};

std::unique_ptr<RouterTracker> make_load_levels(const TrackerInfo& info, const Parameters& given,
                                                const TrackerSite& site) {
  return std::make_unique<LoadLevels>(site, LevelParams{info, given});
}

}  // namespace

TrackerInfo load_levels_tracker() {
  return {.name = kLoadLevels,
          .summary = "load of the router's ports, in the 16 levels of Aries",
          .fields = {{.name = "load_level",
                      .per = TrackedPer::kPort,
                      .unit = 16,
                      .doc = "load of the port, 0 to 15: its queue, and the buffer behind the link"}},
          .parameters = rows_of<LevelParams>(),
          .make = make_load_levels};
}

}  // namespace dragonfly
