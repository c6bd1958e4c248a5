#include "core/parameters.hpp"
#include "routing/learning.hpp"

namespace dragonfly {

namespace {

struct Settings {
  double epsilon = 0.001;
  double q_thld1 = 0.2;
  double q_thld2 = 0.35;
  bool follow_taken = false;   // Q_y of the port really taken, not of the best
  bool path_time = false;      // initial values by the time of the whole way, not by link latencies
  bool explore_quiet = false;  // explores the port with the fewest packets, not any port
  // Where ports are compared, packet times added to a port's value: for every packet in its queues, and for
  // every packet in its queues and credit in use.
  double queue_weight = 0;
  double occupancy_weight = 0;
};

// Q-adaptive: the source router and the first router of an intermediate group weigh the minimal port
// against what the table says of the others; hysteretic updates.
// Source: Kang, Wang, Lan, HPDC 2021, section 4, figure 4, equations 2 and 3.
class QAdaptive final : public LearningPolicy {
 public:
  QAdaptive(TableRows rows, const LearningRule& rule, const Settings& settings)
      : LearningPolicy{rows, rule}, settings_{settings} {}

  [[nodiscard]] PathBudget budget() const noexcept override { return {.any_port = true, .longest_path = 5}; }

  [[nodiscard]] VisitOutcome visit(const RouteContext& context, const Visit& visit) const override {
    VisitOutcome outcome;
    if (!visit.leaves) {  // the group is reached: nothing left to estimate
      outcome.reports = visit.came_by_global;
      outcome.target_ns = static_cast<float>(rule().round(visit.travel_ns));
      return outcome;
    }
    const Packet& packet = context.packet();
    const float* const row = table().row(context.router(), visit.row);
    const std::uint32_t best = table().best(row);
    const std::uint32_t minimal = visit.minimal_port - first_port();
    std::uint32_t taken = minimal;
    if (packet.hops == 0) {
      const std::uint32_t other = sees_queues() ? most_promising(context, row) : best;
      taken = choose(context, visit, row, minimal, other, settings_.q_thld1);
    } else if (packet.hops == 1 && visit.came_by_global && is_local(minimal)) {
      taken = choose(context, visit, row, minimal, kNil, settings_.q_thld2);
    }
    outcome.port = static_cast<Port>(first_port() + taken);
    if (packet.hops > 0) {
      outcome.reports = true;
      outcome.target_ns = static_cast<float>(rule().round(visit.travel_ns) +
                                             static_cast<double>(row[settings_.follow_taken ? taken : best]));
    }
    return outcome;
  }

 private:
  [[nodiscard]] bool is_local(std::uint32_t port) const noexcept {
    return port < topology().num_local_ports();
  }

  [[nodiscard]] std::uint32_t occupancy(const RouteContext& context, std::uint32_t port) const noexcept {
    return context.occupancy_packets(static_cast<Port>(first_port() + port));
  }
  [[nodiscard]] bool sees_queues() const noexcept {
    return settings_.queue_weight > 0 || settings_.occupancy_weight > 0;
  }
  // The time that a port promises: its value, and what waits in front of it at this moment.
  [[nodiscard]] double promise(const RouteContext& context, const float* row,
                               std::uint32_t port) const noexcept {
    const auto value = static_cast<double>(row[port]);
    if (!sees_queues()) return value;
    const TimePs packet_ps = time_of(static_cast<Port>(first_port() + port)).packet_ps;
    const std::uint32_t queued = context.ports()[first_port() + port].queued;
    return value +
           static_cast<double>(packet_ps) / kPsPerNs *
               (settings_.queue_weight * queued + settings_.occupancy_weight * occupancy(context, port));
  }
  [[nodiscard]] std::uint32_t most_promising(const RouteContext& context, const float* row) const noexcept {
    std::uint32_t best = 0;
    for (std::uint32_t port = 1; port < table().shape().ports; ++port) {
      if (promise(context, row, port) < promise(context, row, best)) best = port;
    }
    return best;
  }

  // The port to explore: any, or from there on round the router the first with the fewest packets.
  [[nodiscard]] std::uint32_t unknown_port(const RouteContext& context, const float* row,
                                           double draw) const noexcept {
    const std::uint32_t ports = table().shape().ports;
    const auto drawn = static_cast<std::uint32_t>(draw * ports);
    if (!settings_.explore_quiet) return drawn;
    std::uint32_t quiet = drawn;
    for (std::uint32_t i = 1; i < ports; ++i) {
      const std::uint32_t port = drawn + i < ports ? drawn + i : drawn + i - ports;
      if (open(row, port) && (!open(row, quiet) || occupancy(context, port) < occupancy(context, quiet))) {
        quiet = port;
      }
    }
    return quiet;
  }

  // Equation 2, then epsilon-greedy. `best` kNil: a random local port stands for the alternatives.
  [[nodiscard]] std::uint32_t choose(const RouteContext& context, const Visit& visit, const float* row,
                                     std::uint32_t minimal, std::uint32_t best,
                                     double threshold) const noexcept {
    RandomStream draws = context.learning_stream();
    const double explore = draws.uniform();
    const double which = draws.uniform();
    if (best == kNil) best = static_cast<std::uint32_t>(draws.uniform() * topology().num_local_ports());
    const double q_minimal = promise(context, row, minimal);
    const bool stay = (q_minimal - promise(context, row, best)) / q_minimal < threshold || !open(row, best);
    const std::uint32_t greedy = stay ? minimal : best;
    if (explore >= settings_.epsilon || !rule().learns(visit.now_ps)) return greedy;
    const std::uint32_t port = unknown_port(context, row, which);
    return open(row, port) ? port : greedy;
  }

  void fill(std::uint32_t router, std::uint32_t target, float* values) const override {
    const std::uint32_t group = rows() == TableRows::kRouter ? topology().group_of(target) : target;
    const bool own = group == topology().group_of(router);
    for (std::uint32_t i = 0; i < table().shape().ports; ++i) {
      const auto port = static_cast<Port>(first_port() + i);
      const Endpoint next = topology().neighbor(router, port);
      if (next.port != kNoPort) values[i] = own ? 0.0F : initial(port, next.router, group);
    }
  }

  [[nodiscard]] float initial(Port port, std::uint32_t next, std::uint32_t group) const noexcept {
    const auto share = [this](const HopTime& hop) {
      return settings_.path_time ? hop.hop_ps : hop.latency_ps;
    };
    TimePs ps = 0;
    if (!settings_.path_time && topology().has_meshes()) {  // as published: whichever the port is
      const bool direct = topology().is_global(port) && topology().group_of(next) == group;
      ps = global_time().latency_ps + (direct ? 0 : local_time().latency_ps);
    } else {
      ps = share(time_of(port));
      while (topology().group_of(next) != group) {  // on from there
        const Port on = topology().port_towards_group(next, group);
        ps += share(time_of(on));
        next = topology().neighbor(next, on).router;
      }
    }
    return static_cast<float>(rule().round(static_cast<double>(ps) / kPsPerNs));
  }

  Settings settings_;
};

std::unique_ptr<RoutingPolicy> make_q_adaptive(const PolicyInfo& info, const Parameters& given,
                                               const PolicyEnvironment& /*environment*/) {
  const LearningRule rule{
      .alpha = real_parameter(info, given, "alpha", 0, 1),
      .beta = real_parameter(info, given, "beta", 0, 1),
      .integer_values = flag_parameter(info, given, "integer_values", false),
      .until_ps = static_cast<TimePs>(real_parameter(info, given, "learn_until_ns", 0, 1e12) * kPsPerNs)};
  const Settings settings{
      .epsilon = real_parameter(info, given, "epsilon", 0, 1),
      .q_thld1 = number_parameter(info, given, "q_thld1"),
      .q_thld2 = number_parameter(info, given, "q_thld2"),
      .follow_taken = choice_parameter(info, given, "next_value", {"best", "taken"}) == 1,
      .path_time = choice_parameter(info, given, "initial_values", {"latency", "path-time"}) == 1,
      .explore_quiet = choice_parameter(info, given, "exploration", {"uniform", "least-occupied"}) == 1,
      .queue_weight = real_parameter(info, given, "queue_weight", 0, 1e6),
      .occupancy_weight = real_parameter(info, given, "occupancy_weight", 0, 1e6)};
  const auto rows =
      static_cast<TableRows>(choice_parameter(info, given, "rows", {"group-slot", "group", "router"}));
  return std::make_unique<QAdaptive>(rows, rule, settings);
}

PolicyInfo info_of(std::string name, std::string summary, std::string source, std::string initial_values,
                   double queue_weight) {
  return {
      std::move(name),
      std::move(summary),
      std::move(source),
      "all",
      "port",
      {{"alpha", 0.2, "", "learning rate of good news (equation 3)"},
       {"beta", 0.04, "", "learning rate of bad news (equation 3)"},
       {"epsilon", 0.001, "", "share of random ports where there is a choice"},
       {"q_thld1", 0.2, "", "advantage that leaves the minimal port at the source router (equation 2)"},
       {"q_thld2", 0.35, "", "the same at the first router of an intermediate group"},
       {"integer_values", false, "", "whole nanoseconds, truncated, as in the authors' program"},
       {"next_value", std::string{"best"}, "",
        "the next router reports its best value, or that of the port 'taken'"},
       {"initial_values", std::move(initial_values), "",
        "link latencies to the destination group, or the 'path-time' without congestion"},
       {"rows", std::string{"group-slot"}, "", "a row per destination 'group-slot', 'group' or 'router'"},
       {"exploration", std::string{"uniform"}, "",
        "explored ports: all alike ('uniform'), or the 'least-occupied' one"},
       {"queue_weight", queue_weight, "packet times",
        "added to a port's value for every packet in its queues, where ports are compared"},
       {"occupancy_weight", 0.0, "packet times", "the same for every packet in its queues and credit in use"},
       {"learn_until_ns", 0.0, "ns", "tables are frozen and nothing is explored from then; 0: never"}},
      make_q_adaptive};
}

}  // namespace

std::vector<PolicyInfo> q_adaptive_policies() {
  return {
      info_of("q-adaptive", "learns by two-level Q-tables which port reaches a group soonest",
              "Kang, Wang, Lan, HPDC 2021, section 4", "latency", 0),
      info_of("q-adaptive-queue",
              "Q-adaptive that starts with the times of free paths and adds the wait in a port's own queues",
              "this project, after Kang, Wang, Lan, HPDC 2021", "path-time", 1)};
}

}  // namespace dragonfly
