#include "core/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/error.hpp"
#include "core/nearest.hpp"

namespace dragonfly {

namespace {

std::string show(const ParameterValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  return std::get<NetworkPtr>(value) != nullptr ? "a network" : "nothing";
}

const ParameterInfo& row_of(const ParameterOwner& owner, const std::string& name) {
  for (const ParameterInfo& parameter : owner.parameters) {
    if (parameter.name == name) return parameter;
  }
  throw std::logic_error{owner.name + " reads a parameter that it does not declare: " + name};
}

const ParameterValue& lookup(const ParameterOwner& owner, const Parameters& given, const std::string& name) {
  if (const auto it = given.find(name); it != given.end()) return it->second;
  return row_of(owner, name).default_value;
}

template <class T>
T get(const ParameterOwner& owner, const Parameters& given, const std::string& name, const char* allowed) {
  const ParameterValue& value = lookup(owner, given, name);
  if (const auto* typed = std::get_if<T>(&value)) return *typed;
  throw ConfigError{owner.name + "." + name, show(value), allowed};
}

}  // namespace

void require_known(const ParameterOwner& owner, const Parameters& given, const std::string& kind) {
  std::vector<std::string> known;
  for (const ParameterInfo& parameter : owner.parameters) known.push_back(parameter.name);
  for (const auto& [key, value] : given) {
    if (std::ranges::find(known, key) == known.end()) {
      throw ConfigError{owner.name + "." + key, "given",
                        known.empty() ? "this " + kind + " has no parameters" : suggestion(key, known)};
    }
  }
}

Parameters with_defaults(const ParameterOwner& owner, const Parameters& given) {
  Parameters all = given;
  for (const ParameterInfo& parameter : owner.parameters)
    all.emplace(parameter.name, parameter.default_value);
  return all;
}

double number_parameter(const ParameterOwner& owner, const Parameters& given, const std::string& name) {
  const double value = get<double>(owner, given, name, "a number");
  check_value(owner.name + "." + name, value, row_of(owner, name).range);
  return value;
}

std::optional<double> number_or_network(const ParameterOwner& owner, const Parameters& given,
                                        const std::string& name) {
  const ParameterValue& value = lookup(owner, given, name);
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && *text == "network")
    return std::nullopt;
  return number_parameter(owner, given, name);
}

bool flag_parameter(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                    bool when_unset) {
  const ParameterValue& value = lookup(owner, given, name);
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && *text == "network")
    return when_unset;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  throw ConfigError{owner.name + "." + name, show(value), "true, false, or unset (the network's convention)"};
}

std::uint32_t count_parameter(const ParameterOwner& owner, const Parameters& given, const std::string& name) {
  return static_cast<std::uint32_t>(number_parameter(owner, given, name));
}

std::uint32_t choice_parameter(const ParameterOwner& owner, const Parameters& given,
                               const std::string& name) {
  return choice_parameter(owner, given, name, row_of(owner, name).range.names);
}

std::uint32_t count_parameter(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                              std::uint32_t low, std::uint32_t high) {
  const double value = number_parameter(owner, given, name);
  if (value != std::floor(value) || value < low || value > high) {
    throw ConfigError{owner.name + "." + name, std::to_string(value),
                      "a whole number from " + std::to_string(low) + " to " + std::to_string(high)};
  }
  return static_cast<std::uint32_t>(value);
}

double real_parameter(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                      double low, double high) {
  const double value = number_parameter(owner, given, name);
  if (value < low || value > high) {
    throw ConfigError{owner.name + "." + name, std::to_string(value),
                      "from " + std::to_string(low) + " to " + std::to_string(high)};
  }
  return value;
}

NetworkPtr network_parameter(const ParameterOwner& owner, const Parameters& given, const std::string& name) {
  const auto network = get<NetworkPtr>(owner, given, name, "a network");
  if (network == nullptr) throw ConfigError{owner.name + "." + name, "nothing", "must be a network"};
  return network;
}

std::uint32_t choice_parameter(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                               const std::vector<std::string>& names) {
  std::string allowed = "one of";
  for (const std::string& known : names) allowed += " '" + known + "'";
  const auto value = get<std::string>(owner, given, name, allowed.c_str());
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    if (value == names[i]) return i;
  }
  throw ConfigError{owner.name + "." + name, "'" + value + "'", allowed};
}

}  // namespace dragonfly
