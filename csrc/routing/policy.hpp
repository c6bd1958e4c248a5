// The interface of a routing policy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fixed_list.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "routing/decision_context.hpp"
#include "routing/decision_spec.hpp"
#include "routing/observation_plan.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

class LearningPolicy;

// The action of the head of a host's queue after the crossbar has refused it: it keeps its decision, or
// decides again between the minimal path and the non-minimal one that it drew at first, or with new random
// numbers.
enum class AfterRefusal : std::uint8_t { kKeep, kSamePath, kNewPath };

class RoutingPolicy {
 public:
  RoutingPolicy() = default;
  RoutingPolicy(const RoutingPolicy&) = delete;
  RoutingPolicy& operator=(const RoutingPolicy&) = delete;
  virtual ~RoutingPolicy() = default;

  // The routers at which the policy decides.
  [[nodiscard]] virtual DecisionScope scope() const noexcept = 0;
  // The paths that the policy may use; the VC ladder is built from it.
  [[nodiscard]] virtual PathBudget budget() const noexcept = 0;
  // The kinds of non-minimal path it may take; tests walk every such path.
  [[nodiscard]] virtual std::vector<NonMinimalKind> nonminimal_kinds() const = 0;
  // Whether minimal paths out of the source group may take any gateway (gateways.hpp); tests walk these, too.
  [[nodiscard]] virtual bool any_gateway() const noexcept { return false; }
  // The rule for refused packets, if the network leaves the rule to the policy (decide_at "by-policy").
  // FOGSim's source-adaptive policies keep the path that they drew.
  [[nodiscard]] virtual AfterRefusal after_refusal() const noexcept { return AfterRefusal::kSamePath; }
  // The trackers that the policy needs; RouteContext::tracked() reads them, by the position in this list.
  [[nodiscard]] virtual std::vector<TrackerRequest> trackers() const { return {}; }
  // The rows that the policy reads at every decision, and the legal actions among which it chooses; null:
  // RouteContext is enough. Its scope is scope(), its budget budget().
  [[nodiscard]] virtual const DecisionSpec* sees() const noexcept { return nullptr; }
  // Called once, before the first decision, if the policy reads rows: `plan` holds as long as the policy
  // decides. Throws ConfigError if the policy cannot work with them.
  virtual void prepare_rows(const ObservationPlan& /*plan*/) {}
  // Returns the policy itself if it learns, else null.
  [[nodiscard]] virtual LearningPolicy* learner() noexcept { return nullptr; }
  // Makes some decisions of one time and one partition: for packets that leave their group, and for packets
  // inside a group if scope() includes them or a learner is called for arrivals. All decisions see the
  // network before any choice takes effect, and their order has no meaning. Called from several threads at
  // once, for routers of different groups. Precondition: as many choices as decisions.
  virtual void decide(std::span<const DecisionContext> decisions, std::span<RouteChoice> choices) const = 0;
};

// A policy that makes one decision after the other: `RouteChoice Rule::route(const DecisionContext&) const`,
// compiled into one loop.
template <class Rule>
class PerDecision : public RoutingPolicy {
 public:
  void decide(std::span<const DecisionContext> decisions, std::span<RouteChoice> choices) const final {
    const Rule& rule = static_cast<const Rule&>(*this);
    for (std::size_t i = 0; i < decisions.size(); ++i) choices[i] = rule.route(decisions[i]);
  }
};

// Base for policies where each decision has one stream of random numbers, or the first of several:
// `RandomStream stream_of(const DecisionContext&) const` names the stream, and `RouteChoice route(const
// DecisionContext&, RandomStream& draws) const` draws from it. Four streams begin together.
template <class Rule>
class DrawsPerDecision : public RoutingPolicy {
 public:
  void decide(std::span<const DecisionContext> decisions, std::span<RouteChoice> choices) const final {
    const Rule& rule = static_cast<const Rule&>(*this);
    while (!decisions.empty()) {
      const std::size_t count = std::min<std::size_t>(4, decisions.size());
      FixedList<RandomStream, 4> streams;
      for (const DecisionContext& decision : decisions.first(count)) streams.add(rule.stream_of(decision));
      begin_together(streams.all());
      for (std::size_t i = 0; i < count; ++i) choices[i] = rule.route(decisions[i], streams.all()[i]);
      decisions = decisions.subspan(count);
      choices = choices.subspan(count);
    }
  }
};

// Properties of the network that a policy receives when it is made.
struct PolicyEnvironment {
  // The network's conventions: for random non-minimal paths, and for the congestion metric of Piggyback.
  bool avoid_destination_group = true;
  bool compares_vcs = false;
  // Whether source routers have global links of their own (Numbering::hosts_meet_global_links).
  bool own_global_links = true;
};

// A row of the registry.
struct PolicyInfo {
  std::string name;
  std::string summary;
  std::string source;
  std::string
      scope;  // scope of the default parameters, as the batched environment names it; "all": it learns
  std::string action;
  std::vector<ParameterInfo> parameters;
  std::unique_ptr<RoutingPolicy> (*make)(const PolicyInfo&, const Parameters&,
                                         const PolicyEnvironment&) = nullptr;
  NonMinimalKind nonminimal = NonMinimalKind::kLgl;  // kind of path, for families that differ in nothing else
  std::vector<std::string> features{};  // features that the policy reads in addition to the usual ones
  std::vector<std::string> aliases{};   // further names that papers use
  // Beyond that of `features`: see knowledge_of().
  Knowledge knowledge = Knowledge::kLocal;
};

// To add a policy: a file csrc/routing/<name>.cpp with a function `std::vector<PolicyInfo>
// <name>_policies()`, and its line in registry.cpp.
[[nodiscard]] const std::vector<PolicyInfo>& policy_registry();

// Throws ConfigError for an unknown name or parameter, with the nearest match.
[[nodiscard]] const PolicyInfo& find_policy(std::string_view name);

// The knowledge that a policy needs: the most of its own and of its features. A neural network has that of
// the features that it reads.
[[nodiscard]] Knowledge knowledge_of(const PolicyInfo& info);
[[nodiscard]] std::unique_ptr<RoutingPolicy> make_policy(std::string_view name, const Parameters& parameters,
                                                         const PolicyEnvironment& environment);

}  // namespace dragonfly
