// The packets that are in one partition. A packet that goes to another partition is handed over by value,
// with all its records: so each store is dense, and no two partitions touch the same memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/large_pages.hpp"
#include "core/time.hpp"
#include "decisions/open_decisions.hpp"
#include "routing/packet.hpp"
#include "routing/path_follower.hpp"
#include "traffic/program.hpp"
#include "traffic/source.hpp"

namespace dragonfly {

// The routers that a packet has passed, with a packet log.
struct PathRecord {
  static constexpr std::uint32_t kLongest = kMaxRouteRouters;
  std::uint32_t length = 0;
  std::array<std::uint32_t, kLongest> routers{};
  static constexpr bool kArchivedWhole = true;
};

// The message that a packet is a part of, with programs on hosts.
struct MessagePart {
  std::uint32_t number = 0;   // k-th message of its source host
  std::uint32_t tag = 0;      // the sender's
  std::uint32_t packets = 0;  // packets of the whole message; 0: from an open-loop source, never complete
  std::uint32_t origin = 0;   // the packet's place in the message less its number at its host, modulo 2^32
  Tick begun = 0;             // the sender began to send the message
  std::uint8_t policy = 0;    // index of its policy in Deciders::policies
  Lane lane{};                // index into Job::policies of its job
  void archive(Archive& archive) { archive(number, tag, packets, origin, begun, policy, lane); }
};

// A packet's next hop, if it is decided before the packet is at the head of its buffer, and the time of the
// decision.
struct Decided {
  Hop hop{};
  LowTick when = 0;
  static constexpr bool kArchivedWhole = true;
};
static_assert(sizeof(Decided) == 8);

struct PacketStore {
  // Records of packets, by packet. `open`: only of packets that an outside policy routes.
  LargeVector<Packet> packets;
  LargeVector<std::uint32_t>
      next;  // next packet in the list of this one; meaningless for the last packet of a buffer or queue
  LargeVector<Decided> decided;
  LargeVector<LowTick>
      through;  // time at which the crossbar has let the packet through, if the crossbar takes time
  LargeVector<PacketTimes> times;
  std::vector<PathRecord> paths;      // paths of packets; empty without a packet log
  std::vector<MessagePart> messages;  // messages of packets; empty without programs
  // The state of the machine by which a packet is routed, and how often it was routed again: LinkChanges. Set
  // at its source router; empty without events of links.
  std::vector<std::uint8_t> versions;
  std::optional<OpenDecisions> open{};  // decisions of packets; unset without decisions from outside
  bool with_through = false;            // whether the crossbar takes time
  bool with_paths = false;
  bool with_messages = false;
  bool with_versions = false;
  std::vector<std::uint32_t> unused;

  void reserve(std::size_t most) {
    packets.reserve(most);
    next.reserve(most);
    decided.reserve(most);
    if (with_through) through.reserve(most);
    times.reserve(most);
    unused.reserve(most);
  }

  [[nodiscard]] std::uint32_t add() {
    if (unused.empty()) grow();
    const std::uint32_t packet = unused.back();
    unused.pop_back();
    return packet;
  }
  void remove(std::uint32_t packet) { unused.push_back(packet); }

  [[nodiscard]] bool has_serialized() const noexcept {
    return with_paths || with_messages || with_versions || open;
  }
  // Writes the records of a packet that leaves, except the packet and its times, in the order in which
  // unpack() reads them.
  void pack(std::uint32_t packet, std::vector<std::byte>& into) const {
    if (with_paths) append(into, paths[packet]);
    if (with_messages) append(into, messages[packet]);
    if (with_versions) append(into, versions[packet]);
    if (open) open->pack(packet, into);
  }
  // Returns the begin of the next packet's records.
  const std::byte* unpack(std::uint32_t packet, const std::byte* from) {
    if (with_paths) from = take(from, paths[packet]);
    if (with_messages) from = take(from, messages[packet]);
    if (with_versions) from = take(from, versions[packet]);
    if (open) from = open->unpack(packet, from);
    return from;
  }

  void archive(Archive& archive) {
    archive(packets);
    const std::size_t size = packets.size();
    const auto same_size = [&](auto& column) {
      if (archive.reads()) column.resize(size);
      archive.fixed(column);
    };
    same_size(next);
    same_size(decided);
    if (with_through) same_size(through);
    same_size(times);
    if (with_paths) same_size(paths);
    if (with_messages) same_size(messages);
    if (with_versions) same_size(versions);
    if (open) {
      if (archive.reads()) open->resize(size);
      archive(*open);
    }
    archive(unused);
  }

  // Memory of a packet that is not routed from outside.
  [[nodiscard]] static constexpr std::uint64_t bytes_per_packet() noexcept {
    return sizeof(Packet) + sizeof(Decided) + sizeof(PacketTimes) + 3 * sizeof(std::uint32_t);
  }

 private:
  [[gnu::noinline]] void grow() {
    const std::size_t old = packets.size();
    const std::size_t size = old + std::max<std::size_t>(64, old / 8);
    packets.resize(size);
    next.resize(size);
    decided.resize(size);
    if (with_through) through.resize(size);
    times.resize(size);
    if (with_paths) paths.resize(size);
    if (with_messages) messages.resize(size);
    if (with_versions) versions.resize(size);
    if (open) open->resize(size);
    for (std::size_t i = size; i > old; --i) unused.push_back(static_cast<std::uint32_t>(i - 1));
  }
};

}  // namespace dragonfly
