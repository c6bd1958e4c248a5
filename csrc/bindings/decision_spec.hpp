// Reads a DecisionSpec from a Python dictionary.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bindings/members.hpp"
#include "core/error.hpp"
#include "routing/decision_spec.hpp"

namespace dragonfly {

template <class T>
T one_of(const char* field, const std::string& name, std::initializer_list<std::pair<const char*, T>> known) {
  std::string allowed = "one of";
  for (const auto& [text, value] : known) {
    if (name == text) return value;
    allowed += std::string{" '"} + text + "'";
  }
  throw ConfigError{field, "'" + name + "'", allowed};
}

// Scope, action, hops and candidates; not the features.
inline void read_decision_spec(const pybind11::dict& given, DecisionSpec& spec) {
  spec.action = one_of<ActionMode>("action", member<std::string>(given, "action"),
                                   {{"port", ActionMode::kPort}, {"path", ActionMode::kPath}});
  // A chosen path is followed to its end; a packet on a minimal path may leave it at the second router of the
  // source group.
  const DecisionScope every =
      spec.action == ActionMode::kPath ? DecisionScope::kSourceGroup : DecisionScope::kEvery;
  const auto scope = member<std::string>(given, "scope");
  spec.scope = one_of<DecisionScope>("scope", scope,
                                     {{"source", DecisionScope::kSource},
                                      {"source-all", DecisionScope::kSourceAll},
                                      {"source-around", DecisionScope::kSourceAround},
                                      {"minimal-path", DecisionScope::kMinimalPath},
                                      {"progressive", DecisionScope::kProgressive},
                                      {"progressive-busy", DecisionScope::kProgressiveBusy},
                                      {"every", every},
                                      {"all", every}});
  spec.forced_too = scope == "all";
  spec.max_hops = member<std::uint8_t>(given, "max_hops");
  for (const auto& name : member<std::vector<std::string>>(given, "nonminimal_kinds")) {
    spec.nonminimal_kinds.push_back(one_of<NonMinimalKind>("nonminimal_kinds", name,
                                                           {{"lgl", NonMinimalKind::kLgl},
                                                            {"lg", NonMinimalKind::kLg},
                                                            {"gl", NonMinimalKind::kGl},
                                                            {"g", NonMinimalKind::kG},
                                                            {"l", NonMinimalKind::kL}}));
  }
  spec.minimal_candidates = member<std::uint32_t>(given, "minimal_candidates");
  spec.nonminimal_candidates = member<std::uint32_t>(given, "nonminimal_candidates");
}

}  // namespace dragonfly
