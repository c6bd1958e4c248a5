// All routing policies by name.
#include <algorithm>
#include <iterator>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

// Files of policies, one line each: X(name) means `std::vector<PolicyInfo> name_policies()` in name.cpp.
#define DRAGONFLY_POLICIES(X) \
  X(minimal)                  \
  X(valiant)                  \
  X(ugal)                     \
  X(ugal_ideal)               \
  X(par)                      \
  X(pb)                       \
  X(acor)                     \
  X(tpr)                      \
  X(lia)                      \
  X(ad)                       \
  X(mlp)                      \
  X(q_routing)                \
  X(q_adaptive)

#define DRAGONFLY_DECLARE(name) std::vector<PolicyInfo> name##_policies();
DRAGONFLY_POLICIES(DRAGONFLY_DECLARE)
#undef DRAGONFLY_DECLARE

namespace {

std::vector<PolicyInfo> build_registry() {
  std::vector<PolicyInfo> all;
#define DRAGONFLY_APPEND(name) std::ranges::move(name##_policies(), std::back_inserter(all));
  DRAGONFLY_POLICIES(DRAGONFLY_APPEND)
#undef DRAGONFLY_APPEND
  return all;
}

}  // namespace

const std::vector<PolicyInfo>& policy_registry() {
  static const std::vector<PolicyInfo> registry = build_registry();
  return registry;
}

const PolicyInfo& find_policy(std::string_view name) {
  const auto& registry = policy_registry();
  const auto it = std::ranges::find_if(registry, [&](const PolicyInfo& info) {
    return info.name == name || std::ranges::find(info.aliases, name) != info.aliases.end();
  });
  if (it != registry.end()) return *it;
  std::vector<std::string> names;
  for (const PolicyInfo& info : registry) names.push_back(info.name);
  throw ConfigError{"policy", "'" + std::string{name} + "'", suggestion(name, names)};
}

Knowledge knowledge_of(const PolicyInfo& info) {
  Knowledge most = info.knowledge;
  for (const TrackedFeature& feature : tracked_features()) {
    if (std::ranges::find(info.features, feature.name) != info.features.end()) {
      most = std::max(most, feature.shown().knowledge);
    }
  }
  return most;
}

std::unique_ptr<RoutingPolicy> make_policy(std::string_view name, const Parameters& parameters,
                                           const PolicyEnvironment& environment) {
  const PolicyInfo& info = find_policy(name);
  require_known(info, parameters, "policy");
  return info.make(info, parameters, environment);
}

}  // namespace dragonfly
