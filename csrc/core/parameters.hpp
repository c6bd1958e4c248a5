// Parameters of things that are chosen by name: their rows in a registry, and reading values against the
// rows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/value_range.hpp"

namespace dragonfly {

namespace neural {
struct ScoringNetwork;
}
using NetworkPtr = std::shared_ptr<const neural::ScoringNetwork>;
using ParameterValue = std::variant<double, bool, std::string, NetworkPtr>;
using Parameters = std::map<std::string, ParameterValue>;

// A parameter: its name, type, default, unit, meaning and range, for the core and for Python.
struct ParameterInfo {
  std::string name;
  ParameterValue default_value;  // "network": the network's setting
  std::string unit;
  std::string doc;
  ValueRange range{};
};

// The owner of parameters, made from a row of a registry, which must outlive it.
struct ParameterOwner {
  template <class Info>
    requires requires(const Info& info) { info.name, info.parameters; }
  ParameterOwner(const Info& info) : name{info.name}, parameters{info.parameters} {}  // NOLINT: a view

  const std::string& name;
  const std::vector<ParameterInfo>& parameters;
};

// Throws ConfigError for a name that the owner does not declare, with the nearest match. `kind`: of the
// owner.
void require_known(const ParameterOwner& owner, const Parameters& given, const std::string& kind);
// The values given, and the defaults of all others.
[[nodiscard]] Parameters with_defaults(const ParameterOwner& owner, const Parameters& given);

// The value given, or the default. All throw ConfigError when it has another type or is not in the row's
// range.
[[nodiscard]] double number_parameter(const ParameterOwner& owner, const Parameters& given,
                                      const std::string& name);
// Reads a parameter whose default is "network"; empty while the default holds.
[[nodiscard]] std::optional<double> number_or_network(const ParameterOwner& owner, const Parameters& given,
                                                      const std::string& name);
[[nodiscard]] bool flag_parameter(const ParameterOwner& owner, const Parameters& given,
                                  const std::string& name, bool when_unset);

[[nodiscard]] std::uint32_t count_parameter(const ParameterOwner& owner, const Parameters& given,
                                            const std::string& name);
// The index of the given name in the row's range.
[[nodiscard]] std::uint32_t choice_parameter(const ParameterOwner& owner, const Parameters& given,
                                             const std::string& name);

// Reads a whole number within [low, high], for rows without a range.
[[nodiscard]] std::uint32_t count_parameter(const ParameterOwner& owner, const Parameters& given,
                                            const std::string& name, std::uint32_t low, std::uint32_t high);

// A number within [low, high].
[[nodiscard]] double real_parameter(const ParameterOwner& owner, const Parameters& given,
                                    const std::string& name, double low, double high);

// The network of a parameter; never null.
[[nodiscard]] NetworkPtr network_parameter(const ParameterOwner& owner, const Parameters& given,
                                           const std::string& name);

// The index of the given name in `names`.
[[nodiscard]] std::uint32_t choice_parameter(const ParameterOwner& owner, const Parameters& given,
                                             const std::string& name, const std::vector<std::string>& names);

}  // namespace dragonfly
