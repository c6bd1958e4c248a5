// The actions that a router has for one packet.
#pragma once

#include <cstdint>

#include "decisions/decision_plan.hpp"
#include "routing/route_context.hpp"

namespace dragonfly {

// How a packet stands to the router that it reached.
enum class Question : std::uint8_t {
  kNone,    // nothing to report: it follows its plan
  kForced,  // one legal action, reported because the scope is "all"
  kFree,    // a choice, unless the mask turns out to have one entry
};

// Where a packet goes if nobody is asked.
struct Way {
  Hop hop{};
  bool to_detour = false;  // it is still heading for its detour
};

// The detour of a candidate path that takes one.
[[nodiscard]] Detour detour_of(const Candidate& candidate) noexcept;

// Whether the router is to be asked. Never at the destination router, nor on prescribed routes.
[[nodiscard]] Question question_for(const DecisionPlan& plan, const Packet& packet, std::uint32_t router,
                                    std::uint32_t group) noexcept;

// Ports. An action is legal iff the packet can still be delivered minimally within the hops that there are
// VCs for; while `forced` only the next port of its way is. Writes num_ports flags into `mask`; returns the
// number of legal actions. `way`: the port that it would take by itself.
std::uint32_t port_choices(const DecisionPlan& plan, const RouteContext& context, bool forced, Port way,
                           std::uint8_t* mask) noexcept;

// Paths: fills num_candidates rows and flags; a detour that does not exist is not legal. While `forced` the
// only one is to go on along `way`.
std::uint32_t path_choices(const DecisionPlan& plan, const RouteContext& context, bool forced, const Way& way,
                           std::uint8_t* mask, Candidate* candidates);

// Marks the ports on a shortest path with 1, the other of num_ports with 0. `known`: one of those on a
// shortest path.
void mark_minimal_ports(const DecisionPlan& plan, const RouteContext& context, Port known,
                        float* minimal) noexcept;

}  // namespace dragonfly
