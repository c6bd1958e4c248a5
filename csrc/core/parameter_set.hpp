// Parameters of a policy or a tracker, each declared in one place: a member with its row of the registry.
//
//   struct CoinParams : ParameterSet {
//     using ParameterSet::ParameterSet;
//     Real share{this, {"share", 0.5, "", "the share of packets on non-minimal paths", between(0, 1)}};
//   };
//
// rows_of<CoinParams>() are the rows for the registry; CoinParams{info, given} has the values, checked; and a
// value is a plain number where it is used.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/parameters.hpp"

namespace dragonfly {

class ParameterSet {
 public:
  // A set with the default values.
  ParameterSet() = default;
  // Reads the given values, with the defaults of the owner's rows. `network_says`: the value of flags that
  // have "network" for a default. Throws ConfigError.
  ParameterSet(const ParameterOwner& owner, const Parameters& given, bool network_says = false)
      : source_{&owner, &given, network_says} {}
  ParameterSet(const ParameterSet& other) : rows_{other.rows_} {}
  ParameterSet& operator=(const ParameterSet& other) {
    rows_ = other.rows_;
    return *this;
  }

  // Rows of all members, in the order of their declaration; empty if values were given.
  [[nodiscard]] const std::vector<ParameterInfo>& declared_rows() const noexcept { return rows_; }

 private:
  template <class Kind>
  friend class SetParameter;

  struct Source {
    const ParameterOwner* owner = nullptr;
    const Parameters* given = nullptr;
    bool network_says = false;
  };
  struct OneRow {
    std::string name;
    std::vector<ParameterInfo> parameters;
  };

  // A member declares itself, and gets its value.
  template <class Kind>
  [[nodiscard]] typename Kind::Value declare(ParameterInfo&& row) {
    if (source_.owner != nullptr) {
      return Kind::read(*source_.owner, *source_.given, row.name, source_.network_says);
    }
    rows_.push_back(std::move(row));
    const OneRow alone{{}, {rows_.back()}};
    return Kind::read(ParameterOwner{alone}, Parameters{}, rows_.back().name, false);
  }

  Source source_;  // read while the set is being made, never after
  std::vector<ParameterInfo> rows_;
};

// The value of one parameter.
template <class Kind>
class SetParameter {
 public:
  using Value = typename Kind::Value;

  SetParameter(ParameterSet* set, ParameterInfo row) : value_{set->declare<Kind>(std::move(row))} {}

  operator Value() const noexcept { return value_; }  // NOLINT: used like its value
  SetParameter& operator=(Value value) noexcept {
    value_ = value;
    return *this;
  }

 private:
  Value value_;
};

namespace parameter_kinds {

struct Real {
  using Value = double;
  static Value read(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                    bool /*network_says*/) {
    return number_parameter(owner, given, name);
  }
};
struct Count {
  using Value = std::uint32_t;
  static Value read(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                    bool /*network_says*/) {
    return count_parameter(owner, given, name);
  }
};
struct Flag {
  using Value = bool;
  static Value read(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                    bool network_says) {
    return flag_parameter(owner, given, name, network_says);
  }
};
struct Choice {
  using Value = std::uint32_t;  // index into the range's names
  static Value read(const ParameterOwner& owner, const Parameters& given, const std::string& name,
                    bool /*network_says*/) {
    return choice_parameter(owner, given, name);
  }
};

}  // namespace parameter_kinds

using Real = SetParameter<parameter_kinds::Real>;
using Count = SetParameter<parameter_kinds::Count>;
using Flag = SetParameter<parameter_kinds::Flag>;
using Choice = SetParameter<parameter_kinds::Choice>;

template <class Set>
[[nodiscard]] std::vector<ParameterInfo> rows_of() {
  return Set{}.declared_rows();
}

}  // namespace dragonfly
