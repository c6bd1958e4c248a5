// Selects the packets whose decisions an outside policy makes. The background policy decides about all
// others.
#pragma once

#include <cstdint>

#include "routing/packet.hpp"

namespace dragonfly {

struct PacketSelection {
  enum class Kind : std::uint8_t {
    kAll,
    kAtSource,  // packets at their source routers: one of them may be followed
    kOne,       // the followed packet
  };

  Kind kind = Kind::kAll;
  std::uint32_t source_host = 0;
  std::uint32_t number = 0;

  void archive(Archive& archive) { archive(kind, source_host, number); }
  [[nodiscard]] bool include(const Packet& packet) const noexcept {
    switch (kind) {
      case Kind::kAll:
        break;
      case Kind::kAtSource:
        return packet.hops == 0;
      case Kind::kOne:
        return packet.source_host == source_host && packet.number == number;
    }
    return true;
  }
};

}  // namespace dragonfly
