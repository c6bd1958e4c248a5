// What comes back when a packet has been delivered: its source router hears how long it took.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/archive.hpp"
#include "core/time.hpp"
#include "routing/packet.hpp"

namespace dragonfly {

// Kinds of paths that are told apart, as in Candidate::kind: minimal, and the four non-minimal paths through
// other groups.
inline constexpr std::uint32_t kAcknowledgedKinds = 5;

// Of a delivered packet; none if it says nothing about a path that its source router could choose. Where a
// non-minimal path inside a group came last (kL), or ports were chosen one by one, what came before is
// forgotten.
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
  std::uint32_t travelled = 0;  // ticks from the source queue to the host, at most what fits
  std::uint8_t kind = 0;        // of its path: acknowledged_kind()
  std::uint8_t local_hops = 0;  // between routers
  std::uint8_t global_hops = 0;

  // By time; beyond that all there is, so that it is no matter who sent first those of one instant.
  auto operator<=>(const Acknowledgement&) const = default;
  void archive(Archive& archive) {
    archive(due, source_router, destination_router, travelled, kind, local_hops, global_hops);
  }
};

// Those on their way to the routers of one partition. None is due in the window in which it was sent, so they
// are put in order once for each window.
class AcknowledgementsUnderWay {
 public:
  void add(const Acknowledgement& sent) { under_way_.push_back(sent); }

  // A window begins: all that is due in it was added before.
  void open_window() {
    under_way_.erase(under_way_.begin(), under_way_.begin() + static_cast<std::ptrdiff_t>(first_));
    sorted_ -= first_;
    first_ = 0;
    const auto added = under_way_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::sort(added, under_way_.end());
    std::inplace_merge(under_way_.begin(), added, under_way_.end());
    sorted_ = under_way_.size();
  }
  [[nodiscard]] bool any_until(Tick now) const noexcept {
    return first_ < sorted_ && under_way_[first_].due <= now;
  }
  // The one so many places behind the first, if it is in order already; else null.
  [[nodiscard]] const Acknowledgement* behind_first(std::size_t places) const noexcept {
    return first_ + places < sorted_ ? &under_way_[first_ + places] : nullptr;
  }
  // The first one. Precondition: there is one.
  [[nodiscard]] const Acknowledgement& take() noexcept { return under_way_[first_++]; }
  void archive(Archive& archive) { archive(under_way_, sorted_, first_); }

 private:
  std::vector<Acknowledgement> under_way_;  // from first_ on; in order up to sorted_
  std::size_t first_ = 0;
  std::size_t sorted_ = 0;
};

}  // namespace dragonfly
