// What is kept of a question until it is handed out: legal ports as bits, rows that are packed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "routing/question_writer.hpp"
#include "tests/check.hpp"
#include "tests/small_systems.hpp"

namespace {

using namespace dragonfly;

TEST(legal_ports_by_case_are_those_that_distances_allow) {
  for (const DragonflyParams& shape :
       {kSmall, DragonflyParams{.p = 1, .a = 2, .h = 1}, DragonflyParams{.p = 3, .a = 7, .h = 3, .g = 9},
        DragonflyParams{.p = 2, .a = 6, .h = 3, .arrangement = Arrangement::kAbsolute}}) {
    const Dragonfly topology{shape};
    REQUIRE(PortMasks::work_on(topology));
    const PortMasks masks{topology};
    for (std::uint32_t router = 0; router < topology.num_routers(); ++router) {
      for (std::uint32_t target = 0; target < topology.num_routers(); ++target) {
        if (target == router) continue;
        for (std::uint32_t left = 0; left <= topology.diameter() + 1; ++left) {
          std::uint64_t wanted = 0;
          for (Port port = topology.first_local_port(); port < topology.radix(); ++port) {
            const Endpoint next = topology.neighbor(router, port);
            if (next.port != kNoPort && topology.minimal_hops(next.router, target) <= left) {
              wanted |= masks.bit_of(port);
            }
          }
          const std::uint32_t from = topology.group_of(router);
          const std::uint32_t to = topology.group_of(target);
          CHECK_EQ(masks.within(router, from, target, to, left), wanted);
        }
      }
    }
  }
}

TEST(bits_are_spread_into_flags_and_nothing_behind_them) {
  RandomStream random{3, Purpose::kLearning, 0, 0};
  for (std::uint32_t count = 0; count <= 64; ++count) {
    const std::uint64_t bits = std::uint64_t{random.below(1U << 31)} << 33 | random.below(1U << 31);
    std::vector<std::uint8_t> flags(count + 8, 7);
    spread_bits(bits, count, flags.data());
    for (std::uint32_t i = 0; i < count; ++i) CHECK_EQ(flags[i], bits >> i & 1U);
    CHECK(std::all_of(flags.begin() + count, flags.end(), [](std::uint8_t flag) { return flag == 7; }));
  }
}

// The ports of a router, with counts that differ.
PortBlocks busy_ports(const Dragonfly& topology, std::uint32_t most) {
  PortBlocks ports{1, topology.radix(), 5};
  RandomStream random{5, Purpose::kLearning, 0, 0};
  for (std::uint32_t port = 0; port < topology.radix(); ++port) {
    ports[port].link_class = topology.port_class(static_cast<Port>(port));
    ports[port].queued = random.below(most);
    ports[port].occupancy = ports[port].queued + random.below(most);
  }
  return ports;
}

PathFollower port_paths(const Dragonfly& topology) {
  return {topology, VcLadder{VcScheme::kStage, QuestionSpec{}.budget()}};
}

BufferSizes buffers_of(std::uint32_t packets) {
  BufferSizes buffers{
      .output_packets = packets, .input_packets = packets, .port_packets = 5 * packets, .vcs = 5};
  buffers.packet_ns.fill(32.5F);
  return buffers;
}

TEST(a_packed_row_is_handed_out_as_it_is_written_in_full) {
  const Dragonfly topology{kSmall};
  const PathFollower paths = port_paths(topology);
  TrackedNumbers tracked;
  std::uint32_t packed = 0;
  for (const OccupancyUnit unit : {OccupancyUnit::kBuffers, OccupancyUnit::kPackets, OccupancyUnit::kTime}) {
    for (std::uint32_t features = 0; features < 1U << 10; features += 7) {
      for (const bool forced_too : {false, true}) {
        QuestionSpec spec;
        spec.occupancy_unit = unit;
        spec.features = features;
        spec.forced_too = forced_too;
        const QuestionPlan plan{spec, paths, buffers_of(20), 100, {}};
        const RowFormat format{plan};
        CHECK_EQ(format.packed(), features != 0);
        if (!format.packed()) continue;
        const PortBlocks ports = busy_ports(topology, 100);
        const Surroundings around{.paths = paths, .tracked = tracked, .seed = 1, .quantum_ps = 100};
        for (std::uint8_t hops = 0; hops < 5; ++hops) {
          const Packet packet{.source_host = 3,
                              .number = 9,
                              .destination_host = 61,
                              .destination_router = 30,
                              .destination_group = 7,
                              .arrived = 4000,
                              .hops = hops};
          const PacketTimes times{.created = 1000, .injected = 2000};
          const RouteContext context{
              around, packet, times, 5, 1, ports.of_router(0), topology.first_global_port(), 2};
          QuestionWriter full{plan, 0, topology.num_routers()};
          QuestionWriter kept{plan, 0, topology.num_routers()};
          std::vector<float> row(plan.layout.num_features(), -1);
          std::vector<std::uint8_t> mask(plan.num_actions, 7);
          std::vector<std::byte> bytes(format.bytes());
          Way way;
          Way other;
          for (const Standing standing : {Standing::kFree, Standing::kForced}) {
            const bool asked = full.write(context, standing, 5000, row.data(), mask.data(), nullptr, way);
            CHECK_EQ(kept.keep(context, standing, 5000, format, bytes.data(), nullptr, other), asked);
            if (!asked) continue;
            CHECK(format.is_sound(bytes.data()));
            CHECK_EQ(other.hop.port, way.hop.port);
            std::vector<float> shown(row.size(), -2);
            std::vector<std::uint8_t> flags(mask.size(), 9);
            format.unpack(bytes.data(), shown.data(), flags.data());
            CHECK(shown == row);
            CHECK(flags == mask);
            for (std::uint32_t action = 0; action < plan.num_actions; ++action) {
              CHECK_EQ(format.allows(bytes.data(), action), mask[action] != 0);
            }
            ++packed;
          }
        }
      }
    }
  }
  CHECK(packed > 1'000);
}

TEST(rows_are_packed_only_where_they_are_counts_of_ports_with_one_shortest_way) {
  const Dragonfly mesh{kSmall};
  const Dragonfly trunked{{.p = 2, .a = 4, .h = 2, .g = 5, .trunking = 2}};
  const auto packs = [](const Dragonfly& topology, ActionMode action, std::uint32_t buffer) {
    const PathFollower paths = port_paths(topology);
    QuestionSpec spec;
    spec.action = action;
    spec.detours = {DetourKind::kLgl};
    const QuestionPlan plan{spec, paths, buffers_of(buffer), 100, {}};
    return RowFormat{plan}.packed();
  };
  CHECK(packs(mesh, ActionMode::kPort, 20));
  CHECK(packs(mesh, ActionMode::kPort, 0xffff / 5));
  CHECK(!packs(mesh, ActionMode::kPort, 0xffff / 5 + 1));  // a count needs more than 16 bits
  CHECK(!packs(mesh, ActionMode::kPath, 20));
  CHECK(!packs(trunked, ActionMode::kPort, 20));
}

}  // namespace
