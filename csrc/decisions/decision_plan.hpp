// What all desks of a network share and none changes.
#pragma once

#include <cstdint>
#include <vector>

#include "decisions/decision_spec.hpp"
#include "decisions/observation.hpp"
#include "routing/path_follower.hpp"

namespace dragonfly {

struct DecisionPlan {
  // The reference to paths must outlive the plan. `trackers`: all that run.
  DecisionPlan(const DecisionSpec& spec_in, const PathFollower& paths_in, const BufferSizes& buffers,
               TimePs quantum, const std::vector<TrackerRequest>& trackers)
      : spec{spec_in},
        paths{paths_in},
        quantum_ps{quantum},
        layout{paths_in.topology(), spec_in, buffers, static_cast<double>(quantum) / kPsPerNs, trackers},
        first_port{paths_in.topology().p()},
        num_ports{paths_in.topology().radix() - paths_in.topology().p()},
        num_candidates{spec_in.num_candidates()},
        num_actions{spec_in.action == ActionMode::kPort ? num_ports : num_candidates} {
    const Dragonfly& topology = paths.topology();
    num_connected.assign(topology.num_routers(), 0);
    for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
      for (std::uint32_t i = 0; i < num_ports; ++i) {
        const bool there = topology.neighbor(router, static_cast<Port>(first_port + i)).port != kNoPort;
        connected.push_back(there ? 1 : 0);
        num_connected[router] += there ? 1 : 0;
      }
    }
    // How many decisions of one packet may be open at once.
    const bool once = spec.reward != RewardKind::kDelivery || spec.scope == AskScope::kSource;
    most_open = once ? 1U
                     : (spec.action == ActionMode::kPath ? spec.budget(topology.local_way_hops()).longest_path
                                                         : spec.max_hops);
  }

  [[nodiscard]] double to_ns(Tick tick) const noexcept {
    return static_cast<double>(tick * quantum_ps) / static_cast<double>(kPsPerNs);
  }

  DecisionSpec spec;
  const PathFollower& paths;
  TimePs quantum_ps;
  ObservationLayout layout;
  std::uint32_t first_port;  // the port of action 0
  std::uint32_t num_ports;   // ports between routers
  std::uint32_t num_candidates;
  std::uint32_t num_actions;
  std::uint32_t most_open = 1;
  std::vector<std::uint8_t> connected;       // [router * num_ports + i]: whether a link is there
  std::vector<std::uint32_t> num_connected;  // [router]
};

}  // namespace dragonfly
