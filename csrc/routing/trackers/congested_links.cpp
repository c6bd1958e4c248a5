#include "core/parameter_set.hpp"
#include "routing/group_signals.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

namespace {

struct CongestionParams : ParameterSet {
  using ParameterSet::ParameterSet;
  Real factor{this,
              {"congestion_factor", 1.2, "",
               "a global link is congested if its occupancy exceeds the mean of its router's global links "
               "times this factor, plus congestion_offset_packets. Source: F of LIA, TACO 2025, table 1",
               between(0, 1e6)}};
  Real offset_packets{this,
                      {"congestion_offset_packets", 5.0, "packets",
                       "packets above congestion_factor times the mean occupancy, from which on a link is "
                       "congested. Source: Z of LIA, TACO 2025, table 1",
                       between(0, 1e6)}};
};

// Piggyback's flags: every router marks those of its global links that are congested and signals them to its
// group. A link is congested iff Q > F * mean Q + Z, where Q is the occupancy of its port and the mean is
// over all *connected* global ports of the router: unconnected ports are always empty and would make the rest
// look full. Source: LIA (TACO 2025), section 5.2 and table 1.
class CongestedLinks final : public RouterTracker {
 public:
  CongestedLinks(const TrackerSite& site, const CongestionParams& params)
      : topology_{site.topology},
        first_router_{site.first_router},
        params_{params},
        by_vc_{site.compares_vcs},
        flags_{site.num_routers, site.topology.h(), site.signal_delay} {
    const Port first = topology_.first_global_port();
    for (std::uint32_t i = 0; i < site.num_routers; ++i) {
      for (std::uint32_t j = 0; j < topology_.h(); ++j) {
        const Endpoint far = topology_.neighbor(first_router_ + i, static_cast<Port>(first + j));
        connected_.push_back(far.port != kNoPort ? 1 : 0);
      }
    }
  }

  static std::uint64_t bytes(const Dragonfly& topology) {
    return std::uint64_t{topology.num_routers()} * topology.h() * (1 + GroupSignals::kBytesPerBit);
  }

  void archive(Archive& archive) override { archive(flags_); }

  [[nodiscard]] TrackedEvents events() const noexcept override { return {.global_occupancy = true}; }

  void occupancy_changed(std::uint32_t router, const RouterPorts& ports, Tick now) override {
    const std::uint32_t own = router - first_router_;
    const std::uint32_t h = topology_.h();
    const RouterPorts links = ports.from(topology_.first_global_port());
    const std::uint8_t* const connected = &connected_[std::size_t{own} * h];
    std::uint32_t sum = 0;
    std::uint32_t count = 0;
    for (std::uint32_t j = 0; j < h; ++j) {
      if (connected[j] == 0) continue;
      sum += links[j].occupancy;
      ++count;
    }
    const double mean = static_cast<double>(sum) / static_cast<double>(count);
    const double threshold = params_.factor * mean;
    for (std::uint32_t j = 0; j < h; ++j) {
      if (connected[j] == 0) continue;
      // Occupancies by VC are means over those of a link, as in FOGSim's PER_PORT, so that the offset counts
      // for each.
      const double above = by_vc_ ? params_.offset_packets * links[j].vcs : params_.offset_packets;
      flags_.set(own, j, static_cast<double>(links[j].occupancy) > threshold + above, now);
    }
  }

  [[nodiscard]] double read(std::uint32_t /*field*/, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    const std::uint32_t own = reader - first_router_;
    const Endpoint link = topology_.global_port_at(topology_.group_of(reader), column);
    const std::uint32_t j = link.port - topology_.first_global_port();
    return flags_.get(own, link.router - first_router_, j, now) ? 1.0 : 0.0;
  }

 private:
  const Dragonfly& topology_;
  std::uint32_t first_router_;
  CongestionParams params_;
  bool by_vc_;
  std::vector<std::uint8_t> connected_;  // [router * h + j]
  GroupSignals flags_;
};

std::unique_ptr<RouterTracker> make_congested_links(const TrackerInfo& info, const Parameters& given,
                                                    const TrackerSite& site) {
  return std::make_unique<CongestedLinks>(site, CongestionParams{info, given});
}

}  // namespace

TrackerInfo congested_links_tracker() {
  return {
      .name = "congested-links",
      .summary = "congested global links of the group, by the signals of its routers",
      .fields = {{.name = "congested_links",
                  .per = TrackedPer::kGroupLink,
                  .doc = "1 if the global link is congested, by the signals that this router has received",
                  .of_candidates = "candidate_congested",
                  .knowledge = Knowledge::kDelayed}},
      .parameters = rows_of<CongestionParams>(),
      .make = make_congested_links,
      .bytes = CongestedLinks::bytes};
}

}  // namespace dragonfly
