// Reading the parameters of a policy against its registry row.
#pragma once

#include <string>

#include "routing/policy.hpp"

namespace dragonfly {

// The value given, or the default. Both throw ConfigError when the value has another type.
[[nodiscard]] double number_parameter(const PolicyInfo& info, const Parameters& given,
                                      const std::string& name);
[[nodiscard]] bool flag_parameter(const PolicyInfo& info, const Parameters& given, const std::string& name,
                                  bool when_unset);

// A whole number within [low, high].
[[nodiscard]] std::uint32_t count_parameter(const PolicyInfo& info, const Parameters& given,
                                            const std::string& name, std::uint32_t low, std::uint32_t high);

// A number within [low, high].
[[nodiscard]] double real_parameter(const PolicyInfo& info, const Parameters& given, const std::string& name,
                                    double low, double high);

// Which of the names is given.
[[nodiscard]] std::uint32_t choice_parameter(const PolicyInfo& info, const Parameters& given,
                                             const std::string& name, const std::vector<std::string>& names);

// The row of the parameter that every policy with random detours has.
[[nodiscard]] std::vector<ParameterInfo> detour_parameters();

}  // namespace dragonfly
