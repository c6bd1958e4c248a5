// The decisions that an outside policy makes, and the observations that it receives: the settings of a
// decision environment.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "routing/decision_spec.hpp"

namespace dragonfly {

enum class RewardKind : std::uint8_t {
  kHop,       // minus the time from this decision to the packet's next one, or to its delivery
  kDelivery,  // minus the time from this decision to the delivery
};

struct EnvironmentSpec : DecisionSpec {
  RewardKind reward = RewardKind::kHop;
  // Every option that is a number or a flag (0 or 1), by its name in the core. `EnvOptions` in Python
  // declares each once, with its default, range, unit and meaning; a time in ns there is one in ps here.
  std::map<std::string, double, std::less<>> options{};

  // Returns the value of an option; callers read it once, before their loops. Throws ConfigError if the
  // option is not set.
  [[nodiscard]] double option(std::string_view name) const {
    const auto found = options.find(name);
    if (found == options.end()) throw ConfigError{std::string{name}, "nothing", "must be given"};
    return found->second;
  }
  [[nodiscard]] bool flag(std::string_view name) const { return option(name) != 0; }
};

}  // namespace dragonfly
