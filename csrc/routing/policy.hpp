// The interface of a routing policy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters.hpp"
#include "routing/route_context.hpp"
#include "routing/router_tracker.hpp"

namespace dragonfly {

// Where a policy is asked. Everywhere else packets follow their plan.
enum class DecisionScope : std::uint8_t {
  kNowhere,      // minimal routing
  kSource,       // at the source router
  kEvery,        // at every router that a packet passes: policies that learn, see learning.hpp
  kSourceGroup,  // at the source router, and once more at the second router of the source group
                 // while the packet is still on its minimal path
};

// Stay minimal (no detour), or take the detour.
struct Decision {
  Detour detour{};
  std::uint32_t minimal_choice = kAsDrawn;  // which of several equally short paths

  static constexpr std::uint32_t kAsDrawn = 0xffffffffU;  // the packet's own choice (PathFollower::choice_of)
};

class LearningPolicy;

class RoutingPolicy {
 public:
  RoutingPolicy() = default;
  RoutingPolicy(const RoutingPolicy&) = delete;
  RoutingPolicy& operator=(const RoutingPolicy&) = delete;
  virtual ~RoutingPolicy() = default;

  [[nodiscard]] virtual DecisionScope scope() const noexcept = 0;
  // What paths it may use; the VC ladder is built from it.
  [[nodiscard]] virtual PathBudget budget() const noexcept = 0;
  // The kinds of detour it may take; tests walk every such path.
  [[nodiscard]] virtual std::vector<DetourKind> detour_kinds() const = 0;
  // What routers must remember for it; RouteContext::tracked() reads it, by the position in this list.
  [[nodiscard]] virtual std::vector<TrackerRequest> trackers() const { return {}; }
  // This policy, if it learns.
  [[nodiscard]] virtual LearningPolicy* learner() noexcept { return nullptr; }
  // Asked for packets that leave their group only (traffic inside a group is always minimal).
  // Called from several threads at once, for routers of different groups.
  [[nodiscard]] virtual Decision route(RouteContext& context) const = 0;
};

// What the network tells a policy when it is made.
struct PolicyEnvironment {
  bool avoid_destination_group = true;  // the network's convention for random detours
};

// One row of the registry.
struct PolicyInfo {
  std::string name;
  std::string summary;
  std::string source;
  std::string scope;  // the batched environment that its NumPy twin needs
  std::string action;
  std::vector<ParameterInfo> parameters;
  std::unique_ptr<RoutingPolicy> (*make)(const PolicyInfo&, const Parameters&,
                                         const PolicyEnvironment&) = nullptr;
  DetourKind detour = DetourKind::kLgl;  // for families that differ in nothing else
};

// To add a policy: a file csrc/routing/<name>.cpp with a function `std::vector<PolicyInfo>
// <name>_policies()`, and its line in registry.cpp.
[[nodiscard]] const std::vector<PolicyInfo>& policy_registry();

// Throws ConfigError for an unknown name or parameter, with the nearest match.
[[nodiscard]] const PolicyInfo& find_policy(std::string_view name);
[[nodiscard]] std::unique_ptr<RoutingPolicy> make_policy(std::string_view name, const Parameters& parameters,
                                                         const PolicyEnvironment& environment);

}  // namespace dragonfly
