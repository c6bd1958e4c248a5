#include <optional>

#include "routing/remote_hops.hpp"
#include "routing/router_tracker.hpp"
#include "routing/trackers/sliding_window.hpp"
#include "routing/trackers/traffic_parameters.hpp"

namespace dragonfly {

namespace {

enum Field : std::uint32_t { kDetour, kMinimal };

// What a router's own packets did lately, by the ways that they took: the answers that it gave.
//
// A remote counter of LIA (remote_traffic.cpp) says what local links of intermediate groups would have to
// carry if all of the router's traffic took non-minimal paths without a second local hop. That says that such
// non-minimal paths are dangerous, not that they are full: whoever sees only that goes all one way or all the
// other. This tracker counts the non-minimal paths that were taken, on the type of local link (to the router
// k ahead) that each crosses between the global link by which it comes and the one by which it leaves; what a
// path meets there is what its router has sent, if the others do alike. Source: this project, after LIA (TACO
// 2025), sections 3.2.2 and 4.3.2.
class SentDetours final : public RouterTracker {
 public:
  SentDetours(const TrackerSite& site, TimePs window_ps)
      : topology_{site.topology},
        first_router_{site.first_router},
        groups_{site.topology.num_groups()},
        types_{site.topology.a()},
        per_detour_{site.links[1].packet_ps / static_cast<double>(window_ps)},
        per_minimal_{site.links[index_of(site.topology.global_class())].packet_ps * topology_.a() /
                     (static_cast<double>(window_ps) * topology_.trunking())},
        window_{site.ticks_of(window_ps)},
        detours_(std::size_t{site.num_routers} * types_),
        minimal_(std::size_t{site.num_routers} * groups_) {}

  static std::uint64_t bytes(const Dragonfly& topology) {
    return sizeof(std::uint32_t) * topology.num_routers() *
           (std::uint64_t{topology.a()} + topology.num_groups());
  }

  void archive(Archive& archive) override {
    window_.archive(archive, minimal_.size() / groups_, types_ + groups_);
    archive.fixed(detours_);
    archive.fixed(minimal_);
  }

  [[nodiscard]] TrackedEvents hears() const noexcept override { return {.forwards = true}; }

  void packet_forwarded(std::uint32_t router, Port /*host_port*/, const Packet& packet, Tick now) override {
    const std::uint32_t group = topology_.group_of(router);
    const std::uint32_t to = packet.destination_group;
    const std::optional<Detour> detour = sent_by(packet);
    if (to == group || !detour) return;
    std::uint32_t counter = types_ + to;
    if (detour->exists()) {
      if (!visits_local_link(detour->kind, detour->group, to)) return;
      counter = type_between(group, detour->group, to);
      if (counter == 0) return;
    }
    move_to(now);
    const std::uint32_t own = router - first_router_;
    ++count(own, counter);
    window_.add({own, counter}, now);
  }

  // kDetour: see TrackedPer::kDetour.
  [[nodiscard]] double read(std::uint32_t field, std::uint32_t reader, std::uint32_t column,
                            Tick now) override {
    move_to(now);
    const std::uint32_t own = reader - first_router_;
    const std::uint32_t group = topology_.group_of(reader);
    if (field == kMinimal) {
      return column == group ? 0.0 : static_cast<float>(count(own, types_ + column) * per_minimal_);
    }
    const std::uint32_t between = column / groups_;
    const std::uint32_t to = column % groups_;
    if (between == group || between == to || to == group) return 0;
    const std::uint32_t type = type_between(group, between, to);
    return type == 0 ? 0.0 : static_cast<float>(count(own, type) * per_detour_);
  }

 private:
  [[nodiscard]] static bool visits_local_link(DetourKind kind, std::uint32_t between,
                                              std::uint32_t to) noexcept {
    return (kind == DetourKind::kG || kind == DetourKind::kLg) && between != to;
  }
  // 0: it leaves the group between by the router by which it comes. With trunking: by the first of the links.
  [[nodiscard]] std::uint32_t type_between(std::uint32_t from, std::uint32_t between,
                                           std::uint32_t to) const noexcept {
    return local_type(topology_, topology_.links_between(between, from)->router,
                      topology_.links_between(between, to)->router);
  }
  // `counter`: a type of local link, from 1 on; or types_ + a destination group.
  [[nodiscard]] std::uint32_t& count(std::uint32_t own, std::uint32_t counter) noexcept {
    return counter < types_ ? detours_[std::size_t{own} * types_ + counter]
                            : minimal_[std::size_t{own} * groups_ + counter - types_];
  }
  void move_to(Tick now) {
    window_.move_to(now, [this](SlidingWindow::Note note) { --count(note.router, note.group); });
  }

  const Dragonfly& topology_;
  std::uint32_t first_router_;
  std::uint32_t groups_;
  std::uint32_t types_;
  double per_detour_;   // of what a local link carries in a window
  double per_minimal_;  // of what the links to a group carry, if all routers do alike
  SlidingWindow window_;
  std::vector<std::uint32_t> detours_;  // [router * types + k]
  std::vector<std::uint32_t> minimal_;  // [router * groups + group]
};

std::unique_ptr<RouterTracker> make_sent_detours(const TrackerInfo& info, const Parameters& given,
                                                 const TrackerSite& site) {
  return std::make_unique<SentDetours>(site, window_parameter(info, given));
}

}  // namespace

TrackerInfo sent_detours_tracker() {
  std::vector<ParameterInfo> parameters = window_parameters();
  parameters.resize(1);  // the window
  return {
      .name = "sent-detours",
      .summary = "what a router's own packets did lately, by the ways that they took",
      .fields =
          {{.name = "candidate_nonminimal_demand",
            .per = TrackedPer::kDetour,
            .half = 1,
            .doc = "packets of the router's hosts, in the window, on non-minimal paths g and lg over such a "
                   "local link of a group between as this path crosses, per packets that it "
                   "carries; 0 for paths that cross none"},
           {.name = "destination_minimal_demand",
            .per = TrackedPer::kDestination,
            .half = 4,
            .doc = "packets that the router's hosts sent minimally to the destination group, in "
                   "the window, times the routers of a group, per packets that its links there "
                   "carry"}},
      .parameters = std::move(parameters),
      .make = make_sent_detours,
      .bytes = SentDetours::bytes};
}

}  // namespace dragonfly
