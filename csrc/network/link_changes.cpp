#include "network/link_changes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace dragonfly {

namespace {

std::string name_of(const LinkEvent& event) {
  return std::to_string(event.time_ps / kPsPerNs) + "ns:" + std::to_string(event.link.router) + ":" +
         std::to_string(event.link.port) + (event.up ? ":up" : ":down");
}

// The end of a link with the lower number.
Endpoint first_end(const Dragonfly& machine, const LinkEvent& event) {
  const auto [router, port] = event.link;
  const bool exists = router < machine.num_routers() && port >= machine.first_local_port() &&
                      port < machine.radix() && machine.neighbor(router, port).port != kNoPort;
  if (!exists) {
    throw ConfigError{"events", name_of(event),
                      "must name a router and a port with a link that is alive at first"};
  }
  const Endpoint far = machine.neighbor(router, port);
  return far.router < router ? far : event.link;
}

}  // namespace

LinkChanges::LinkChanges(const Dragonfly& machine, std::vector<LinkEvent> events, TimePs notice_ps)
    : known_{machine} {
  for (LinkEvent& event : events) event.link = first_end(machine, event);
  std::ranges::stable_sort(events, {}, &LinkEvent::time_ps);
  states_.push_back({.machine = std::make_unique<const Dragonfly>(machine), .ports = {}});
  std::vector<Endpoint> dead;
  for (auto next = events.begin(); next != events.end();) {
    const auto begin = next;
    while (next != events.end() && next->time_ps == begin->time_ps) ++next;
    begin_state(machine, {begin, next}, dead);
    const std::uint32_t state = num_states() - 1;
    changes_.push_back({.time_ps = begin->time_ps, .state = state, .notice = false});
    changes_.push_back({.time_ps = begin->time_ps + notice_ps, .state = state, .notice = true});
    if (!states_.back().ports.failed.empty()) ++most_reroutes_;
  }
  // Links change before routers know, if the times are equal.
  std::ranges::stable_sort(changes_, {},
                           [](const Change& change) { return std::pair{change.time_ps, change.notice}; });
  if (num_states() * (most_reroutes_ + 1) > kMostVersions) {
    throw ConfigError{"events", std::to_string(num_states() - 1) + " different times",
                      "are too many: let links fail or come back at fewer different times"};
  }
  LocalHops longest = machine.longest_local();
  for (const State& state : states_) longest = longest_of(longest, state.machine->longest_local());
  for (State& state : states_) {
    state.machine = std::make_unique<const Dragonfly>(state.machine->with_changes(longest));
  }
  know(0);
}

// `dead`: the links that are dead before the events, and after them.
void LinkChanges::begin_state(const Dragonfly& machine, std::span<const LinkEvent> events,
                              std::vector<Endpoint>& dead) {
  State state;
  for (const LinkEvent& event : events) {
    const auto at = std::ranges::find(dead, event.link);
    if (event.up == (at == dead.end())) {
      throw ConfigError{"events", name_of(event),
                        event.up ? "must be left out, or follow an event in which the link fails"
                                 : "must be left out: the link is dead already"};
    }
    if (event.up) {
      dead.erase(at);
    } else {
      dead.push_back(event.link);
    }
    std::vector<Endpoint>& ports = event.up ? state.ports.returned : state.ports.failed;
    ports.push_back(event.link);
    ports.push_back(machine.neighbor(event.link.router, event.link.port));
  }
  try {
    state.machine = std::make_unique<const Dragonfly>(machine.without(dead));
  } catch (const ConfigError& error) {
    throw ConfigError{"events at " + std::to_string(events.front().time_ps / kPsPerNs) +
                      " ns leave a machine that cannot be simulated: " + error.what()};
  }
  states_.push_back(std::move(state));
}

}  // namespace dragonfly
