// Constant data of decisions that show rows, shared by all partitions: the layout, and tables of legal
// actions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/time.hpp"
#include "routing/decision_spec.hpp"
#include "routing/observation.hpp"
#include "routing/path_follower.hpp"
#include "routing/port_masks.hpp"

namespace dragonfly {

struct ObservationPlan {
  // The reference to paths must outlive the plan. `trackers`: all that run.
  ObservationPlan(const DecisionSpec& spec_in, const PathFollower& paths_in, const BufferSizes& buffers,
                  TimePs quantum, const std::vector<TrackerRequest>& trackers)
      : spec{spec_in},
        paths{paths_in},
        quantum_ps{quantum},
        layout{layout_of(spec.num_candidates(), buffers, trackers)},
        first_port{paths_in.topology().first_local_port()},
        num_ports{paths_in.topology().num_network_ports()},
        num_candidates{spec.num_candidates()},
        num_actions{spec.action == ActionMode::kPort ? num_ports : num_candidates} {
    if (spec.second_stage)
      further_layout.emplace(layout_of(spec.num_further_candidates(), buffers, trackers));
    list_links();
  }

  // Makes the tables of legal actions; again when links have failed or returned.
  void list_links() {
    if (!by_port()) return;
    const Dragonfly& topology = paths.topology();
    if (PortMasks::work_on(topology)) {
      masks.emplace(topology);
      return;
    }
    connected.clear();
    num_connected.assign(topology.num_routers(), 0);
    for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
      for (std::uint32_t i = 0; i < num_ports; ++i) {
        const bool there = topology.neighbor(router, static_cast<Port>(first_port + i)).port != kNoPort;
        connected.push_back(there ? 1 : 0);
        num_connected[router] += there ? 1 : 0;
      }
    }
  }

  // Bytes of the tables by router.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return connected.size() + num_connected.size() * sizeof(std::uint32_t) + (masks ? masks->bytes() : 0U);
  }
  [[nodiscard]] bool by_port() const noexcept { return spec.action == ActionMode::kPort; }

  DecisionSpec spec;
  const PathFollower& paths;
  TimePs quantum_ps;
  ObservationLayout layout;
  std::optional<ObservationLayout> further_layout{};  // rows of the second stage, if there is one
  std::uint32_t first_port;                           // the port of action 0
  std::uint32_t num_ports;                            // ports between routers
  std::uint32_t num_candidates;
  std::uint32_t num_actions;
  // For ports: legal ports by case, if the topology has few cases; or else tables, router by router.
  std::optional<PortMasks> masks{};
  std::vector<std::uint8_t> connected{};       // [router * num_ports + i]: whether a link is there
  std::vector<std::uint32_t> num_connected{};  // [router]

 private:
  [[nodiscard]] ObservationLayout layout_of(std::uint32_t paths_shown, const BufferSizes& buffers,
                                            const std::vector<TrackerRequest>& trackers) const {
    return {paths.topology(), spec, paths_shown, buffers, static_cast<double>(quantum_ps) / kPsPerNs,
            trackers};
  }
};

}  // namespace dragonfly
