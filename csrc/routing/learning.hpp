// Policies that learn from the reports of the next router on the path.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "core/fixed_list.hpp"
#include "core/random.hpp"
#include "core/time.hpp"
#include "routing/policy.hpp"
#include "routing/q_table.hpp"

namespace dragonfly {

// Delays of a hop without congestion, which the network gives a learner before the first packet.
struct HopTime {
  TimePs latency_ps = 0;  // latency of the link alone
  TimePs hop_ps = 0;      // time from the input buffer of one router to that of the next
  TimePs packet_ps = 0;   // one packet on the link
};
using HopTimes = std::array<HopTime, kMostLinkClasses>;

// A packet at router y that came from router x: a learner's data next to the decision.
struct Visit {
  bool arrived_on_global = false;  // x is in another group
  double travel_ns = 0;            // time from the input buffer of x to that of y
  TimePs now_ps = 0;
  // The row of the packet, by its exit:
  std::uint32_t row = 0;        // row of the packet in y's table
  Port minimal_port = kNoPort;  // port of y towards the destination
};

// The meaning of a row of a router's table. By group, the router's own group has no rows.
enum class TableRows : std::uint8_t {
  kGroupSlot,  // destination group and the packet's slot on its source router (the two-level table)
  kGroup,      // destination group
  kRouter,     // destination router
};

struct LearningRule {
  double alpha = 0.2;           // rate of good news
  double beta = 0.2;            // rate of bad news
  bool integer_values = false;  // whole nanoseconds, truncated
  TimePs until_ps = 0;          // tables are frozen from then; 0: never
  bool inside_groups = false;   // tables have values for paths inside the destination group, too

  [[nodiscard]] bool learns(TimePs now_ps) const noexcept { return until_ps == 0 || now_ps < until_ps; }
  [[nodiscard]] double round(double ns) const noexcept { return integer_values ? std::trunc(ns) : ns; }
};

// Whether a learner with LearningRule::inside_groups is called for a packet that has reached its destination
// group, so that it can report. A packet that never left its group has no such report: in a full mesh it has
// passed one local link at most.
[[nodiscard]] inline bool reports_arrival(const Dragonfly& topology, const Packet& packet,
                                          Port input_port) noexcept {
  if (topology.is_global(input_port)) return true;
  return topology.has_meshes() ? packet.hops > 1
                               : topology.group_of_host(packet.source_host) != packet.destination_group;
}

// Called at every router outside the destination group, and for arrivals there if its tables have values for
// paths inside (reports_arrival); else such packets report the travel time alone (note_arrival). The choice
// of y is a port, or none in the destination group; its report to x is RouteChoice::target_ns, the travel
// time and y's estimate of the rest. Reports travel back with the credit for the packet's place in the buffer
// of y: they leave when the packet leaves that buffer, and take no bandwidth, as in SST/Merlin, the simulator
// of Kang et al., HPDC 2021.
class LearningPolicy : public RoutingPolicy {
 public:
  [[nodiscard]] DecisionScope scope() const noexcept final { return DecisionScope::kEvery; }
  [[nodiscard]] std::vector<NonMinimalKind> nonminimal_kinds() const final { return {}; }
  [[nodiscard]] AfterRefusal after_refusal() const noexcept final { return AfterRefusal::kKeep; }
  [[nodiscard]] LearningPolicy* learner() noexcept final { return this; }

  [[nodiscard]] TableShape shape(const Dragonfly& topology) const noexcept {
    const std::uint32_t others = topology.num_groups() - 1;
    const std::uint32_t rows = rows_ == TableRows::kRouter      ? topology.num_routers()
                               : rows_ == TableRows::kGroupSlot ? others * topology.p()
                                                                : others;
    return {topology.num_routers(), rows > 0 ? rows : 1U, topology.num_network_ports()};
  }
  // Once, before the first packet. The topology must outlive the policy.
  void prepare(const Dragonfly& topology, const HopTimes& times) {
    topology_ = &topology;
    times_ = times;
    first_port_ = topology.first_local_port();
    slots_ = rows_ == TableRows::kGroupSlot ? topology.p() : 1U;
    table_.resize(shape(topology));
    if (rows_ != TableRows::kRouter && topology.num_groups() == 1) return;  // no row has a meaning
    for (std::uint32_t router = 0; router < table_.shape().routers; ++router) {
      for (std::uint32_t row = 0; row < table_.shape().rows; ++row) {
        fill(router, target_of(router, row), table_.row(router, row));
      }
    }
  }

  // Between windows: some links have failed, and some have returned, both ends of each. Their ports are
  // closed, or have the first values of the machine as it is now; all other values stay.
  void change_links(std::span<const Endpoint> failed, std::span<const Endpoint> returned);

  // The row of a packet at the routers of a group. Precondition, unless rows are by router: the packet's
  // destination is in another group.
  [[nodiscard]] std::uint32_t row_of(const Packet& packet, std::uint32_t group) const noexcept {
    if (rows_ == TableRows::kRouter) return packet.destination_router;
    const std::uint32_t target = packet.destination_group;
    return (target - (target > group ? 1U : 0U)) * slots_ +
           (slots_ == 1 ? 0U : topology_->host_port(packet.source_host));
  }
  [[nodiscard]] bool decides_about_arrivals() const noexcept { return rule_.inside_groups; }
  // Time from the input buffer of the router before to that of the present one. Such packets keep it in the
  // place of a non-minimal path, which they do not have (hop_feedback.hpp).
  [[nodiscard]] static double travel_ns(const Packet& packet, TimePs quantum_ps) noexcept {
    return static_cast<double>(packet.intermediate_router * quantum_ps) / kPsPerNs;
  }
  // The report of a packet that comes into its destination group without a decision there.
  [[nodiscard]] float arrival_ns(const Packet& packet, TimePs quantum_ps) const noexcept {
    return static_cast<float>(rule_.round(travel_ns(packet, quantum_ps)));
  }
  // Prefetches the row that a decision or learn() is going to use.
  void prefetch_row(std::uint32_t router, std::uint32_t row) const noexcept {
    table_.prefetch_row(router, row);
  }
  // Applies a report on a packet that left `router` through `port`. Changes rows of this router only. A
  // closed port stays closed, and a router whose ports are all closed has no estimate to learn from.
  void learn(std::uint32_t router, Port port, std::uint32_t row, float target_ns, TimePs now_ps) noexcept {
    if (!rule_.learns(now_ps)) return;
    float& value = table_.row(router, row)[port - first_port_];
    const double delta = static_cast<double>(target_ns) - static_cast<double>(value);
    if (!std::isfinite(delta)) return;
    const double rate = delta < 0 ? rule_.alpha : rule_.beta;
    value = static_cast<float>(rule_.round(static_cast<double>(value) + rate * delta));
  }
  [[nodiscard]] QTable& table() noexcept { return table_; }
  // Archives the table. Precondition: prepare() was called.
  void archive(Archive& archive) { archive(table_); }
  // Replaces the table; ports without a link stay closed for all values. Precondition: prepared.
  // Throws ConfigError, and changes nothing, for another number of values, for NaN and for minus infinity.
  void load(std::span<const float> values);

 protected:
  LearningPolicy(TableRows rows, const LearningRule& rule) : rows_{rows}, rule_{rule} {}

  // The first values of a row; unconnected ports keep their infinite ones. `target`: group or router.
  virtual void fill(std::uint32_t router, std::uint32_t target, float* values) const = 0;

  [[nodiscard]] const Dragonfly& topology() const noexcept { return *topology_; }
  [[nodiscard]] const HopTime& time_of(Port port) const noexcept {
    return times_[index_of(topology_->port_class(port))];
  }
  // Times of hops on idle links, in groups that are assumed to be meshes.
  [[nodiscard]] const HopTime& local_time() const noexcept { return times_[1]; }
  [[nodiscard]] const HopTime& global_time() const noexcept {
    return times_[index_of(topology_->global_class())];
  }
  [[nodiscard]] std::uint32_t first_port() const noexcept { return first_port_; }
  [[nodiscard]] const QTable& table() const noexcept { return table_; }
  [[nodiscard]] static bool open(const float* row, std::uint32_t port) noexcept {
    return row[port] < std::numeric_limits<float>::infinity();
  }
  [[nodiscard]] const LearningRule& rule() const noexcept { return rule_; }
  [[nodiscard]] TableRows rows() const noexcept { return rows_; }

 private:
  [[nodiscard]] std::uint32_t target_of(std::uint32_t router, std::uint32_t row) const noexcept {
    if (rows_ == TableRows::kRouter) return row;
    const std::uint32_t group = row / slots_;
    return group + (group >= topology_->group_of(router) ? 1U : 0U);
  }

  TableRows rows_;
  LearningRule rule_;
  const Dragonfly* topology_ = nullptr;
  HopTimes times_{};
  std::uint32_t first_port_ = 0;
  std::uint32_t slots_ = 1;
  QTable table_;
};

// A learner that makes one decision after the other: `RouteChoice Rule::visit(const DecisionContext&, const
// Visit&, RandomStream* draws) const`, which reads rows of that router only, compiled into one loop. The
// caller has prefetched the rows. `bool Rule::draws(const DecisionContext&, const Visit&) const` selects the
// decisions that take random numbers; their streams begin together, `draws` is null for the others.
template <class Rule>
class TableLearner : public LearningPolicy {
 public:
  void decide(std::span<const DecisionContext> decisions, std::span<RouteChoice> choices) const final {
    const Rule& rule = static_cast<const Rule&>(*this);
    while (!decisions.empty()) {
      const std::size_t count = std::min(kAtOnce, decisions.size());
      FixedList<Visit, kAtOnce> visits;
      FixedList<RandomStream, kAtOnce> streams;
      for (const DecisionContext& decision : decisions.first(count)) {
        visits.add(visit_of(decision));
        if (rule.draws(decision, visits.all().back())) streams.add(decision.learning_stream());
      }
      begin_together(streams.all());
      RandomStream* next = streams.all().data();
      for (std::size_t i = 0; i < count; ++i) {
        const Visit& visit = visits.all()[i];
        choices[i] = rule.visit(decisions[i], visit, rule.draws(decisions[i], visit) ? next++ : nullptr);
      }
      decisions = decisions.subspan(count);
      choices = choices.subspan(count);
    }
  }

 protected:
  using LearningPolicy::LearningPolicy;

 private:
  static constexpr std::size_t kAtOnce = 32;

  [[nodiscard]] Visit visit_of(const DecisionContext& decision) const noexcept {
    const Packet& packet = decision.packet();
    const TimePs quantum = decision.view().quantum_ps;
    Visit visit{.arrived_on_global = topology().is_global(decision.input_port()),
                .travel_ns = travel_ns(packet, quantum),
                .now_ps = decision.view().now * quantum};
    if (decision.leaves()) {
      visit.row = row_of(packet, decision.group());
      visit.minimal_port = decision.paths().leads_along_links(packet, decision.router(), decision.group())
                               ? topology().only_port_out(decision.router(), packet.destination_group)
                               : topology().minimal_port(decision.router(), packet.destination_router,
                                                         decision.paths().choice_of(packet));
    }
    return visit;
  }
};

}  // namespace dragonfly
