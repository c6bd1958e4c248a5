// Writes what questions show: features, legal actions and candidate paths, one row each.
#pragma once

#include <cstdint>
#include <vector>

#include "core/prefetch.hpp"
#include "routing/choices.hpp"
#include "routing/row_format.hpp"

namespace dragonfly {

// Of the routers of one partition.
class QuestionWriter {
 public:
  QuestionWriter(const QuestionPlan& plan, std::uint32_t first_router, std::uint32_t num_routers);

  // Of all partitions together, next to scratch.
  [[nodiscard]] static std::uint64_t bytes(const QuestionPlan& plan) noexcept {
    return counters(plan, plan.paths.topology().num_routers()) * sizeof(Recent);
  }

  // A row of num_features numbers, num_actions flags and num_candidates paths. Returns false, and leaves the
  // features as they are, if there is no choice and forced hops are not asked about. Sets `way` to where the
  // packet would go by itself. Precondition: standing is not kNone.
  bool write(const RouteContext& context, Standing standing, Tick now, float* features, std::uint8_t* mask,
             Candidate* candidates, Way& way);
  // The same of a row that is kept as that format has it. Its candidates are beside it.
  bool keep(const RouteContext& context, Standing standing, Tick now, const RowFormat& format, std::byte* row,
            Candidate* candidates, Way& way);
  // The same for a question that nobody reads: whether there is one. It counts where questions are counted.
  bool note(const RouteContext& context, Standing standing, Tick now);
  // Prefetches the count of questions to that router about packets to that group.
  void touch_counts(std::uint32_t router, std::uint32_t group) const noexcept {
    if (!recent_.empty()) prefetch(&recent_[place_of(router, group)]);
  }
  void archive(Archive& archive);

 private:
  // Questions to a router about packets to one group, in the present and the last period.
  struct Recent {
    std::uint32_t period = 0;
    std::uint16_t present = 0;
    std::uint16_t last = 0;
    static constexpr bool kArchivedWhole = true;
  };

  [[nodiscard]] Way way_of(const RouteContext& context, bool forced, Port minimal) const noexcept;
  [[nodiscard]] Port minimal_port(const RouteContext& context) const noexcept {
    const Packet& packet = context.packet();
    return context.topology()
        .minimal_way(context.router(), context.group(), packet.destination_router, packet.destination_group,
                     plan_.paths.choice_of(packet))
        .port;
  }
  // Whether as many actions are legal as make a question. Where none is, the warm-up's policy has sent the
  // packet too far round: it goes on as that has planned.
  [[nodiscard]] std::uint32_t fewest_legal() const noexcept { return plan_.asked.forced_too ? 1U : 2U; }
  [[nodiscard]] static std::size_t counters(const QuestionPlan& plan, std::uint32_t num_routers) noexcept {
    return plan.layout.counts_traffic() ? std::size_t{num_routers} * plan.paths.topology().num_groups() : 0U;
  }
  [[nodiscard]] std::size_t place_of(std::uint32_t router, std::uint32_t group) const noexcept {
    return std::size_t{router - first_router_} * plan_.paths.topology().num_groups() + group;
  }
  // How many decisions there were before `now`; counts one more, which later times see: all decisions of one
  // time see the same, in whichever order they come.
  std::uint32_t count_traffic(std::uint32_t router, std::uint32_t group, Tick now);
  void begin_time(Tick now) noexcept;

  const QuestionPlan& plan_;
  std::uint32_t first_router_;
  Tick period_;
  std::vector<Recent> recent_;  // [router * groups + group], if observed
  Tick now_ = -1;               // the time of the latest decisions
  std::uint32_t present_period_ = 0;
  std::vector<std::uint32_t> uncounted_;  // of that time: places in recent_ that do not count them yet
  std::vector<float> minimal_;            // scratch: per port, 1 on a shortest path, else 0
  std::vector<std::uint8_t> mask_;        // scratch: of questions that nobody reads
};

}  // namespace dragonfly
