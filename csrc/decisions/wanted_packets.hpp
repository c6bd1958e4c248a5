// Whose decisions come to the desks. Of all others a policy of the core decides, and nobody outside hears.
#pragma once

#include <cstdint>

#include "routing/packet.hpp"

namespace dragonfly {

struct WantedPackets {
  enum class Kind : std::uint8_t {
    kAll,
    kAtSource,  // those that ask their source router: one of them may be followed
    kOne,       // that one
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
