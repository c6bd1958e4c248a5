#include <algorithm>
#include <cmath>
#include <limits>

#include "routing/learning.hpp"
#include "routing/parameters.hpp"

namespace dragonfly {

namespace {

// What a row of the table stands for.
enum class Rows : std::uint8_t {
  kGroupSlot,  // destination group and the packet's slot on its source router (the two-level table)
  kGroup,      // destination group
  kRouter,     // destination router
};

struct Settings {
  double alpha = 0.2;
  double beta = 0.04;
  double epsilon = 0.001;
  double q_thld1 = 0.2;
  double q_thld2 = 0.35;
  bool integer_values = false;
  bool follow_taken = false;  // Q_y of the port really taken, not of the best
  bool path_time = false;     // initial values by the time of the whole way, not by link latencies
  Rows rows = Rows::kGroupSlot;
  TimePs learn_until_ps = 0;  // 0: for ever
};

// Q-adaptive: the source router and the first router of an intermediate group weigh the minimal port
// against what the table says of the others; hysteretic updates.
// Source: Kang, Wang, Lan, HPDC 2021, section 4, figure 4, equations 2 and 3.
class QAdaptive final : public LearningPolicy {
 public:
  explicit QAdaptive(const Settings& settings) : settings_{settings} {}

  [[nodiscard]] PathBudget budget() const noexcept override { return {.any_port = true, .longest_path = 5}; }

  void prepare(const Dragonfly& topology, const HopTimes& times) override {
    topology_ = &topology;
    first_port_ = topology.p();
    slots_ = settings_.rows == Rows::kGroupSlot ? topology.p() : 1U;
    const std::uint32_t others = topology.num_groups() - 1;
    const std::uint32_t rows = settings_.rows == Rows::kRouter ? topology.num_routers() : others * slots_;
    table_.resize(topology.num_routers(), std::max(rows, 1U), topology.radix() - topology.p());
    for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
      for (std::uint32_t row = 0; row < rows; ++row) fill(router, row, times);
    }
  }

  [[nodiscard]] VisitOutcome visit(const RouteContext& context, const Visit& visit) const override {
    VisitOutcome outcome;
    if (!visit.leaves) {  // the group is reached: nothing left to estimate
      outcome.reports = visit.came_by_global;
      outcome.target_ns = static_cast<float>(round(visit.travel_ns));
      return outcome;
    }
    const Packet& packet = context.packet();
    const float* const row = table_.row(context.router(), row_of(context.group(), key(packet)));
    const std::uint32_t minimal =
        topology_->minimal_port(context.router(), packet.destination_router) - first_port_;
    std::uint32_t taken = minimal;
    if (packet.hops == 0) {
      taken = choose(context, visit, row, minimal, table_.best(row), settings_.q_thld1);
    } else if (packet.hops == 1 && visit.came_by_global && is_local(minimal)) {
      taken = choose(context, visit, row, minimal, kNil, settings_.q_thld2);
    }
    outcome.port = static_cast<Port>(first_port_ + taken);
    if (packet.hops > 0) {
      outcome.reports = true;
      const double rest = row[settings_.follow_taken ? taken : table_.best(row)];
      outcome.target_ns = static_cast<float>(round(visit.travel_ns) + rest);
    }
    return outcome;
  }

  [[nodiscard]] std::uint32_t key(const Packet& packet) const noexcept override {
    if (settings_.rows == Rows::kRouter) return packet.destination_router;
    return packet.destination_group * slots_ + (slots_ == 1 ? 0U : packet.source_host % slots_);
  }

  void touch(std::uint32_t router, std::uint32_t key) const noexcept override {
    const std::uint32_t group = topology_->group_of(router);
    if (settings_.rows != Rows::kRouter && key / slots_ == group) return;  // no such row
    table_.touch(router, row_of(group, key));
  }

  void learn(std::uint32_t router, Port port, std::uint32_t key, float target_ns, TimePs now_ps) override {
    if (!learns(now_ps)) return;
    float& value = table_.row(router, row_of(topology_->group_of(router), key))[port - first_port_];
    const double delta = static_cast<double>(target_ns) - static_cast<double>(value);
    const double rate = delta < 0 ? settings_.alpha : settings_.beta;
    value = static_cast<float>(round(static_cast<double>(value) + rate * delta));
  }

  [[nodiscard]] QTable& table() noexcept override { return table_; }

 private:
  // The authors' program keeps whole nanoseconds.
  [[nodiscard]] double round(double ns) const noexcept {
    return settings_.integer_values ? std::trunc(ns) : ns;
  }

  [[nodiscard]] bool learns(TimePs now_ps) const noexcept {
    return settings_.learn_until_ps == 0 || now_ps < settings_.learn_until_ps;
  }

  [[nodiscard]] bool is_local(std::uint32_t port) const noexcept { return port + 1 < topology_->a(); }

  // A router's own group has no rows.
  [[nodiscard]] std::uint32_t row_of(std::uint32_t group, std::uint32_t key) const noexcept {
    if (settings_.rows == Rows::kRouter) return key;
    return key >= (group + 1) * slots_ ? key - slots_ : key;
  }

  // Equation 2, then epsilon-greedy. `best` kNil: a random local port stands for the alternatives.
  [[nodiscard]] std::uint32_t choose(const RouteContext& context, const Visit& visit, const float* row,
                                     std::uint32_t minimal, std::uint32_t best,
                                     double threshold) const noexcept {
    RandomStream draws = context.learning_stream();
    const double explore = draws.uniform();
    const double which = draws.uniform();
    if (best == kNil) best = static_cast<std::uint32_t>(draws.uniform() * (topology_->a() - 1));
    const double q_minimal = row[minimal];
    const bool stay = (q_minimal - static_cast<double>(row[best])) / q_minimal < threshold;
    const std::uint32_t greedy = stay ? minimal : best;
    if (explore >= settings_.epsilon || !learns(visit.now_ps)) return greedy;
    const auto port = static_cast<std::uint32_t>(which * table_.ports());
    const Endpoint next = topology_->neighbor(context.router(), static_cast<Port>(first_port_ + port));
    return next.port == kNoPort ? greedy : port;
  }

  void fill(std::uint32_t router, std::uint32_t row, const HopTimes& times) {
    const std::uint32_t own = topology_->group_of(router);
    float* const values = table_.row(router, row);
    std::uint32_t group = row / slots_;
    if (settings_.rows == Rows::kRouter) {
      group = topology_->group_of(row);
    } else if (group >= own) {
      ++group;
    }
    for (std::uint32_t i = 0; i < table_.ports(); ++i) {
      const auto port = static_cast<Port>(first_port_ + i);
      const Endpoint next = topology_->neighbor(router, port);
      values[i] = next.port == kNoPort ? std::numeric_limits<float>::infinity()
                  : group == own       ? 0.0F
                                       : initial(port, next.router, group, times);
    }
  }

  [[nodiscard]] float initial(Port port, std::uint32_t next, std::uint32_t group,
                              const HopTimes& times) const noexcept {
    const bool global = topology_->port_class(port) == LinkClass::kGlobal;
    const bool direct = global && topology_->group_of(next) == group;
    TimePs ps = 0;
    if (!settings_.path_time) {
      ps = times.global_latency_ps + (direct ? 0 : times.local_latency_ps);
    } else {
      ps = global ? times.global_hop_ps : times.local_hop_ps;
      if (!direct) {  // from the next router: its own link, or through a local hop
        const Port on = topology_->port_towards_group(next, group);
        const bool own_link = topology_->port_class(on) == LinkClass::kGlobal;
        ps += times.global_hop_ps + (own_link ? 0 : times.local_hop_ps);
      }
    }
    return static_cast<float>(round(static_cast<double>(ps) / kPsPerNs));
  }

  Settings settings_;
  const Dragonfly* topology_ = nullptr;
  std::uint32_t first_port_ = 0;
  std::uint32_t slots_ = 1;
  QTable table_;
};

std::unique_ptr<RoutingPolicy> make_q_adaptive(const PolicyInfo& info, const Parameters& given,
                                               const PolicyEnvironment& /*environment*/) {
  Settings settings;
  settings.alpha = real_parameter(info, given, "alpha", 0, 1);
  settings.beta = real_parameter(info, given, "beta", 0, 1);
  settings.epsilon = real_parameter(info, given, "epsilon", 0, 1);
  settings.q_thld1 = number_parameter(info, given, "q_thld1");
  settings.q_thld2 = number_parameter(info, given, "q_thld2");
  settings.integer_values = flag_parameter(info, given, "integer_values", false);
  settings.follow_taken = choice_parameter(info, given, "next_value", {"best", "taken"}) == 1;
  settings.path_time = choice_parameter(info, given, "initial_values", {"latency", "path-time"}) == 1;
  settings.rows = static_cast<Rows>(choice_parameter(info, given, "rows", {"group-slot", "group", "router"}));
  settings.learn_until_ps =
      static_cast<TimePs>(real_parameter(info, given, "learn_until_ns", 0, 1e12) * kPsPerNs);
  return std::make_unique<QAdaptive>(settings);
}

}  // namespace

std::vector<PolicyInfo> q_adaptive_policies() {
  return {
      {"q-adaptive",
       "learns by two-level Q-tables which port reaches a group soonest",
       "Kang, Wang, Lan, HPDC 2021, section 4",
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
        {"initial_values", std::string{"latency"}, "",
         "link latencies to the destination group, or the 'path-time' without congestion"},
        {"rows", std::string{"group-slot"}, "", "a row per destination 'group-slot', 'group' or 'router'"},
        {"learn_until_ns", 0.0, "ns", "tables are frozen and nothing is explored from then; 0: never"}},
       make_q_adaptive}};
}

}  // namespace dragonfly
