#include "core/parameter_set.hpp"
#include "routing/learning.hpp"

namespace dragonfly {

namespace {

struct QAdaptiveSettings : ParameterSet {
  using ParameterSet::ParameterSet;
  Real alpha{this,
             {"alpha", 0.2, "", "learning rate of good news. Source: HPDC 2021, equation 3", between(0, 1)}};
  Real beta{this,
            {"beta", 0.04, "", "learning rate of bad news. Source: HPDC 2021, equation 3", between(0, 1)}};
  Real epsilon{
      this,
      {"epsilon", 0.001, "",
       "probability of a random port at the two routers that decide. Source: HPDC 2021, 5.1", between(0, 1)}};
  Real q_thld1{
      this,
      {"q_thld1", 0.2, "",
       "relative gain above which the source router leaves the minimal port (equation 2). Source: HPDC "
       "2021, 5.1",
       between(-1e9, 1e9)}};
  Real q_thld2{this,
               {"q_thld2", 0.35, "",
                "relative gain above which the first router of an intermediate group leaves the minimal "
                "port. Source: HPDC 2021, 5.1",
                between(-1e9, 1e9)}};
  Flag integer_values{
      this,
      {"integer_values", false, "",
       "whether values are whole nanoseconds, truncated after each update, as in the authors' program: bad "
       "news below 1/beta ns then change nothing, and good news always subtract at least 1 ns"}};
  Choice next_value{this,
                    {"next_value", std::string{"best"}, "",
                     "value that the next router reports: its best value (the paper), or the value of the "
                     "port that the packet takes",
                     among({"best", "taken"})}};
  Choice initial_values{
      this,
      {"initial_values", std::string{"latency"}, "",
       "initial values: link latencies to the destination group (the paper), or the time of the whole path "
       "without congestion, which also differs between ports with equal latencies",
       among({"latency", "path-time"})}};
  Choice rows{this,
              {"rows", std::string{"group-slot"}, "",
               "key of a row: destination group and source slot (the two-level table), destination group, or "
               "destination router",
               among({"group-slot", "group", "router"})}};
  Choice exploration{
      this,
      {"exploration", std::string{"uniform"}, "",
       "port that a router explores: a random port (the paper), or the port with the fewest packets in its "
       "queues and credits in use; among equal ports, the next one after a random port",
       among({"uniform", "least-occupied"})}};
  Real queue_weight{
      this,
      {"queue_weight", 0.0, "packet times",
       "time that the router adds to a port's value per packet in the port's output queues, in packet times, "
       "if it compares ports: the table has the port's mean time, the queue its present state. 0: none (the "
       "paper); 1: the time that sending the queue takes. Values reported to other routers do not contain it",
       between(0, 1e6)}};
  Real occupancy_weight{
      this,
      {"occupancy_weight", 0.0, "packet times",
       "time that the router adds to a port's value per queued packet and per credit in use, in packet "
       "times, if it compares ports. A long link has many credits in use even without congestion",
       between(0, 1e6)}};
  Choice source_ports{
      this,
      {"source_ports", std::string{"all"}, "",
       "ports that the source router compares with the minimal port: all (the paper), or the global ones. "
       "After a local port, packets go minimally, back to the global link that they were to avoid",
       among({"all", "global"})}};
  Real learn_until_ns{
      this,
      {"learn_until_ns", 0.0, "ns",
       "time from which on tables are frozen and routers explore no more; 0: never", between(0, 1e12)}};

  [[nodiscard]] bool follows_taken() const noexcept { return next_value == 1; }
  [[nodiscard]] bool path_time() const noexcept { return initial_values == 1; }
  [[nodiscard]] bool weighs_global() const noexcept { return source_ports == 1; }
  [[nodiscard]] bool explores_quiet() const noexcept { return exploration == 1; }
  [[nodiscard]] LearningRule rule() const noexcept {
    return {.alpha = alpha,
            .beta = beta,
            .integer_values = integer_values,
            .until_ps = static_cast<TimePs>(learn_until_ns * kPsPerNs)};
  }
};

// Q-adaptive: the source router and the first router of an intermediate group compare the minimal port with
// the table's values of the others; hysteretic updates. Where source routers have no global links, the next
// router, which has some, compares as a source router does.
// Source: Kang, Wang, Lan, HPDC 2021, section 4, figure 4, equations 2 and 3.
class QAdaptive final : public TableLearner<QAdaptive> {
 public:
  explicit QAdaptive(const QAdaptiveSettings& settings)
      : TableLearner{static_cast<TableRows>(std::uint32_t{settings.rows}), settings.rule()},
        settings_{settings} {}

  [[nodiscard]] PathBudget budget() const noexcept override { return {.any_port = true, .longest_path = 5}; }

  // Whether the packet is at one of the two deciding routers: the source router, or the first router of an
  // intermediate group.
  [[nodiscard]] bool draws(const DecisionContext& decision, const Visit& visit) const {
    const std::uint32_t hops = decision.packet().hops;
    if (hops <= last_source_hop()) return true;
    return hops == last_source_hop() + 1 && visit.arrived_on_global &&
           is_local(visit.minimal_port - first_port());
  }
  [[nodiscard]] RouteChoice visit(const DecisionContext& decision, const Visit& visit,
                                  RandomStream* draws) const {
    RouteChoice choice;
    const Packet& packet = decision.packet();
    const float* const row = table().row(decision.router(), visit.row);
    const std::uint32_t best = table().best(row);
    const std::uint32_t minimal = visit.minimal_port - first_port();
    std::uint32_t taken = minimal;
    if (draws != nullptr && packet.hops <= last_source_hop()) {
      const std::uint32_t first = settings_.weighs_global() ? topology().num_local_ports() : 0U;
      const std::uint32_t other = sees_queues() || first > 0 ? most_promising(decision, row, first) : best;
      taken = choose(decision, visit, *draws, row, minimal, other, settings_.q_thld1);
    } else if (draws != nullptr) {
      taken = choose(decision, visit, *draws, row, minimal, kNil, settings_.q_thld2);
    }
    choice.port = static_cast<Port>(first_port() + taken);
    choice.shortest = taken == minimal;
    if (packet.hops > 0) {
      choice.reports = true;
      choice.target_ns = static_cast<float>(
          rule().round(visit.travel_ns) + static_cast<double>(row[settings_.follows_taken() ? taken : best]));
    }
    return choice;
  }

 private:
  // The hops of a packet at the last router that compares as a source router.
  [[nodiscard]] std::uint32_t last_source_hop() const noexcept {
    return topology().hosts_meet_global_links() ? 0 : 1;
  }
  [[nodiscard]] bool is_local(std::uint32_t port) const noexcept {
    return port < topology().num_local_ports();
  }

  [[nodiscard]] std::uint32_t occupancy(const RouteContext& context, std::uint32_t port) const noexcept {
    return context.occupancy_packets(static_cast<Port>(first_port() + port));
  }
  [[nodiscard]] bool sees_queues() const noexcept {
    return settings_.queue_weight > 0 || settings_.occupancy_weight > 0;
  }
  // The expected time by a port: its value, and the present queue in front of it.
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
  // Among the ports from `first` on, the lowest one of equals. Precondition: there is one.
  [[nodiscard]] std::uint32_t most_promising(const RouteContext& context, const float* row,
                                             std::uint32_t first) const noexcept {
    std::uint32_t best = first;
    for (std::uint32_t port = first + 1; port < table().shape().ports; ++port) {
      if (promise(context, row, port) < promise(context, row, best)) best = port;
    }
    return best;
  }

  // The port to explore: any, or from there on round the router the first with the fewest packets.
  [[nodiscard]] std::uint32_t unknown_port(const RouteContext& context, const float* row,
                                           double draw) const noexcept {
    const std::uint32_t ports = table().shape().ports;
    const auto drawn = static_cast<std::uint32_t>(draw * ports);
    if (!settings_.explores_quiet()) return drawn;
    std::uint32_t quiet = drawn;
    for (std::uint32_t i = 1; i < ports; ++i) {
      const std::uint32_t port = drawn + i < ports ? drawn + i : drawn + i - ports;
      if (open(row, port) && (!open(row, quiet) || occupancy(context, port) < occupancy(context, quiet))) {
        quiet = port;
      }
    }
    return quiet;
  }

  // Equation 2, then epsilon-greedy. `best` kNil: a random local port represents the alternatives.
  [[nodiscard]] std::uint32_t choose(const RouteContext& context, const Visit& visit, RandomStream& draws,
                                     const float* row, std::uint32_t minimal, std::uint32_t best,
                                     double threshold) const noexcept {
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
    if (!topology().group_is_alive(group)) return;
    for (std::uint32_t i = 0; i < table().shape().ports; ++i) {
      const auto port = static_cast<Port>(first_port() + i);
      const Endpoint next = topology().neighbor(router, port);
      if (next.port != kNoPort) values[i] = own ? 0.0F : initial(port, next.router, group);
    }
  }

  [[nodiscard]] float initial(Port port, std::uint32_t next, std::uint32_t group) const noexcept {
    const auto share = [this](const HopTime& hop) {
      return settings_.path_time() ? hop.hop_ps : hop.latency_ps;
    };
    TimePs ps = 0;
    if (!settings_.path_time() && topology().has_meshes()) {  // the published rule, the same for all ports
      const bool direct = topology().is_global(port) && topology().group_of(next) == group;
      ps = global_time().latency_ps + (direct ? 0 : local_time().latency_ps);
    } else {
      ps = share(time_of(port));
      while (topology().group_of(next) != group) {  // follow the minimal path from there
        const Port on = topology().port_towards_group(next, group);
        ps += share(time_of(on));
        next = topology().neighbor(next, on).router;
      }
    }
    return static_cast<float>(rule().round(static_cast<double>(ps) / kPsPerNs));
  }

  QAdaptiveSettings settings_;
};

std::unique_ptr<RoutingPolicy> make_q_adaptive(const PolicyInfo& info, const Parameters& given,
                                               const PolicyEnvironment& /*environment*/) {
  return std::make_unique<QAdaptive>(QAdaptiveSettings{info, given});
}

PolicyInfo info_of(std::string name, std::string summary, std::string source,
                   const Parameters& defaults = {}) {
  std::vector<ParameterInfo> rows = rows_of<QAdaptiveSettings>();
  for (ParameterInfo& row : rows) {
    if (const auto it = defaults.find(row.name); it != defaults.end()) row.default_value = it->second;
  }
  return {std::move(name),    std::move(summary), std::move(source),    "all", "port",
          std::move(rows),    make_q_adaptive,    NonMinimalKind::kLgl, {},    {},
          Knowledge::kDelayed};
}

}  // namespace

std::vector<PolicyInfo> q_adaptive_policies() {
  return {info_of("q-adaptive", "learns in two-level Q-tables how soon each port reaches a group",
                  "Kang, Wang, Lan, HPDC 2021, section 4"),
          info_of("q-adaptive-queue",
                  "Q-adaptive with tables that begin with the times of idle paths; it adds the wait in a "
                  "port's own queues",
                  "this project, after Kang, Wang, Lan, HPDC 2021",
                  {{"initial_values", std::string{"path-time"}}, {"queue_weight", 1.0}}),
          info_of("q-adaptive-fast",
                  "Q-adaptive with usable estimates from the first packet: it considers only non-minimal "
                  "paths through other groups, and also the delay after the first hop",
                  "this project, after Kang, Wang, Lan, HPDC 2021",
                  {{"initial_values", std::string{"path-time"}},
                   {"queue_weight", 2.0},
                   {"source_ports", std::string{"global"}},
                   {"next_value", std::string{"taken"}},
                   {"q_thld2", 0.2}})};
}

}  // namespace dragonfly
