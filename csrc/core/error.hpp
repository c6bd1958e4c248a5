// The user's mistakes and the network's failures; each maps to one Python class.
#pragma once

#include <stdexcept>
#include <string>

namespace dragonfly {

// An impossible setting. The message names the field, the value and the allowed values.
class ConfigError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
  // "field = value: allowed"
  ConfigError(const std::string& field, const std::string& value, const std::string& allowed)
      : std::invalid_argument{field + " = " + value + ": " + allowed} {}
};

// An action that the mask of its decision does not allow.
class IllegalActionError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// A call out of order.
class StateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The watchdog found packets that cannot move any more.
class DeadlockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dragonfly
