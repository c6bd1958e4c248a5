#include "routing/observation_writer.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

constexpr TimePs kTrafficPeriodPs = 1'000'000;

}  // namespace

ObservationWriter::ObservationWriter(const ObservationPlan& plan, std::uint32_t first_router,
                                     std::uint32_t num_routers)
    : plan_{plan},
      first_router_{first_router},
      period_{std::max<Tick>(1, kTrafficPeriodPs / plan.quantum_ps)},
      recent_(counters(plan, num_routers)),
      minimal_(plan.num_ports),
      mask_(plan.num_ports) {}

void ObservationWriter::archive(Archive& archive) {
  archive.fixed(recent_);
  archive(now_, present_period_, uncounted_);
}

[[gnu::always_inline]] inline std::uint32_t ObservationWriter::count_traffic(std::uint32_t router,
                                                                             std::uint32_t group, Tick now) {
  if (recent_.empty()) return 0;
  if (now != now_) begin_time(now);
  const std::size_t at = place_of(router, group);
  Recent& recent = recent_[at];
  if (recent.period != present_period_) {
    recent.last = recent.period + 1 == present_period_ ? recent.present : std::uint16_t{0};
    recent.present = 0;
    recent.period = present_period_;
  }
  uncounted_.push_back(static_cast<std::uint32_t>(at));
  return std::uint32_t{recent.last} + recent.present;
}

void ObservationWriter::begin_time(Tick now) noexcept {
  for (const std::uint32_t at : uncounted_) {
    if (recent_[at].present < 0xffff) ++recent_[at].present;
  }
  uncounted_.clear();
  now_ = now;
  present_period_ = static_cast<std::uint32_t>(now / period_);
}

[[gnu::always_inline]] inline PlannedHop ObservationWriter::planned_hop(const RouteContext& context,
                                                                        bool forced,
                                                                        Port minimal) const noexcept {
  if (!forced) return {.hop = {.port = minimal}};
  Packet copy = context.packet();  // because following a plan moves it on
  const Hop hop = plan_.paths.next(copy, context.router(), context.group());
  return {.hop = hop, .to_intermediate = copy.plan == Plan::kToIntermediate};
}

bool ObservationWriter::write(const RouteContext& context, DecisionStatus status, Tick now, float* features,
                              std::uint8_t* mask, Candidate* candidates, PlannedHop& planned) {
  const bool forced = status == DecisionStatus::kForced;
  Port minimal = kNoPort;  // paths have it among their hops
  if (plan_.by_port() || plan_.layout.shows_minimal()) minimal = minimal_port(context);
  planned = planned_hop(context, forced, minimal);
  const std::uint32_t legal = plan_.by_port()
                                  ? port_choices(plan_, context, forced, planned.hop.port, mask)
                                  : path_choices(plan_, context, forced, planned,
                                                 {0, plan_.spec.shown_nonminimal()}, mask, candidates);
  if (legal < fewest_legal()) return false;
  if (plan_.layout.num_features() == 0) return true;
  if (plan_.layout.shows_minimal()) mark_minimal_ports(plan_, context, minimal, minimal_.data());
  const std::uint32_t recent = count_traffic(context.router(), context.packet().destination_group, now);
  plan_.layout.fill(features, context, minimal_.data(), candidates, recent, now);
  return true;
}

bool ObservationWriter::keep(const RouteContext& context, DecisionStatus status, Tick now,
                             const RowFormat& format, std::byte* row, Candidate* candidates,
                             PlannedHop& planned) {
  if (!format.packed()) {
    return write(context, status, now, format.features(row), format.mask(row), candidates, planned);
  }
  const bool forced = status == DecisionStatus::kForced;
  const Port minimal = minimal_port(context);
  planned = planned_hop(context, forced, minimal);
  const std::uint64_t legal = legal_ports(plan_, context, forced, planned.hop.port);
  const std::uint64_t more = legal & (legal - 1U);  // than one
  if ((fewest_legal() == 1 ? legal : more) == 0) return false;
  const std::uint32_t recent = count_traffic(context.router(), context.packet().destination_group, now);
  format.pack(row, context, legal, minimal, recent, now);
  return true;
}

bool ObservationWriter::note(const RouteContext& context, DecisionStatus status, Tick now) {
  if (status == DecisionStatus::kFree) {
    const bool offers_choice =
        plan_.by_port() ? port_choices(plan_, context, false, kNoPort, mask_.data()) >= fewest_legal()
                        : fewest_legal() == 1 || is_path_choice(plan_, context);
    if (!offers_choice) return false;
  }
  if (plan_.layout.num_features() > 0) {
    count_traffic(context.router(), context.packet().destination_group, now);
  }
  return true;
}

}  // namespace dragonfly
