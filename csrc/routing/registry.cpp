// Every routing policy: one row each.
#include <algorithm>

#include "core/error.hpp"
#include "core/nearest.hpp"
#include "routing/families.hpp"
#include "routing/policy.hpp"

namespace dragonfly {

namespace {

constexpr const char* kKang = "Kang, Wang, Lan, HPDC 2021, section 2.3";
constexpr const char* kLia = "Benito, Vallejo, Beivide, TACO 2025 (LIA), section 2.2.1";

std::vector<ParameterInfo> detour_parameters() {
  return {{"avoid_destination_group", std::string{"network"}, "",
           "random detours never fall into the destination group; unset: as the network preset's simulator does"}};
}

std::vector<ParameterInfo> ugal_parameters() {
  std::vector<ParameterInfo> parameters = detour_parameters();
  parameters.push_back({"bias_packets", 0.0, "packets",
                        "added to the non-minimal side of the comparison: positive favours minimal paths"});
  parameters.push_back(
      {"nonminimal_candidates", 1.0, "", "random detours drawn per decision; the least occupied is compared"});
  return parameters;
}

std::vector<PolicyInfo> build_registry() {
  const auto valiant = detour_parameters();
  const auto ugal = ugal_parameters();
  using enum DetourKind;
  return {
      {"min", "the shortest path", "Kim et al., ISCA 2008, section 4.1", "source", "path", {}, make_minimal, kLgl},
      {"val-g", "always a detour through a random group", kKang, "source", "path", valiant, make_valiant, kLg},
      {"val-n", "always a detour through a random router of another group", kKang, "source", "path", valiant, make_valiant, kLgl},
      {"vlb-lg", "Valiant with path A = local, global", kLia, "source", "path", valiant, make_valiant, kLg},
      {"vlb-gl", "Valiant with path A = own global link, local", kLia, "source", "path", valiant, make_valiant, kGl},
      {"vlb-g", "Valiant with path A = own global link", kLia, "source", "path", valiant, make_valiant, kG},
      {"ugal-g", "minimal or a random group, by local occupancy", kKang, "source", "path", ugal, make_ugal, kLg},
      {"ugal-n", "minimal or a random router, by local occupancy", kKang, "source", "path", ugal, make_ugal, kLgl},
      {"par", "as ugal-n, and once more at the second router of the source group", "Jiang et al., ISCA 2009; Kang et al., HPDC 2021", "every", "path", ugal, make_par, kLgl},
  };
}

// Other names under which a policy is known.
std::string_view canonical(std::string_view name) { return name == "vlb-lgl" ? std::string_view{"val-n"} : name; }

}  // namespace

const std::vector<PolicyInfo>& policy_registry() {
  static const std::vector<PolicyInfo> registry = build_registry();
  return registry;
}

const PolicyInfo& find_policy(std::string_view name) {
  const auto& registry = policy_registry();
  const auto wanted = canonical(name);
  const auto it = std::ranges::find_if(registry, [&](const PolicyInfo& info) { return info.name == wanted; });
  if (it != registry.end()) return *it;
  std::vector<std::string> names;
  for (const PolicyInfo& info : registry) names.push_back(info.name);
  throw ConfigError{"policy", "'" + std::string{name} + "'", suggestion(name, names)};
}

std::unique_ptr<RoutingPolicy> make_policy(std::string_view name, const Parameters& parameters,
                                           const PolicyEnvironment& environment) {
  const PolicyInfo& info = find_policy(name);
  std::vector<std::string> known;
  for (const ParameterInfo& parameter : info.parameters) known.push_back(parameter.name);
  for (const auto& [key, value] : parameters) {
    if (std::ranges::find(known, key) == known.end()) {
      throw ConfigError{info.name + "." + key, "given",
                        known.empty() ? "this policy has no parameters" : suggestion(key, known)};
    }
  }
  return info.make(info, parameters, environment);
}

}  // namespace dragonfly
