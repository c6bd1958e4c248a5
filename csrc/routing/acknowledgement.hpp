// What comes back when a packet has been delivered: its source router hears how long it took.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/timing_wheel.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// Kinds of paths that are told apart, as in Candidate::kind: minimal, and the four detours through other
// groups.
inline constexpr std::uint32_t kAcknowledgedKinds = 5;

// Of a delivered packet; none if it says nothing about a path that its source router could choose. Where a
// detour inside a group came last (kL), or ports were chosen one by one, what came before is forgotten.
[[nodiscard]] inline std::optional<std::uint8_t> acknowledged_kind(const Packet& packet) noexcept {
  if (packet.plan == Plan::kRouted) return std::nullopt;
  if (!packet.non_minimal) return std::uint8_t{0};
  if (packet.detour_group == kNoGroup || packet.detour_kind == DetourKind::kL) return std::nullopt;
  return static_cast<std::uint8_t>(1U + static_cast<std::uint32_t>(packet.detour_kind));
}

struct Acknowledgement {
  Tick due = 0;  // when the source router hears of it
  std::uint32_t source_router = 0;
  std::uint32_t destination_router = 0;
  Tick travelled = 0;           // from the source queue to the host
  std::uint8_t kind = 0;        // of its path: acknowledged_kind()
  std::uint8_t local_hops = 0;  // between routers
  std::uint8_t global_hops = 0;

  // By time; beyond that all there is, so that the order of equal times is no matter of who sent them first.
  auto operator<=>(const Acknowledgement&) const = default;
};

// Those on their way to the routers of one partition.
class AcknowledgementsUnderWay {
 public:
  void add(const Acknowledgement& sent) {
    heap_.push_back(sent);
    std::ranges::push_heap(heap_, std::greater{});
  }
  [[nodiscard]] bool any_until(Tick now) const noexcept { return !heap_.empty() && heap_.front().due <= now; }
  // The first one. Precondition: there is one.
  Acknowledgement take() {
    std::ranges::pop_heap(heap_, std::greater{});
    const Acknowledgement first = heap_.back();
    heap_.pop_back();
    return first;
  }

 private:
  std::vector<Acknowledgement> heap_;
};

}  // namespace dragonfly
