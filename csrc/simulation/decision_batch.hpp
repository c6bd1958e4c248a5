// The pending decisions, as they are handed out: one row each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decisions/growing_buffer.hpp"
#include "decisions/records.hpp"
#include "routing/candidate.hpp"
#include "routing/observation_plan.hpp"

namespace dragonfly {

// Rows are ordered by network, then by decision id. A reader may keep a buffer for longer than the
// environment; its contents are then out of date.
struct DecisionBatch {
  std::size_t size = 0;
  GrowingBuffer<float> observations;   // [size * num_features]
  GrowingBuffer<std::uint8_t> mask;    // [size * num_actions]
  GrowingBuffer<std::int32_t> agents;  // router
  GrowingBuffer<std::int64_t> ids;
  GrowingBuffer<double> times_ns;
  GrowingBuffer<PacketFacts> packets;
  GrowingBuffer<Candidate> candidates;   // [size * num_candidates]
  GrowingBuffer<std::int32_t> networks;  // the network of each decision; written if there are several

  // Makes room for `rows`; earlier contents are lost.
  void make_room(std::size_t rows, const ObservationPlan& plan) {
    observations.reserve(rows * plan.layout.num_features(), 0);
    mask.reserve(rows * plan.num_actions, 0);
    agents.reserve(rows, 0);
    ids.reserve(rows, 0);
    times_ns.reserve(rows, 0);
    packets.reserve(rows, 0);
    candidates.reserve(rows * plan.num_candidates, 0);
    networks.reserve(rows, 0);
  }
};

}  // namespace dragonfly
