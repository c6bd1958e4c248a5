#include "routing/question_writer.hpp"

#include <algorithm>

namespace dragonfly {

namespace {

constexpr TimePs kTrafficPeriodPs = 1'000'000;

}  // namespace

QuestionWriter::QuestionWriter(const QuestionPlan& plan, std::uint32_t first_router,
                               std::uint32_t num_routers)
    : plan_{plan},
      first_router_{first_router},
      period_{std::max<Tick>(1, kTrafficPeriodPs / plan.quantum_ps)},
      recent_(counters(plan, num_routers)),
      minimal_(plan.num_ports),
      mask_(plan.num_ports) {}

void QuestionWriter::archive(Archive& archive) {
  archive.fixed(recent_);
  archive(now_, present_period_, uncounted_);
  for (const std::uint32_t at : uncounted_) archive.require(at < recent_.size(), "a counter does not exist");
}

std::uint32_t QuestionWriter::count_traffic(std::uint32_t router, std::uint32_t group, Tick now) {
  if (recent_.empty()) return 0;
  if (now != now_) begin_time(now);
  const std::size_t at = std::size_t{router - first_router_} * plan_.paths.topology().num_groups() + group;
  Recent& recent = recent_[at];
  if (recent.period != present_period_) {
    recent.last = recent.period + 1 == present_period_ ? recent.present : std::uint16_t{0};
    recent.present = 0;
    recent.period = present_period_;
  }
  uncounted_.push_back(static_cast<std::uint32_t>(at));
  return std::uint32_t{recent.last} + recent.present;
}

void QuestionWriter::begin_time(Tick now) noexcept {
  for (const std::uint32_t at : uncounted_) {
    if (recent_[at].present < 0xffff) ++recent_[at].present;
  }
  uncounted_.clear();
  now_ = now;
  present_period_ = static_cast<std::uint32_t>(now / period_);
}

bool QuestionWriter::write(const RouteContext& context, Standing standing, Tick now, float* features,
                           std::uint8_t* mask, Candidate* candidates, Way& way) {
  const Packet& packet = context.packet();
  const bool forced = standing == Standing::kForced;
  const Port minimal_port = context.topology().minimal_port(context.router(), packet.destination_router,
                                                            plan_.paths.choice_of(packet));
  way = {.hop = {.port = minimal_port}};
  if (forced) {  // in a copy, because following a plan moves it on
    Packet copy = packet;
    way.hop = plan_.paths.next(copy, context.router(), context.group());
    way.to_detour = copy.plan == Plan::kToDetour;
  }
  const std::uint32_t legal =
      plan_.by_port()
          ? port_choices(plan_, context, forced, way.hop.port, mask)
          : path_choices(plan_, context, forced, way, {0, plan_.asked.shown_detours()}, mask, candidates);
  // Where nothing is legal, the warm-up's policy has sent the packet too far round: it goes on as that has
  // planned.
  if (legal < (plan_.asked.forced_too ? 1U : 2U)) return false;
  if (plan_.layout.num_features() == 0) return true;
  if (plan_.layout.shows_minimal()) mark_minimal_ports(plan_, context, minimal_port, minimal_.data());
  const std::uint32_t recent = count_traffic(context.router(), packet.destination_group, now);
  plan_.layout.fill(features, context, minimal_.data(), candidates, recent, now);
  return true;
}

bool QuestionWriter::note(const RouteContext& context, Standing standing, Tick now) {
  if (standing == Standing::kFree) {
    const std::uint32_t needed = plan_.asked.forced_too ? 1 : 2;
    const bool asked = plan_.by_port() ? port_choices(plan_, context, false, kNoPort, mask_.data()) >= needed
                                       : needed == 1 || is_path_choice(plan_, context);
    if (!asked) return false;
  }
  if (plan_.layout.num_features() > 0) {
    count_traffic(context.router(), context.packet().destination_group, now);
  }
  return true;
}

}  // namespace dragonfly
