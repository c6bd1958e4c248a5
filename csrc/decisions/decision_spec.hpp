// What an outside policy is asked, and what it is given: the settings of a decision environment.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "routing/question_spec.hpp"

namespace dragonfly {

enum class RewardKind : std::uint8_t {
  kHop,       // minus the time from this decision to the packet's next one, or to its delivery
  kDelivery,  // minus the time from this decision to the delivery
};

struct DecisionSpec : QuestionSpec {
  RewardKind reward = RewardKind::kHop;
  // Every option that is a number or a flag (0 or 1), by its name in the core. `EnvOptions` in Python
  // declares each once, with its default, range, unit and meaning; a time in ns there is one in ps here.
  std::map<std::string, double, std::less<>> options{};

  // For whoever uses an option, once and before its loops. Throws ConfigError if nothing has set it.
  [[nodiscard]] double option(std::string_view name) const {
    const auto found = options.find(name);
    if (found == options.end()) throw ConfigError{std::string{name}, "nothing", "must be given"};
    return found->second;
  }
  [[nodiscard]] bool flag(std::string_view name) const { return option(name) != 0; }
};

}  // namespace dragonfly
