// Acknowledgements of delivered packets: they carry a packet's latency to its source router.
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

// Kinds of paths that acknowledgements distinguish, as in Candidate::kind: minimal, and the four non-minimal
// paths through other groups.
inline constexpr std::uint32_t kAcknowledgedKinds = 5;

// The kind of a delivered packet's path; none if it was no path that the source router could choose. If a
// non-minimal path inside a group came last (kL), or ports were chosen one by one, earlier choices are lost.
[[nodiscard]] inline std::optional<std::uint8_t> acknowledged_kind(const Packet& packet) noexcept {
  if (packet.plan == Plan::kRouted) return std::nullopt;
  if (!packet.non_minimal) return std::uint8_t{0};
  if (packet.intermediate_group == kNoGroup || packet.nonminimal_kind == NonMinimalKind::kL)
    return std::nullopt;
  return static_cast<std::uint8_t>(1U + static_cast<std::uint32_t>(packet.nonminimal_kind));
}

struct Acknowledgement {
  Tick due = 0;  // time at which the source router receives it
  std::uint32_t source_router = 0;
  std::uint32_t destination_router = 0;
  std::uint32_t travelled = 0;  // ticks from the source queue to the host, at most the type's maximum
  std::uint8_t kind = 0;        // kind of the packet's path: acknowledged_kind()
  std::uint8_t local_hops = 0;  // hops between routers of a group
  std::uint8_t global_hops = 0;

  // Orders by time, then by all other fields, so that the order of sending within one time does not matter.
  auto operator<=>(const Acknowledgement&) const = default;
  void archive(Archive& archive) {
    archive(due, source_router, destination_router, travelled, kind, local_hops, global_hops);
  }
};

// The acknowledgements in flight to the routers of one partition. None is due in the window in which it
// was sent, so they are sorted once per window.
class AcknowledgementsInFlight {
 public:
  void add(const Acknowledgement& sent) { in_flight_.push_back(sent); }

  // A window begins: all that is due in it was added before.
  void open_window() {
    in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(first_));
    sorted_ -= first_;
    first_ = 0;
    const auto added = in_flight_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::sort(added, in_flight_.end());
    std::inplace_merge(in_flight_.begin(), added, in_flight_.end());
    sorted_ = in_flight_.size();
  }
  // The time at which the first one arrives.
  [[nodiscard]] Tick next_due() const noexcept { return first_ < sorted_ ? in_flight_[first_].due : kNever; }
  // The one so many places behind the first, if it is in order already; else null.
  [[nodiscard]] const Acknowledgement* behind_first(std::size_t places) const noexcept {
    return first_ + places < sorted_ ? &in_flight_[first_ + places] : nullptr;
  }
  // Takes the first acknowledgement. Precondition: an acknowledgement is in flight.
  [[nodiscard]] const Acknowledgement& take() noexcept { return in_flight_[first_++]; }
  void archive(Archive& archive) { archive(in_flight_, sorted_, first_); }

 private:
  std::vector<Acknowledgement> in_flight_;  // valid from first_ on; sorted up to sorted_
  std::size_t first_ = 0;
  std::size_t sorted_ = 0;
};

}  // namespace dragonfly
