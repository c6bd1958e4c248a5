// Writes the rows of decisions: features, legal actions and candidate paths.
#pragma once

#include <cstdint>
#include <vector>

#include "core/prefetch.hpp"
#include "routing/choices.hpp"
#include "routing/row_format.hpp"

namespace dragonfly {

// Writer for the routers of one partition.
class ObservationWriter {
 public:
  ObservationWriter(const ObservationPlan& plan, std::uint32_t first_router, std::uint32_t num_routers);

  // Bytes of all partitions together, without scratch.
  [[nodiscard]] static std::uint64_t bytes(const ObservationPlan& plan) noexcept {
    return counters(plan, plan.paths.topology().num_routers()) * sizeof(Recent);
  }

  // Writes a row of num_features numbers, num_actions flags and num_candidates paths. Returns false, and
  // leaves the features as they are, if there is no choice and forced hops are not decided. Sets `planned` to
  // the hop of the plan; for a free choice of paths, to no port. Precondition: status is not kNone.
  bool write(const RouteContext& context, DecisionStatus status, Tick now, float* features,
             std::uint8_t* mask, Candidate* candidates, PlannedHop& planned);
  // Writes a row in that format, and its candidates separately.
  bool keep(const RouteContext& context, DecisionStatus status, Tick now, const RowFormat& format,
            std::byte* row, Candidate* candidates, PlannedHop& planned);
  // Counts a decision whose row is not read; returns whether there is a decision.
  bool note(const RouteContext& context, DecisionStatus status, Tick now);
  // Prefetches the count of decisions of that router about packets to that group.
  void prefetch_counts(std::uint32_t router, std::uint32_t group) const noexcept {
    if (!recent_.empty()) prefetch(&recent_[place_of(router, group)]);
  }
  void archive(Archive& archive);

 private:
  // Decisions of a router about packets to one group, in the present and the last period.
  struct Recent {
    std::uint32_t period = 0;
    std::uint16_t present = 0;
    std::uint16_t last = 0;
    static constexpr bool kArchivedWhole = true;
  };

  [[nodiscard]] PlannedHop planned_hop(const RouteContext& context, bool forced, Port minimal) const noexcept;
  [[nodiscard]] Port minimal_port(const RouteContext& context) const noexcept {
    const Packet& packet = context.packet();
    const bool single = plan_.paths.leads_along_links(packet, context.router(), context.group());
    return context.topology()
        .minimal_path(context.router(), context.group(), packet.destination_router, packet.destination_group,
                      single ? 0U : plan_.paths.choice_of(packet))
        .port;
  }
  // The least number of legal actions that make a decision. If no action is legal, the warm-up's policy has
  // sent the packet too far round: it follows that plan.
  [[nodiscard]] std::uint32_t fewest_legal() const noexcept { return plan_.spec.forced_too ? 1U : 2U; }
  [[nodiscard]] static std::size_t counters(const ObservationPlan& plan, std::uint32_t num_routers) noexcept {
    return plan.layout.counts_traffic() ? std::size_t{num_routers} * plan.paths.topology().num_groups() : 0U;
  }
  [[nodiscard]] std::size_t place_of(std::uint32_t router, std::uint32_t group) const noexcept {
    return std::size_t{router - first_router_} * plan_.paths.topology().num_groups() + group;
  }
  // Number of decisions before `now`; counts one more, which later times see: all decisions of one time see
  // the same number, in whichever order they come.
  std::uint32_t count_traffic(std::uint32_t router, std::uint32_t group, Tick now);
  void begin_time(Tick now) noexcept;

  const ObservationPlan& plan_;
  std::uint32_t first_router_;
  Tick period_;
  std::vector<Recent> recent_;  // [router * groups + group], if observed
  Tick now_ = -1;               // the time of the latest decisions
  std::uint32_t present_period_ = 0;
  std::vector<std::uint32_t> uncounted_;  // places in recent_ that do not count the latest decisions yet
  std::vector<float> minimal_;            // scratch: per port, 1 on a shortest path, else 0
  std::vector<std::uint8_t> mask_;        // scratch: of decisions whose rows are not read
};

}  // namespace dragonfly
